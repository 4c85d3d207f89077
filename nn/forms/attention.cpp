#include "nn/forms/attention.h"

#include <algorithm>
#include <numeric>

#include "core/ops.h"
#include "core/scope.h"
#include "nn/grid.h"
#include "nn/options.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {
namespace {

int64_t context_width(int64_t dim, const AttentionSetup& setup) {
  return setup.context_dim ? setup.context_dim : dim;
}

int64_t source_width(int64_t dim, const AttentionSetup& setup) {
  return setup.value_source_dim ? setup.value_source_dim : context_width(dim, setup);
}

void validate(int64_t dim, int64_t heads, const AttentionSetup& setup) {
  check(heads >= 1, "multi-head attention: expected at least 1 head, got {}", heads);
  setup.form.validate(dim, heads, context_width(dim, setup), source_width(dim, setup));
  check_fields(setup.positional, "positional encoding");
  check_range("multi-head attention", "dropout", setup.dropout, dropout_range);
}

Tensor project(const std::unique_ptr<Linear>& linear, const Tensor& x) {
  return linear ? (*linear)(x) : x;
}

std::unique_ptr<Linear> projection(bool exists, int64_t inputs, int64_t outputs,
                                   const LinearOptions& options) {
  return exists ? std::make_unique<Linear>(inputs, outputs, options) : nullptr;
}

Tensor initial_head_weight(Combine combine, int64_t heads, int64_t dim, const LinearOptions& o) {
  if (combine == Combine::weighted)  // starts as the mean
    return constant_parameter({heads}, 1 / static_cast<real>(heads));
  if (combine == Combine::tensor)
    return initial_weight({heads, dim, dim}, o.init, o.residual_depth);
  return {};
}

}  // namespace

GeneralAttention::GeneralAttention(int64_t dim, int64_t heads, const AttentionSetup& setup)
    : dim_((validate(dim, heads, setup), dim)),
      heads_(heads),
      form_(setup.form),
      positional_(setup.positional),
      grid_(setup.grid),
      axes_(setup.form.axes),
      dropout_(setup.dropout),
      query_(this, "query",
             projection(form_.project_query, dim, form_.widths(dim, heads).keys(),
                        setup.linear.inside())),
      key_(this, "key",
           projection(form_.project_key, context_width(dim, setup), form_.widths(dim, heads).keys(),
                      setup.linear.inside())),
      value_(this, "value",
             projection(form_.project_value && !form_.tie_key_value, source_width(dim, setup),
                        form_.widths(dim, heads).values(), setup.linear.inside())),
      output_(this, "output",
              projection(form_.combine == Combine::concat_projection,
                         form_.widths(dim, heads).values(), dim, setup.linear)),
      head_weight_(this, "head_weight",
                   initial_head_weight(form_.combine, heads, dim, setup.linear)),
      groups_(make_groups(setup.linear.init)),
      position_bias_(this, "position",
                     positional_.kind->score_bias
                         ? positional_.kind->score_bias(heads, form_.causal, positional_)
                         : nullptr),
      distance_bias_(this, "distance",
                     form_.graph_distances > 0
                         ? std::make_unique<GraphDistanceBias>(heads, form_.graph_distances)
                         : nullptr) {
  if (axes_.empty()) {
    axes_.resize(grid_.size());
    std::iota(axes_.begin(), axes_.end(), int64_t{0});
  }
}

std::vector<GeneralAttention::Group> GeneralAttention::make_groups(const InitOptions& init) {
  std::vector<Group> groups;
  const HeadWidths widths = form_.widths(dim_, heads_);
  const int64_t group_heads = widths.equal() ? heads_ : 1;
  Columns key{0, 0}, value{0, 0};
  for (int64_t h = 0; h < heads_; h += group_heads) {
    const int64_t width = widths.key[static_cast<size_t>(h)];
    key = {key.last, key.last + group_heads * width};
    value = {value.last, value.last + group_heads * widths.value[static_cast<size_t>(h)]};
    groups.push_back(
        {h,
         group_heads,
         key,
         value,
         {this, widths.equal() ? "similarity" : fmt::format("similarity.{}", h),
          std::make_unique<Similarity>(form_.similarity, group_heads, width, width, init)}});
  }
  return groups;
}

