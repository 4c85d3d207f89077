#include "core/kernels/linear.h"

#include <algorithm>

#include "core/autograd.h"
#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/gemm/view.h"
#include "core/kernels/kept/kept.h"
#include "core/kernels/kernels.h"
#include "core/kernels/map.h"
#include "core/kernels/scratch.h"
#include "core/observer.h"
#include "core/ops/fused.h"
#include "core/ops/norm.h"
#include "core/parallel.h"
#include "core/precision.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// Applies the activation to blocks of h, which become y.
struct ActivationEpilogue {
  Activation activation;
  int64_t outputs;
  real *y, *slope, *hidden;

  static void run(const void* context, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
    const auto& e = *static_cast<const ActivationEpilogue*>(context);
    const int64_t first = i0 * e.outputs + j0;
    for (int64_t i = first; e.hidden && i < i1 * e.outputs; i += e.outputs)
      std::copy_n(e.y + i, j1 - j0, e.hidden + i);
    activate(e.activation, i1 - i0, j1 - j0, e.outputs, e.y + first,
             e.slope ? e.slope + first : nullptr);
  }
};

// Backward in blocks of rows: where the weights, and a block's dw, take at most 256 KiB of float,
// half of a typical L2 cache. A block has at least 128 rows, and there are at most eight, so that
// the products are long and adding up the blocks is cheap beside them.
struct RowBlocks {
  static constexpr int64_t max_weights = int64_t{1} << 16, min_rows = 128, max_blocks = 8;
  int64_t rows, count;

  explicit RowBlocks(const LinearSizes& n) {
    count = 1;  // a power of two, so that two, four or eight threads get equal work
    while (count < max_blocks && n.rows >= 2 * count * min_rows) count *= 2;
    rows = (n.rows + count - 1) / count;
    count = (n.rows + rows - 1) / rows;
  }
  static bool fit(const LinearSizes& n) {
    return n.inputs * n.outputs <= max_weights && n.rows >= 2 * min_rows;
  }
};

// dh of elements [first, last).
void compute_dh(Activation activation, const LinearOperands& from, int64_t first, int64_t last) {
  if (from.kept)
    activate_backward(activation, last - first, from.dy + first, from.kept + first,
                      from.dh + first);
  else
    activate_backward(activation, last - first, from.dy + first, from.dh + first);
}

// x (rows, inputs) as the right operand of dw = dhᵀ x, in parts of `rows_in_part` rows.
struct Parts {
  LinearInput x;
  int64_t rows_in_part, inputs;

  // Rows [first, first + rows), which are one part.
  MatrixView operator()(int64_t first, int64_t rows) const {
    if (x.elements) return {x.elements + first * inputs, rows, inputs};
    return MatrixView::packed_ahead(
        x.panels + first / rows_in_part * packed_words(rows_in_part, inputs), rows, inputs);
  }
};

// to[j] = Σₙ from[n, j]
void sum_rows(int64_t rows, int64_t width, const real* from, real* __restrict to) {
  std::fill_n(to, width, real{0});
  for (int64_t n = 0; n < rows; ++n)
    map_range(0, width, {to, true}, [row = from + n * width](int64_t j) { return row[j]; });
}

// dw and db, the sums over all blocks. In `from`, a block's db follows its dw.
void add_blocks(const LinearSizes& n, int64_t blocks, const real* from, Destination dw,
                Destination db) {
  const int64_t weights = n.outputs * n.inputs, stride = weights + n.outputs;
  const auto add = [=](Destination to, int64_t first, int64_t last, const real* block) {
    for (int64_t i = 0; to.data && i < blocks; ++i)
      map_range(first, last, {to.data, to.accumulate || i > 0},
                [values = block + i * stride](int64_t j) { return values[j]; });
  };
  parallel_for(stride, chunk_elements / 4, [=](int64_t first, int64_t last) {
    if (first < weights) add(dw, first, std::min(last, weights), from);
    if (last > weights)
      add(db, std::max<int64_t>(0, first - weights), last - weights, from + weights);
  });
}

