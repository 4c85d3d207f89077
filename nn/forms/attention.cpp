// Defines nn/forms/attention.h, and the fused step of nn/attention.h: the steps in their order,
// then the construction. Options are in nn/forms/attention_options.cpp.
#include "nn/forms/attention.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "core/scope.h"
#include "nn/forms/grid.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {

// f of every group, side by side along `axis`. One group, the common case, allocates nothing.
template <class F>
Tensor AttentionForm::for_groups(int axis, const F& f) const {
  if (groups_.size() == 1) return f(groups_[0]);
  std::vector<Tensor> results;
  for (const Group& group : groups_) results.push_back(f(group));
  return concat(results, axis);
}

// Columns [first, last) of x (B, T, …).
Tensor AttentionForm::columns(const Tensor& x, Columns which) {
  return which.last - which.first == x.dim(-1) ? x : slice(x, -1, which.first, which.last);
}

Tensor AttentionForm::operator()(const Tensor& x, const Tensor& keys, const Tensor& values,
                                 const KeepMask& mask, const Tensor& bias) const {
  const ModuleScope here(*this);
  const int64_t lead = keys.dim(1) - x.dim(1);  // both sequences end at the same position
  const Tensor q = queries(x, std::max<int64_t>(0, lead));
  const KeyValues kv = keys_and_values(keys, values, std::max<int64_t>(0, -lead));
  return output(attend(q, kv, mask, bias));
}

Tensor AttentionForm::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const KeepMask& mask = sequence.mask;
  if (!lines_of().empty()) {
    const Tensor lines = unfold(x, options_.grid, options_.axes);
    const KeepMask within{.causal = mask.causal, .window = mask.window};  // a grid has no padding
    return fold((*this)(lines, lines, within), options_.grid, options_.axes);
  }
  if (!distance_bias_) return MultiHeadAttention::operator()(x, sequence);
  check(sequence.edges && *sequence.edges,
        "multi-head attention: distances on a graph need edges; set "
        "`attention.graph_distances` = 0, or pass the edges of a graph");
  return (*this)(x, x, mask, (*distance_bias_)(*sequence.edges, x.dim(0), x.dim(1)));
}

std::span<const int64_t> AttentionForm::lines_of() const {
  const bool all = options_.axes.empty() || options_.axes.size() >= options_.grid.size();
  return all ? std::span<const int64_t>() : options_.grid;
}

bool AttentionForm::can_cache() const {
  return options_.causal && options_.grid.empty() && !distance_bias_;
}

// W₂ φ(W₁ x)
Tensor AttentionForm::projected(const Part<std::unique_ptr<Linear>>& w, const Tensor& x) const {
  const auto& hidden = &w == &query_ ? hidden_.query : &w == &key_ ? hidden_.key : hidden_.value;
  return MultiHeadAttention::projected(w,
                                       hidden ? (*hidden)(x, options_.projection_activation) : x);
}

// Queries or keys (B, T, Σ K) with rotary positions, which start at `first`.
Tensor AttentionForm::rotated(const Tensor& x, int64_t first) const {
  const PositionalOptions& o = options_.positional;
  if (!o.kind->rotate || groups_.size() == 1) return MultiHeadAttention::rotated(x, first);
  return for_groups(-1, [&](const Group& group) {
    return o.kind->rotate(columns(x, group.key), group.heads, first, o);
  });
}