// f of every group, side by side. One group, the common case, allocates nothing.
template <class F>
Tensor GeneralAttention::for_groups(const F& f) const {
  if (groups_.size() == 1) return f(groups_[0]);
  std::vector<Tensor> results;
  for (const Group& group : groups_) results.push_back(f(group));
  return concat(results, -1);
}

Tensor GeneralAttention::operator()(const Tensor& x, const Tensor& keys, const Tensor& values,
                                    const KeepMask& mask, const Tensor& bias) const {
  const ModuleScope here(*this);
  const int64_t lead = keys.dim(1) - x.dim(1);  // both sequences end at the same position
  const Tensor q = queries(x, std::max<int64_t>(0, lead));
  const KeyValues kv = keys_and_values(keys, values, std::max<int64_t>(0, -lead));
  return output(attend(q, kv, mask, bias));
}

Tensor GeneralAttention::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const KeepMask& mask = sequence.mask;
  if (sequence.past) {
    check(can_cache(),
          "multi-head attention: a cache needs causal attention in a sequence; set "
          "`attention.causal` = true");
    const int64_t first = sequence.past->length();
    const Tensor q = queries(x, first);
    const KeyValues& all = sequence.past->append(*this, keys_and_values(x, x, first));
    return output(attend(q, all, mask, {}));
  }
  if (axes_.size() < grid_.size()) {
    const Tensor lines = unfold(x, grid_, axes_);
    const KeepMask within{.causal = mask.causal, .window = mask.window};  // a grid has no padding
    return fold((*this)(lines, lines, within), grid_, axes_);
  }
  if (!distance_bias_) return (*this)(x, x, mask);
  check(sequence.edges && *sequence.edges,
        "multi-head attention: distances on a graph need edges; set "
        "`attention.graph_distances` = 0, or pass the edges of a graph");
  return (*this)(x, x, mask, (*distance_bias_)(*sequence.edges, x.dim(0), x.dim(1)));
}

bool GeneralAttention::can_cache() const {
  return form_.causal && grid_.empty() && !distance_bias_;
}

Tensor GeneralAttention::across(const Tensor& x, const Tensor& memory, const KeepMask& mask,
                                Past* past) const {
  const ModuleScope here(*this);
  if (!past) return (*this)(x, memory, mask);
  KeyValues& kept = past->memory(*this);
  if (!kept.keys) kept = keys_and_values(memory, memory, 0);
  return output(attend(queries(x, 0), kept, mask, {}));
}

// Q = x W^Q: (B, Tq, Σ K), for queries that start at position `first`.
Tensor GeneralAttention::queries(const Tensor& x, int64_t first) const {
  return tapped(*this, Site::queries, rotated(project(query_, x), first));
}

// K = c W^K: (B, Tk, Σ K), and V = c W^V: (B, Tk, Σ V), for keys that start at position `first`.
KeyValues GeneralAttention::keys_and_values(const Tensor& keys, const Tensor& values,
                                            int64_t first) const {
  const Tensor k = project(key_, keys);
  const Tensor v = tapped(*this, Site::values, form_.tie_key_value ? k : project(value_, values));
  return {tapped(*this, Site::keys, rotated(k, first)), v, k.dim(1)};
}

// Queries or keys (B, T, Σ K) with rotary positions, which start at `first`.
Tensor GeneralAttention::rotated(const Tensor& x, int64_t first) const {
  if (!positional_.kind->rotate) return x;
  return for_groups([&](const Group& group) {
    return positional_.kind->rotate(columns(x, group.key), group.heads, first, positional_);
  });
}

Tensor filled(const Tensor& x, int64_t length) {
  return length == x.dim(1) ? x : slice(x, 1, 0, length);
}