void backward_in_blocks(const LinearSizes& n, Activation activation, const LinearOperands& from,
                        const LinearGradients& to) {
  const RowBlocks blocks(n);
  const int64_t stride = n.outputs * n.inputs + n.outputs;
  const Scratch scratch(blocks.count * stride);
  real* const sums = scratch.data();  // dw and db of each block
  const Parts x{from.x, blocks.rows, n.inputs};
  report(Work::multiplications, n.rows, n.inputs, n.outputs,
         (to.dx.data != nullptr) + (to.dw.data != nullptr));
  const auto run_block = [=, precision = scope().precision](int64_t first, int64_t last) {
    const int64_t rows = last - first, at = first * n.outputs;
    const real* dh = from.dy + at;
    if (activation != Activation::none) {
      compute_dh(activation, from, at, at + rows * n.outputs);
      dh = from.dh + at;
    }
    const MatrixView m(dh, rows, n.outputs);
    real* const block = sums + first / blocks.rows * stride;
    if (to.dx.data)
      gemm_serial(m, {from.w, n.outputs, n.inputs},
                  {to.dx.data + first * n.inputs, to.dx.accumulate}, precision);
    if (to.dw.data) gemm_serial(m.t(), x(first, rows), {block, false}, precision);
    if (to.db.data) sum_rows(rows, n.outputs, dh, block + n.outputs * n.inputs);
  };
  // A simple operation is about 16 multiplications.
  parallel_for(n.rows, blocks.rows, run_block, n.rows * n.inputs * n.outputs / 8);
  add_blocks(n, blocks.count, sums, to.dw, to.db);
}

}  // namespace

void linear_forward(const LinearSizes& n, Activation activation, const real* x, const real* w,
                    const real* b, real* y, real* slope, const uint32_t* packed_w, real* hidden) {
  const ActivationEpilogue epilogue{activation, n.outputs, y, slope, hidden};
  GemmOptions options{.bias = b};
  if (activation != Activation::none) options.epilogue = {ActivationEpilogue::run, &epilogue};
  gemm_parallel({x, n.rows, n.inputs},
                packed_w ? MatrixView::packed_ahead(packed_w, n.inputs, n.outputs)
                         : Matrix{w, n.outputs, n.inputs}.t(),
                {y, false}, options);
}

PackedInput packed_input(const LinearSizes& n) {
  if (scope().precision != Precision::medium || n.rows == 0) return {0, 0};
  const int64_t rows = RowBlocks::fit(n) ? RowBlocks(n).rows : n.rows;
  const int64_t before_last = (n.rows - 1) / rows, last = n.rows - before_last * rows;
  if (!uses_bfloat16(n.outputs, n.inputs, last, Precision::medium)) return {0, 0};
  return {rows, before_last * packed_words(rows, n.inputs) + packed_words(last, n.inputs)};
}

void pack_input(const LinearSizes& n, const real* x, uint32_t* panels) {
  pack_ahead(*tile_kernels(), {x, n.rows, n.inputs}, packed_input(n).rows_in_part, panels);
}

void linear_backward(const LinearSizes& n, Activation activation, const LinearOperands& from,
                     const LinearGradients& to) {
  if (RowBlocks::fit(n)) return backward_in_blocks(n, activation, from, to);
  const real* dh = from.dy;
  if (activation != Activation::none) {
    parallel_for(n.rows * n.outputs, chunk_elements,
                 [=](int64_t first, int64_t last) { compute_dh(activation, from, first, last); });
    dh = from.dh;
  }
  const MatrixView m(dh, n.rows, n.outputs), x = Parts{from.x, n.rows, n.inputs}(0, n.rows);
  if (to.dx.data) gemm_parallel(m, {from.w, n.outputs, n.inputs}, to.dx);  // dx += dh · w
  if (to.dw.data) gemm_parallel(m.t(), x, to.dw);                          // dw += dhᵀ · x
  if (to.db.data) sum_to(dh, {n.rows, n.outputs}, {n.outputs}, to.db);     // db += Σₙ dh
}

}  // namespace heed::inline HEED_REAL::kernels