// zₕ = Vₕ weights(Qₕᵀ Kₕ / √T), where T counts the real positions, and padding has a query of 0.
Tensor AttentionForm::over_features(const Tensor& q, const KeyValues& kv,
                                    const KeepMask& mask) const {
  const int64_t batch = q.dim(0), time = q.dim(1);
  check(!mask.causal && mask.window == 0 && !mask.dense && kv.keys.dim(1) == time &&
            kv.length == time,
        "attention over features: its weights are made from all positions of one sequence; it "
        "supports no causal mask, window, dense mask, cache or other sequence");
  Tensor factors = Tensor::full({batch, time, 1}, 1 / std::sqrt(static_cast<real>(time)));
  for (int64_t b = 0; mask.key_lengths && b < batch && !scope().shapes_only; ++b)
    for (int64_t t = 0; t < time; ++t)
      factors.mutable_data()[b * time + t] =
          t < mask.key_lengths[b] ? 1 / std::sqrt(static_cast<real>(mask.key_lengths[b])) : 0;
  const Tensor scaled = q * factors;
  const Tensor z = for_groups(-1, [&](const Group& group) {
    const auto heads = [&](const Tensor& x, Columns of) {
      return split_heads(columns(x, of), group.heads);
    };
    const Tensor qh = heads(scaled, group.key), kh = heads(kv.keys, group.key);
    const Tensor s = mul(matmul(transpose(qh, -1, -2), kh),
                         static_cast<real>(1 / temperature_at(options_, scope().step)));
    const Tensor p = dropout(weights_of_scores(s, {}, options_), options_.dropout);
    return merge_heads(matmul(heads(kv.values, group.value), p));
  });
  return tapped(*this, Site::heads, z);
}

Tensor AttentionForm::attend(const Tensor& q, const KeyValues& kv, KeepMask mask,
                             const Tensor& caller_bias) const {
  if (options_.over == Over::features) return over_features(q, kv, mask);
  const int64_t window = options_.window;
  if (window > 0) mask.window = mask.window > 0 ? std::min(mask.window, window) : window;
  Tensor bias = caller_bias;  // broadcasts to (B, H, Tq, Tk), or no tensor
  if (position_bias_) {
    const Tensor position_bias = (*position_bias_)(q.dim(1), kv.length);
    bias = bias ? bias + position_bias : position_bias;
  }
  return MultiHeadAttention::attend(q, kv, mask, bias);
}

// (s(Qₕ, Kₕ) + bias) / T
Tensor AttentionForm::scores(const Tensor& q, const Tensor& k, const Tensor& bias) const {
  Tensor s = for_groups(1, [&](const Group& group) {
    return (*group.similarity)(split_heads(columns(q, group.key), group.heads),
                               split_heads(columns(k, group.key), group.heads));
  });
  if (bias) s = s + bias;
  const double temperature = temperature_at(options_, scope().step);
  return temperature != 1 ? mul(s, static_cast<real>(1 / temperature)) : s;
}

Tensor AttentionForm::weights(const Tensor& s, const KeepMask& mask) const {
  return weights_of_scores(s, mask, options_);
}

// zₕ = P Vₕ, side by side: (B, Tq, Σ V)
Tensor AttentionForm::means(const Tensor& p, const Tensor& v) const {
  if (groups_.size() == 1) return MultiHeadAttention::means(p, v);
  return for_groups(-1, [&](const Group& group) {
    const Tensor own = slice(p, 1, group.first, group.first + group.heads);  // (B, 1, Tq, Tk)
    const Tensor vh = split_heads(columns(v, group.value), group.heads);     // (B, 1, Tk, V)
    return merge_heads(matmul(dropout(own, options_.dropout), vh));
  });
}

static Tensor fused_heads(const Tensor& q, const KeyValues& kv, int64_t heads,
                          AttentionOptions options) {
  if (kv.length < kv.keys.dim(1)) options.keys = kv.length;  // a cache has free rows
  return scaled_dot_product_attention(q, kv.keys, kv.values, heads, options);
}

Tensor MultiHeadAttention::fused(const Tensor& q, const KeyValues& kv, const KeepMask& mask) const {
  return fused_heads(q, kv, heads_, {.mask = mask, .dropout = options_.dropout});
}

Tensor AttentionForm::fused(const Tensor& q, const KeyValues& kv, const KeepMask& mask) const {
  if (!is_softmax(options_) || !options_.similarity->is_dot_product) return {};
  const double temperature = temperature_at(options_, scope().step);
  return for_groups(-1, [&](const Group& group) {
    const Tensor qh = columns(q, group.key), kh = columns(kv.keys, group.key);
    return fused_heads(qh, {kh, columns(kv.values, group.value), kv.length}, group.heads,
                       {.scale = group.similarity->scale() / temperature,
                        .mask = mask,
                        .dropout = options_.dropout});
  });
}