// Columns [first, last) of x (B, T, …).
Tensor GeneralAttention::columns(const Tensor& x, Columns which) {
  return which.last - which.first == x.dim(-1) ? x : slice(x, -1, which.first, which.last);
}

// The outputs of the heads, zₕ = P Vₕ, side by side: Q (B, Tq, Σ K), K and V → (B, Tq, Σ V)
Tensor GeneralAttention::attend(const Tensor& q, const KeyValues& kv, const KeepMask& caller_mask,
                                const Tensor& caller_bias) const {
  const KeepMask mask = form_.restricted(caller_mask);
  Tensor bias = caller_bias;  // broadcasts to (B, H, Tq, Tk), or no tensor
  if (position_bias_) {
    const Tensor position_bias = (*position_bias_)(q.dim(1), kv.length);
    bias = bias ? bias + position_bias : position_bias;
  }
  bool replaced = false;
  const std::vector<Tensor> seen = tapped_weights(q, kv, mask, bias, replaced);
  const auto attend_group = [&](const Group& group) {
    const Tensor qh = columns(q, group.key);  // (B, Tq, H·K)
    const KeyValues kvh{columns(kv.keys, group.key), columns(kv.values, group.value), kv.length};
    const double scale = group.similarity->scale() / form_.temperature.at(scope().step);
    if (form_.is_fused() && !bias && !replaced) {
      const int64_t keys = kv.length < kv.keys.dim(1) ? kv.length : 0;
      return scaled_dot_product_attention(
          qh, kvh.keys, kvh.values, group.heads,
          {.scale = scale, .mask = mask, .dropout = dropout_, .keys = keys});
    }
    const Tensor p = seen.empty() ? weights(scores(group, qh, filled(kvh.keys, kv.length), bias),
                                            mask)  // (B, H, Tq, Tk)
                                  : seen[static_cast<size_t>(&group - groups_.data())];
    const Tensor v = split_heads(filled(kvh.values, kv.length), group.heads);  // (B, H, Tk, V)
    return merge_heads(matmul(dropout(p, dropout_), v));
  };
  return tapped(*this, Site::heads, for_groups(attend_group));
}

// P of every group as a tap sees it, or nothing if none looks. `replaced`: it is not what follows
// from q and k.
std::vector<Tensor> GeneralAttention::tapped_weights(const Tensor& q, const KeyValues& kv,
                                                     const KeepMask& mask, const Tensor& bias,
                                                     bool& replaced) const {
  if (!Tap::wanted(*this, Site::scores) && !Tap::wanted(*this, Site::weights)) return {};
  std::vector<Tensor> values;
  const auto show = [&](Site site) {  // the groups' heads as one tensor
    const Tensor all = values.size() == 1 ? values[0] : concat(values, 1);
    const Tensor used = tapped(*this, site, all);
    if (used.same_as(all)) return;
    replaced = true;
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = slice(used, 1, groups_[i].first, groups_[i].first + groups_[i].heads);
  };
  for (const Group& group : groups_)
    values.push_back(
        scores(group, columns(q, group.key), filled(columns(kv.keys, group.key), kv.length), bias));
  show(Site::scores);
  for (Tensor& each : values) each = weights(each, mask);
  show(Site::weights);
  return values;
}

// The scores of the heads of one group: q (B, Tq, H·K), k (B, Tk, H·K) → (B, H, Tq, Tk)
Tensor GeneralAttention::scores(const Group& group, const Tensor& q, const Tensor& k,
                                const Tensor& bias) const {
  const bool bias_per_head = bias && bias.rank() >= 3 && bias.dim(-3) > 1;
  Tensor s = (*group.similarity)(split_heads(q, group.heads), split_heads(k, group.heads));
  if (bias)
    s = s + (bias_per_head && groups_.size() > 1 ? slice(bias, -3, group.first, group.first + 1)
                                                 : bias);
  const double temperature = form_.temperature.at(scope().step);
  return temperature != 1 ? mul(s, static_cast<real>(1 / temperature)) : s;
}

