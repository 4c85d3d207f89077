#include "nn/attention.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/ops.h"
#include "core/scope.h"
#include "nn/current_part.h"
#include "nn/grid.h"
#include "nn/recorder.h"

namespace heed::inline HEED_REAL {
namespace {

// (B, T, H·K) → (B, H, T, K)
Tensor apart(const Tensor& x, int64_t heads) {
  return permute(x.reshape({x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

// (B, H, T, K) → (B, T, H·K)
Tensor together(const Tensor& x) {
  return permute(x, {0, 2, 1, 3}).reshape({x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

std::unique_ptr<Linear> projection(bool wanted, int64_t inputs, int64_t outputs,
                                   const LinearOptions& options) {
  return wanted ? std::make_unique<Linear>(inputs, outputs, options) : nullptr;
}

Tensor projected(const std::unique_ptr<Linear>& linear, const Tensor& x) {
  return linear ? (*linear)(x) : x;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(int64_t dim, int64_t heads, const AttentionSetup& setup)
    : dim_(dim),
      heads_(heads),
      form_(setup.form),
      positional_(setup.positional),
      grid_(setup.grid),
      axes_(setup.form.axes),
      dropout_(setup.dropout) {
  check(heads >= 1, "multi-head attention: {} heads", heads);
  const int64_t context_dim = setup.context_dim ? setup.context_dim : dim;
  const int64_t source_dim = setup.value_source_dim ? setup.value_source_dim : context_dim;
  form_.validate(dim, heads, context_dim, source_dim);
  widths_ = form_.widths(dim, heads);

  const LinearOptions inside = setup.linear.inside();
  query_ = projection(form_.project_query, dim, widths_.keys(), inside);
  key_ = projection(form_.project_key, context_dim, widths_.keys(), inside);
  value_ =
      projection(form_.project_value && !form_.tie_key_value, source_dim, widths_.values(), inside);
  output_ =
      projection(form_.combine == Combine::concat_projection, widths_.values(), dim, setup.linear);
  if (query_) add("query", *query_);
  if (key_) add("key", *key_);
  if (value_) add("value", *value_);
  if (output_) add("output", *output_);

  if (form_.combine == Combine::weighted)  // starts as the mean
    head_weight_ = constant_parameter({heads}, 1 / static_cast<real>(heads));
  if (form_.combine == Combine::tensor)
    head_weight_ =
        initial_weight({heads, dim, dim}, setup.linear.init, setup.linear.residual_depth);
  add("head_weight", head_weight_);

  const bool alike = widths_.alike();
  for (int64_t h = 0; h < (alike ? 1 : heads); ++h) {
    const int64_t width = widths_.key[static_cast<size_t>(h)];
    groups_.push_back(
        {alike ? heads : 1, std::make_unique<Similarity>(form_.similarity, alike ? heads : 1, width,
                                                         width, setup.linear.init)});
    add(alike ? "similarity" : fmt::format("similarity.{}", h), *groups_.back().similarity);
  }

  const double std = 0.02;  // of the tables of relative positions, as embeddings
  if (positional_.kind == PositionalKind::alibi) positions_ = std::make_unique<AlibiBias>(heads);
  if (positional_.kind == PositionalKind::relative)
    positions_ = std::make_unique<RelativeBias>(heads, positional_.buckets,
                                                positional_.max_distance, !form_.causal, std);
  if (positions_) add("position", *positions_);
  if (form_.graph_distances > 0) {
    distances_ = std::make_unique<GraphDistanceBias>(heads, form_.graph_distances);
    add("distance", *distances_);
  }
  if (axes_.empty()) {
    axes_.resize(grid_.size());
    std::iota(axes_.begin(), axes_.end(), int64_t{0});
  }
}

// P (B, H, Tq, Tk) of the heads of one group, by definition: q (B, Tq, H·K), k (B, Tk, H·K)
Tensor MultiHeadAttention::weights(const Group& group, const Tensor& q, const Tensor& k,
                                   const KeepMask& mask, const Tensor& bias) const {
  Tensor scores = (*group.similarity)(apart(q, group.heads), apart(k, group.heads));
  if (bias) scores = scores + bias;
  const double temperature = form_.temperature.at(scope().step);
  if (temperature != 1) scores = mul(scores, static_cast<real>(1 / temperature));
  const bool exponential = is_exponential(form_.similarity.kind);
  return attention_weights(scores, mask, {form_.normaliser, form_.straight_through, exponential});
}

// q (B, Tq, H·K) and Tk keys and values → (B, Tq, H·V), for the heads of one group, whose weights
// are added to `watched`, if there is one.
Tensor MultiHeadAttention::attend(const Group& group, const Tensor& q, const KeyValues& to,
                                  const KeepMask& mask, const Tensor& bias,
                                  std::vector<Tensor>* watched) const {
  const double scale = group.similarity->scale() / form_.temperature.at(scope().step);
  // A scale of 0 asks the operation for its own; no score at all is what is meant.
  if (form_.is_fused() && !bias && scale != 0) {
    if (watched) {
      ScopeGuard here;
      here->gradients = false;
      watched->push_back(weights(group, q, to.keys_there(), mask, bias));
    }
    const int64_t keys = to.length < to.keys.dim(1) ? to.length : 0;
    return scaled_dot_product_attention(q, to.keys, to.values, group.heads,
                                        {scale, mask, dropout_, keys});
  }
  const Tensor p = weights(group, q, to.keys_there(), mask, bias);
  if (watched) watched->push_back(p.detach());
  return together(matmul(dropout(p, dropout_), apart(to.values_there(), group.heads)));
}

// All that is added to the scores of queries and keys, or no tensor.
Tensor MultiHeadAttention::score_bias(const Tensor& given, int64_t queries, int64_t keys) const {
  if (!positions_) return given;
  const Tensor of_positions = (*positions_)(queries, keys);
  return given ? given + of_positions : of_positions;
}

// The results of all heads side by side, (B, T, Σ V), as one of (B, T, D).
Tensor MultiHeadAttention::combined(const Tensor& heads) const {
  if (form_.combine == Combine::concat_projection) return (*output_)(heads);
  if (form_.combine == Combine::concat) return heads;
  if (form_.combine == Combine::tensor)  // Σₕ zₕ Wₕ is one product with all Wₕ below one another
    return matmul(heads, head_weight_.reshape({heads_ * dim_, dim_}));
  const Tensor apart = heads.reshape({heads.dim(0), heads.dim(1), heads_, dim_});
  if (form_.combine == Combine::weighted)
    return sum(apart * head_weight_.reshape({heads_, 1}), {2});
  return form_.combine == Combine::mean ? mean(apart, {2}) : max(apart, {2});
}

// attend() for every head: the results side by side, (B, T, Σ V).
Tensor MultiHeadAttention::attend_all(const Tensor& q, const KeyValues& to, const KeepMask& mask,
                                      const Tensor& bias, std::vector<Tensor>* watched) const {
  if (groups_.size() == 1) return attend(groups_[0], q, to, mask, bias, watched);
  const std::vector<Tensor> qs = split(q, widths_.key, -1),
                            ks = split(to.keys_there(), widths_.key, -1),
                            vs = split(to.values_there(), widths_.value, -1);
  const bool bias_of_each = bias && bias.rank() >= 3 && bias.dim(-3) > 1;
  std::vector<Tensor> results;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const auto h = static_cast<int64_t>(g);
    results.push_back(attend(groups_[g], qs[g], {ks[g], vs[g], to.length}, mask,
                             bias_of_each ? slice(bias, -3, h, h + 1) : bias, watched));
  }
  return concat(results, -1);
}

// Queries or keys (B, T, Σ K), the first of which stands at place `first`, where positions turn
// them.
Tensor MultiHeadAttention::turned(const Tensor& x, int64_t first) const {
  if (positional_.kind != PositionalKind::rotary) return x;
  const RotaryOptions rotation{positional_.layout, positional_.base, first};
  if (groups_.size() == 1) return rotary(x, heads_, rotation);
  std::vector<Tensor> heads = split(x, widths_.key, -1);
  for (Tensor& head : heads) head = rotary(head, 1, rotation);
  return concat(heads, -1);
}

Tensor MultiHeadAttention::queries(const Tensor& x, int64_t first) const {
  return turned(projected(query_, x), first);
}

KeyValues MultiHeadAttention::keys_and_values(const Tensor& keys, const Tensor& values,
                                              int64_t first) const {
  const Tensor k = projected(key_, keys);
  const Tensor v = form_.tie_key_value ? k : projected(value_, values);
  return {turned(k, first), v, k.dim(1)};
}

// What the queries q (B, Tq, Σ K) read: (B, Tq, D). They and the keys end at the same place.
Tensor MultiHeadAttention::attended(const Tensor& q, const KeyValues& to, const KeepMask& mask,
                                    const Tensor& bias) const {
  const Tensor all_bias = score_bias(bias, q.dim(1), to.length);
  Recorder* const recorder = Recorder::active();
  std::vector<Tensor> seen;  // the weights of every group
  const Tensor heads = attend_all(q, to, mask, all_bias, recorder ? &seen : nullptr);
  if (recorder) {
    AttentionRecord record{"", seen.size() == 1 ? seen[0] : concat(seen, 1)};
    if (axes_.size() < grid_.size()) record.grid = grid_, record.axes = axes_;
    recorder->record(*this, std::move(record));
  }
  return activate(form_.activation, combined(heads));
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Tensor& keys, const Tensor& values,
                                      const KeepMask& mask, const Tensor& bias) const {
  const CurrentPart here(*this);
  const int64_t lead = keys.dim(1) - x.dim(1);
  const Tensor q = queries(x, std::max<int64_t>(0, lead));
  return attended(q, keys_and_values(keys, values, std::max<int64_t>(0, -lead)), mask, bias);
}

bool MultiHeadAttention::can_cache() const { return form_.causal && grid_.empty() && !distances_; }

Tensor MultiHeadAttention::operator()(const Tensor& x, const SequenceContext& around) const {
  const CurrentPart here(*this);
  const KeepMask& mask = around.mask;
  if (around.cache) {
    check(can_cache(), "multi-head attention: a cache is for causal attention in a sequence");
    KeyValues& past = around.cache->past(*this);
    const Tensor q = queries(x, past.length);
    past.append(keys_and_values(x, x, past.length));
    return attended(q, past, mask, {});
  }
  Tensor bias;
  if (distances_) {
    check(static_cast<bool>(around.edges),
          "multi-head attention: distances on a graph need data with edges; set "
          "model.attention.graph_distances = 0, or data.kind to a graph");
    bias = (*distances_)(around.edges, x.dim(0), x.dim(1));
  }
  if (axes_.size() == grid_.size()) return (*this)(x, x, mask, bias);
  const Tensor chosen = unfold(x, grid_, axes_);
  KeepMask within;  // a grid has no padding
  within.causal = mask.causal;
  within.window = mask.window;
  return fold((*this)(chosen, chosen, within), grid_, axes_);
}

Tensor MultiHeadAttention::across(const Tensor& x, const Tensor& context, const KeepMask& mask,
                                  KeyValueCache* cache) const {
  const CurrentPart here(*this);
  if (!cache) return (*this)(x, context, mask);
  KeyValues& made = cache->memory(*this);
  if (!made.keys) made = keys_and_values(context, context, 0);
  return attended(queries(x, 0), made, mask, {});
}

LearnedQueries::LearnedQueries(int64_t count, int64_t dim, int64_t heads,
                               const AttentionSetup& setup)
    : queries(initial_weight({count, dim}, setup.linear.init)), attention_(dim, heads, setup) {
  add("queries", queries);
  add("attention", attention_);
}

Tensor LearnedQueries::operator()(const Tensor& x, const KeepMask& mask) const {
  const CurrentPart here(*this);
  check(!mask.causal && mask.window == 0,
        "learned queries: a causal mask or a window needs queries that have a place in the "
        "sequence, and learned ones have none");
  const Tensor each = Tensor::zeros({x.dim(0), queries.dim(0), queries.dim(1)}) + queries;
  return attention_(each, x, mask);
}

}  // namespace heed::inline HEED_REAL
