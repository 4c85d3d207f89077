// Linear layers and attention as the loops that papers write, with their gradients: the definitions
// of kernels that core/reference composes of operations. They are in the namespace heed::reference
// (tests/core/reference/kernel_outputs.h).
#define kernels reference
#include "core/kernels/attention/attention.h"
#include "core/kernels/linear.h"
#include "core/observer.h"
#include "core/reference/activation.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// ---- a linear layer, y = φ(h), h = x wᵀ + b; x (rows, inputs), w (outputs, inputs), b (outputs)

bool keeps_slope(Activation function) {
  return function == Activation::silu || function == Activation::gelu ||
         function == Activation::gelu_tanh;
}

static double value(Activation function, double h) {
  return function == Activation::none ? h : activations::row_of(function).value(h);
}

// φ'(h), from itself, or from y = φ(h)
static double slope_from_kept(Activation function, double kept) {
  if (function == Activation::relu) return kept > 0 ? 1 : 0;
  if (function == Activation::tanh) return 1 - kept * kept;
  if (function == Activation::sigmoid) return kept * (1 - kept);
  return function == Activation::none ? 1 : kept;
}

// y[n, o] = φ(Σᵢ x[n, i] w[o, i] + b[o])
void linear_forward(const LinearSizes& n, Activation activation, const real* x, const real* w,
                    const real* b, real* y, real* slope, const uint32_t*, real* hidden) {
  report(Work::multiplications, n.rows, n.outputs, n.inputs);
  for (int64_t row = 0; row < bound(n.rows); ++row)
    for (int64_t o = 0; o < n.outputs; ++o) {
      double h = 0;
      for (int64_t i = 0; i < n.inputs; ++i)
        h += double{x[row * n.inputs + i]} * w[o * n.inputs + i];
      h += b ? b[o] : 0;
      const int64_t at = row * n.outputs + o;
      y[at] = static_cast<real>(value(activation, h));
      if (slope && keeps_slope(activation))
        slope[at] = static_cast<real>(activations::row_of(activation).slope(h));
      if (hidden) hidden[at] = static_cast<real>(h);
    }
}

void activate_again(Activation function, int64_t n, real* h, real* y) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = static_cast<real>(value(function, h[i]));
    h[i] = static_cast<real>(activations::row_of(function).slope(h[i]));
  }
}

// With dh = dy φ'(h):
//   dx[n, i] = Σₒ dh[n, o] w[o, i],   dw[o, i] = Σₙ dh[n, o] x[n, i],   db[o] = Σₙ dh[n, o]
void linear_backward(const LinearSizes& n, Activation activation, const LinearOperands& from,
                     const LinearGradients& to) {
  const real *const dy = from.dy, *const kept = from.kept, *const x = from.x.elements,
                    *const w = from.w;
  report(Work::multiplications, n.rows, n.inputs, n.outputs,
         (to.dx.data != nullptr) + (to.dw.data != nullptr));
  const auto dh = [&](int64_t row, int64_t o) {
    const int64_t at = row * n.outputs + o;
    if (kept) return dy[at] * slope_from_kept(activation, double{kept[at]});
    return from.dh ? dy[at] * activations::row_of(activation).slope(from.dh[at]) : double{dy[at]};
  };
  for (int64_t row = 0; row < bound(to.dx.data ? n.rows : 0); ++row)
    for (int64_t i = 0; i < n.inputs; ++i) {
      double sum = 0;
      for (int64_t o = 0; o < n.outputs; ++o) sum += dh(row, o) * w[o * n.inputs + i];
      write(to.dx, row * n.inputs + i, sum);
    }
  for (int64_t o = 0; o < bound(to.dw.data ? n.outputs : 0); ++o)
    for (int64_t i = 0; i < n.inputs; ++i) {
      double sum = 0;
      for (int64_t row = 0; row < n.rows; ++row) sum += dh(row, o) * x[row * n.inputs + i];
      write(to.dw, o * n.inputs + i, sum);
    }
  for (int64_t o = 0; o < bound(to.db.data ? n.outputs : 0); ++o) {
    double sum = 0;
    for (int64_t row = 0; row < n.rows; ++row) sum += dh(row, o);
    write(to.db, o, sum);
  }
}

// ---- scaled dot-product attention (Vaswani et al. 2017, "Attention is all you need", eq. 1) and
// its gradients. For one example and one head:
//
//   s[i, j] = scale · Σ_c q[i, c] k[j, c]         -inf if query i may not see key j
//   p[i, j] = exp(s[i, j]) / Σⱼ exp(s[i, j])
//   o[i, c] = Σⱼ p[i, j] m[i, j] v[j, c]
//
// m[i, j] is the dropout mask: 0, or 1 / (1 - dropout); without dropout it is 1 everywhere.
namespace {

// Query i of head h of example b.
struct Query {
  const AttentionSizes& n;
  const AttentionSettings& settings;
  int64_t b, h, i;

  // Where this head's columns of row i begin in an array (batch, queries, heads · width).
  int64_t own_row(int64_t width) const { return ((b * n.queries + i) * n.heads + h) * width; }
  // Where this head's columns of row j begin in an array (batch, capacity, heads · width).
  int64_t key_row(int64_t j, int64_t width) const {
    return ((b * n.capacity + j) * n.heads + h) * width;
  }
  // The index of this query in an array (batch, heads, queries).
  int64_t index() const { return (b * n.heads + h) * n.queries + i; }