namespace heed::inline HEED_REAL::fused {

using kernels::LinearSizes;
using kernels::Scratch;

static LinearSizes sizes_of(const Tensor& x, const Tensor& w) {
  return {.rows = x.shape().span_size(0, x.rank() - 1), .inputs = w.dim(1), .outputs = w.dim(0)};
}

// y = φ(h),  h[n, o] = Σᵢ x[n, i] w[o, i] + b[o]
static void forward(const LinearSizes& n, Activation activation, const Tensor& x, const Tensor& w,
                    const Tensor& b, Tensor& y, real* slope = nullptr, real* hidden = nullptr) {
  const kernels::KeptWeights kept(n, w);
  kernels::linear_forward(n, activation, x.data(), w.data(), b ? b.data() : nullptr,
                          y.mutable_data(), slope, kept.panels(), hidden);
}

static Tensor without_activation(const Tensor& x, const Tensor& w, const Tensor& b) {
  const LinearSizes n = sizes_of(x, w);
  Tensor y = Tensor::empty(x.shape().with_last(n.outputs));
  forward(n, Activation::none, x, w, b, y);
  return record("linear", y, {x, w, b},
                [n, kept_x = kernels::KeptInput(n, x, w), ws = saved(w, x)](Backward& g) mutable {
                  const auto add = [&](const kernels::LinearInput& from_x,
                                       const kernels::LinearGradients& to) {
                    kernels::linear_backward(n, Activation::none, {g.dy(), from_x, ws.data()}, to);
                  };
                  if (!kept_x.is_computed_again())
                    return add(kept_x.get(), {g.into_or_null(0),    // dx += dy · w
                                              g.into_or_null(1),    // dw += dyᵀ · x
                                              g.into_or_null(2)});  // db += Σₙ dy
                  // x is freed before dx, of equal size, exists.
                  add(kept_x.get(), {{}, g.into_or_null(1), g.into_or_null(2)});
                  kept_x = {};
                  add({nullptr}, {g.into_or_null(0), {}, {}});
                });
}

namespace {

// What an activation keeps for backward. A large layer keeps h, and computes y from it again.
enum class Kept { y, slope, h };

struct ActivatedBackward {
  LinearSizes n;
  Activation activation;
  kernels::KeptInput x;
  Saved w, elements;
  Kept kept;  // the meaning of `elements`

  void operator()(Backward& g) {
    // dh = dy φ'(h), in place of the slope or of h
    const Scratch scratch(kept == Kept::y ? g.size() : 0);
    real* const dh = kept == Kept::y ? scratch.data() : elements.own_data();
    kernels::linear_backward(
        n, activation, {g.dy(), x.get(), w.data(), kept == Kept::h ? nullptr : elements.data(), dh},
        {g.into_or_null(0),    // dx += dh · w
         g.into_or_null(1),    // dw += dhᵀ · x
         g.into_or_null(2)});  // db += Σₙ dh
  }
  void again(real* y) {
    kernels::activate_again(activation, n.rows * n.outputs, elements.own_data(), y);
    kept = Kept::slope;
  }
};

}  // namespace

// y = φ(h),  h = x wᵀ + b
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Activation activation) {
  if (activation == Activation::none) return without_activation(x, w, b);
  const LinearSizes n = sizes_of(x, w);
  Tensor y = Tensor::empty(x.shape().with_last(n.outputs)), own;  // own: φ'(h) or h
  Kept kept = Kept::y;
  if (kernels::keeps_slope(activation) &&
      (wants_gradient(x) || wants_gradient(w) || wants_gradient(b))) {
    kept = kernels::KeptInput::is_large(y) ? Kept::h : Kept::slope;
    own = Tensor::empty(y.shape());
  }
  forward(n, activation, x, w, b, y, kept == Kept::slope ? own.mutable_data() : nullptr,
          kept == Kept::h ? own.mutable_data() : nullptr);
  return record("linear", y, {x, w, b},
                ActivatedBackward{n, activation, kernels::KeptInput(n, x, w), saved(w, x),
                                  saved(own ? own : y, x, w, b), kept});
}

}  // namespace heed::inline HEED_REAL::fused

namespace heed::inline HEED_REAL::kernels {

// Norms can compute their results again, and layers with an activation.
Again again_of(const Node& node) {
  using fused::ActivatedBackward;
  if (node.run == heed::detail::run_closure<ActivatedBackward>)
    return [](void* closure, real* y) { static_cast<ActivatedBackward*>(closure)->again(y); };
  if (node.run == heed::detail::run_closure<NormBackward>)
    return [](void* closure, real* y) {
      const NormBackward& norm = *static_cast<NormBackward*>(closure);
      norm_forward(norm.n, norm.epsilon, norm.x.data(), norm.w.data(), norm.b.data(), y,
                   norm.mean.own_data(), norm.scale.own_data());
    };
  return nullptr;
}

}  // namespace heed::inline HEED_REAL::kernels