// combine(z₁ … z_H): (B, T, Σ V) → (B, T, output width)
Tensor AttentionForm::combined(const Tensor& z) const {
  const Combine combine = options_.combine;
  const int64_t dim = output_width(options_, dim_);
  if (combine == Combine::concat_projection) return MultiHeadAttention::combined(z);
  if (combine == Combine::concat) return z;
  if (combine == Combine::tensor)  // Σₕ zₕ Wₕ = [z₁; …; z_H] [W₁; …; W_H]: one product
    return matmul(z, head_weight_.reshape({heads_ * dim, dim}));
  const Tensor heads = z.reshape({z.dim(0), z.dim(1), heads_, dim});
  if (combine == Combine::weighted) return sum(heads * head_weight_.reshape({heads_, 1}), {2});
  return combine == Combine::mean ? mean(heads, {2}) : max(heads, {2});
}

// ---- construction

namespace {

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

MultiHeadAttention::Projections AttentionForm::projections(int64_t dim, int64_t heads,
                                                           const MultiHeadAttentionOptions& o) {
  validate_attention(o, dim, heads);
  const int64_t context = o.context_dim ? o.context_dim : dim;
  const int64_t source = o.value_source_dim ? o.value_source_dim : context;
  const HeadWidths widths = head_widths(o, dim, heads);
  const LinearOptions inside = o.linear.inside();
  const bool project_value = o.project_value && !o.tie_key_value;
  const bool project_output = o.combine == Combine::concat_projection;
  const auto inputs = [&](int64_t width) {
    return o.projection_hidden ? o.projection_hidden : width;
  };
  return {.query = projection(o.project_query, inputs(dim), widths.keys(), inside),
          .key = projection(o.project_key, inputs(context), widths.keys(), inside),
          .value = projection(project_value, inputs(source), widths.values(), inside),
          .output = projection(project_output, widths.values(), output_width(o, dim), o.linear)};
}

AttentionForm::AttentionForm(int64_t dim, int64_t heads, const MultiHeadAttentionOptions& o)
    : MultiHeadAttention(dim, heads, o, projections(dim, heads, o)),
      hidden_([&]() -> Hidden {
        const int64_t context = o.context_dim ? o.context_dim : dim;
        const int64_t source = o.value_source_dim ? o.value_source_dim : context;
        const auto hidden = [&](const Part<std::unique_ptr<Linear>>& w, const char* name,
                                int64_t width) {
          return Part<std::unique_ptr<Linear>>(this, name,
                                               projection(w && o.projection_hidden > 0, width,
                                                          o.projection_hidden, o.linear.inside()));
        };
        return {hidden(query_, "query_hidden", dim), hidden(key_, "key_hidden", context),
                hidden(value_, "value_hidden", source)};
      }()),
      head_weight_(this, "head_weight",
                   initial_head_weight(o.combine, heads, output_width(o, dim), o.linear)),
      groups_(make_groups()),
      position_bias_(this, "position",
                     o.positional.kind->score_bias
                         ? o.positional.kind->score_bias(heads, o.causal, o.positional)
                         : nullptr),
      distance_bias_(this, "distance",
                     o.graph_distances > 0
                         ? std::make_unique<GraphDistanceBias>(heads, o.graph_distances)
                         : nullptr) {}

std::vector<AttentionForm::Group> AttentionForm::make_groups() {
  std::vector<Group> groups;
  const HeadWidths widths = head_widths(options_, dim_, heads_);
  const int64_t group_heads = widths.equal() ? heads_ : 1;
  Columns key{0, 0}, value{0, 0};
  for (int64_t h = 0; h < heads_; h += group_heads) {
    const int64_t width = widths.key[static_cast<size_t>(h)];
    key = {key.last, key.last + group_heads * width};
    value = {value.last, value.last + group_heads * widths.value[static_cast<size_t>(h)]};
    groups.push_back({h,
                      group_heads,
                      key,
                      value,
                      {this, widths.equal() ? "similarity" : fmt::format("similarity.{}", h),
                       std::make_unique<Similarity>(options_, group_heads, width, width)}});
  }
  return groups;
}

std::unique_ptr<MultiHeadAttention> make_attention(int64_t dim, int64_t heads,
                                                   const MultiHeadAttentionOptions& options) {
  return std::make_unique<AttentionForm>(dim, heads, options);
}

}  // namespace heed::inline HEED_REAL