  bool sees(int64_t j) const { return settings.mask.keeps(b, h, i, j, n.queries, n.keys); }

  // s[i, j]
  double score(const AttentionInputs& in, int64_t j) const {
    if (!sees(j)) return -INFINITY;
    const real *query = in.q + own_row(n.width), *key = in.k + key_row(j, n.width);
    double dot = 0;
    for (int64_t c = 0; c < n.width; ++c) dot += double{query[c]} * key[c];
    return settings.scale * dot;
  }

  // m[i, j], from element index() · keys + j of the random stream
  double dropout_mask(int64_t j) const {
    if (settings.dropout == 0) return 1;
    const DropoutRule rule(settings.dropout);
    const auto element = static_cast<uint64_t>(index() * n.keys + j);
    const uint32_t word = settings.dropout_key.block(element / 4)[element % 4];
    return word < rule.threshold ? 0 : rule.scale;
  }
};

template <class F>
void for_each_query(const AttentionSizes& n, const AttentionSettings& settings, F f) {
  for (int64_t b = 0; b < bound(n.batch); ++b)
    for (int64_t h = 0; h < n.heads; ++h)
      for (int64_t i = 0; i < n.queries; ++i) f(Query{n, settings, b, h, i});
}

// Makes the first gradient overwrite what is in `to`, if it should not be added.
void clear(Destination to, int64_t size) {
  for (int64_t i = 0; i < bound(to.data && !to.accumulate ? size : 0); ++i) to.data[i] = 0;
}

// to[first + c] += factor · x[c],  c < width; nothing if this gradient is not computed
void add(Destination to, int64_t first, int64_t width, double factor, const real* x) {
  for (int64_t c = 0; to.data && c < width; ++c) to.data[first + c] += factor * x[c];
}

}  // namespace

// Also keeps log_sum[i] = log Σⱼ exp(s[i, j]), or +inf if query i sees no key.
void attention_forward(const AttentionSizes& n, const AttentionSettings& settings,
                       const AttentionInputs& in, real* output, real* log_sum) {
  report(Work::multiplications, n.queries, n.keys, n.width + n.value_width, n.batch * n.heads);
  for_each_query(n, settings, [&](const Query& query) {
    const SumExp total = sum_exp(n.keys, [&](int64_t j) { return query.score(in, j); });
    log_sum[query.index()] = total.sum == 0 ? INFINITY : total.log();
    real* o = output + query.own_row(n.value_width);
    for (int64_t c = 0; c < n.value_width; ++c) o[c] = 0;
    for (int64_t j = 0; j < n.keys; ++j) {
      if (!query.sees(j)) continue;
      const double weight = total.softmax(query.score(in, j)) * query.dropout_mask(j);
      const real* value = in.v + query.key_row(j, n.value_width);
      for (int64_t c = 0; c < n.value_width; ++c) o[c] += weight * value[c];
    }
  });
}

// With do the gradient of o (Dao et al. 2022, "FlashAttention", appendix B.4):
//
//   p[i, j]  = exp(s[i, j] - log_sum[i])
//   dp[i, j] = m[i, j] Σ_c do[i, c] v[j, c]
//   δ[i]     = Σⱼ p[i, j] dp[i, j] = Σ_c do[i, c] o[i, c]
//   ds[i, j] = p[i, j] (dp[i, j] - δ[i])
//   dq[i] = scale Σⱼ ds[i, j] k[j],   dk[j] = scale Σᵢ ds[i, j] q[i]
//   dv[j] = Σᵢ p[i, j] m[i, j] do[i]
void attention_backward(const AttentionSizes& n, const AttentionSettings& settings,
                        const AttentionOperands& operands, const AttentionResult& result,
                        const AttentionGradients& to) {
  const AttentionInputs& in = operands.elements;
  const int64_t of_keys = 1 + (to.dq.data != nullptr) + (to.dk.data != nullptr),
                of_values = 1 + (to.dv.data != nullptr);  // products as wide as a key, as a value
  report(Work::multiplications, n.queries, n.keys, of_keys * n.width + of_values * n.value_width,
         n.batch * n.heads);
  clear(to.dq, n.batch * n.queries * n.heads * n.width);
  clear(to.dk, n.batch * n.keys * n.heads * n.width);
  clear(to.dv, n.batch * n.keys * n.heads * n.value_width);
  for_each_query(n, settings, [&](const Query& query) {
    const real* o = result.output + query.own_row(n.value_width);
    const real* d_o = result.d_output + query.own_row(n.value_width);
    double delta = 0;
    for (int64_t c = 0; c < n.value_width; ++c) delta += double{d_o[c]} * o[c];
    for (int64_t j = 0; j < n.keys; ++j) {
      if (!query.sees(j)) continue;
      const double p = std::exp(query.score(in, j) - result.log_sum[query.index()]);
      const double m = query.dropout_mask(j);
      const real* value = in.v + query.key_row(j, n.value_width);
      double dp = 0;
      for (int64_t c = 0; c < n.value_width; ++c) dp += m * d_o[c] * value[c];
      const double ds = p * (dp - delta);
      const int64_t i_row = query.own_row(n.width), j_row = query.key_row(j, n.width);
      add(to.dq, i_row, n.width, settings.scale * ds, in.k + j_row);
      add(to.dk, j_row, n.width, settings.scale * ds, in.q + i_row);
      add(to.dv, query.key_row(j, n.value_width), n.value_width, p * m, d_o);
    }
  });
}

}  // namespace heed::inline HEED_REAL::kernels