// P, by definition: scores (B, H, Tq, Tk) → (B, H, Tq, Tk)
Tensor GeneralAttention::weights(const Tensor& s, const KeepMask& mask) const {
  return attention_weights(s, mask,
                           {.kind = form_.normaliser,
                            .straight_through = form_.straight_through,
                            .exponential = form_.similarity.kind->is_exponential});
}

// φ(combine(z₁ … z_H)): (B, T, Σ V) → (B, T, D)
Tensor GeneralAttention::output(const Tensor& z) const {
  const Tensor replaced = replaced_output(z);
  return activate(form_.activation, replaced ? replaced : combine_heads(z));
}

// combine(z₁ … z_H) if a tap replaces what heads add to it, else no tensor.
Tensor GeneralAttention::replaced_output(const Tensor& z) const {
  if (form_.combine == Combine::max || !Tap::wanted(*this, Site::head_outputs)) return {};
  return replaced_sum_of_heads(*this, z, form_.widths(dim_, heads_).value,
                               output_ ? output_->bias : Tensor(), [&](const Tensor& alone) {
                                 return output_ ? linear(alone, output_->weight)
                                                : combine_heads(alone);
                               });
}

Tensor GeneralAttention::combine_heads(const Tensor& z) const {
  if (form_.combine == Combine::concat_projection) return (*output_)(z);
  if (form_.combine == Combine::concat) return z;
  if (form_.combine == Combine::tensor)  // Σₕ zₕ Wₕ = [z₁; …; z_H] [W₁; …; W_H]: one product
    return matmul(z, head_weight_.reshape({heads_ * dim_, dim_}));
  const Tensor heads = z.reshape({z.dim(0), z.dim(1), heads_, dim_});
  if (form_.combine == Combine::weighted)
    return sum(heads * head_weight_.reshape({heads_, 1}), {2});
  return form_.combine == Combine::mean ? mean(heads, {2}) : max(heads, {2});
}

namespace {

// Returns whether this is the form of nn/attention.h.
bool is_standard(int64_t dim, int64_t heads, const AttentionSetup& setup) {
  const MultiHeadOptions& o = setup.form;
  const PositionalRule& position = *setup.positional.kind;
  const auto narrow = [&](const std::vector<int64_t>& widths) {
    return std::all_of(widths.begin(), widths.end(),
                       [&](int64_t width) { return width * heads == dim; });
  };
  const HeadWidths widths = o.widths(dim, heads);
  return o.similarity.kind == &similarities::scaled_dot &&
         o.similarity.scale == ScoreScale::inverse_sqrt && o.normaliser == &normalisers::softmax &&
         o.temperature.initial == 1 && o.temperature.final == 0 && narrow(widths.key) &&
         narrow(widths.value) && o.combine == Combine::concat_projection && o.project_query &&
         o.project_key && o.project_value && !o.tie_key_value && o.window == 0 &&
         o.activation == Activation::none && o.graph_distances == 0 &&
         (o.axes.empty() || o.axes.size() >= setup.grid.size()) &&  // all axes of a grid
         source_width(dim, setup) == context_width(dim, setup) &&
         (!position.acts_in_attention() || &position == &positional_encodings::rotary);
}

}  // namespace

std::unique_ptr<Attention> make_attention(int64_t dim, int64_t heads, const AttentionSetup& setup) {
  validate(dim, heads, setup);
  if (!is_standard(dim, heads, setup)) return std::make_unique<GeneralAttention>(dim, heads, setup);
  MultiHeadAttentionOptions standard{.context_dim = setup.context_dim,
                                     .causal = setup.form.causal,
                                     .dropout = setup.dropout,
                                     .linear = setup.linear};
  if (setup.positional.kind == &positional_encodings::rotary)
    standard.rotary = RotaryOptions{setup.positional.layout, setup.positional.base};
  return std::make_unique<MultiHeadAttention>(dim, heads, standard);
}

}  // namespace heed::inline HEED_REAL
