// Norms over the last axis.
#include "core/kernels/norm.h"

#include "core/autograd.h"
#include "core/kernels/reduce.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

struct Rows {
  int64_t count, width;

  Rows(const char* operation, const Shape& x)
      : count(x.rank() ? x.span_size(0, x.rank() - 1) : 0), width(x.rank() ? x[-1] : 0) {
    check(x.rank() >= 1, "{}: there is no last axis in shape {}", operation, x);
  }
  void check_fits(const char* operation, const char* name, const Tensor& parameter) const {
    check(!parameter || parameter.shape() == Shape{width}, "{}: {} must have shape [{}], has {}",
          operation, name, width, parameter ? parameter.shape() : Shape{});
  }
  // The parameter, or what stands for it where there is none.
  Tensor or_else(const Tensor& parameter, real value) const {
    return parameter ? parameter : Tensor::full({width}, value);
  }
  // Room for the sums of each piece of the rows, if the gradient is wanted.
  Tensor pieces(bool wanted) const {
    return wanted ? Tensor::empty({kernels::norm_pieces(count, width), width}) : Tensor();
  }
};

void add_pieces(const Tensor& pieces, Destination to) {
  kernels::sum_to(pieces.data(), pieces.shape(), {pieces.dim(1)}, to);
}

}  // namespace

// y = x̂ · w + b, x̂ = (x - mean) s, s = 1 / √(variance + ε)
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, real epsilon) {
  const Rows n("layer_norm", x.shape());
  n.check_fits("layer_norm", "the weight", weight);
  n.check_fits("layer_norm", "the bias", bias);
  const Tensor w = n.or_else(weight, 1), b = n.or_else(bias, 0);
  Tensor y = Tensor::empty(x.shape());
  Tensor mean = Tensor::empty({n.count}), scale = Tensor::empty({n.count});
  kernels::layer_norm_forward(n.count, n.width, epsilon, x.data(), w.data(), b.data(),
                              y.mutable_data(), mean.mutable_data(), scale.mutable_data());
  return record("layer_norm", y, {x, weight, bias},
                [n, xs = saved(x, x, weight), ws = saved(w, x), ms = saved(mean, x, weight),
                 ss = saved(scale, x, weight)](Backward& g) {
                  Tensor dw = n.pieces(g.wants(1)), db = n.pieces(g.wants(2));
                  const auto data = [](const Saved& s) { return s ? s.data() : nullptr; };
                  const Destination dx = g.wants(0) ? g.into(0) : Destination{nullptr, false};
                  // dx += s (h - mean(h) - x̂ mean(h x̂)), h = dy · w
                  kernels::layer_norm_backward(
                      n.count, n.width, g.dy(), data(xs), data(ws), data(ms), data(ss), dx,
                      dw ? dw.mutable_data() : nullptr, db ? db.mutable_data() : nullptr);
                  if (dw) add_pieces(dw, g.into(1));  // dw += Σₙ dy · x̂
                  if (db) add_pieces(db, g.into(2));  // db += Σₙ dy
                });
}

// y = x̂ · w, x̂ = x s, s = 1 / √(mean(x²) + ε)
Tensor rms_norm(const Tensor& x, const Tensor& weight, real epsilon) {
  const Rows n("rms_norm", x.shape());
  n.check_fits("rms_norm", "the weight", weight);
  const Tensor w = n.or_else(weight, 1);
  Tensor y = Tensor::empty(x.shape()), scale = Tensor::empty({n.count});
  kernels::rms_norm_forward(n.count, n.width, epsilon, x.data(), w.data(), y.mutable_data(),
                            scale.mutable_data());
  return record(
      "rms_norm", y, {x, weight},
      [n, xs = saved(x, x, weight), ws = saved(w, x), ss = saved(scale, x, weight)](Backward& g) {
        Tensor dw = n.pieces(g.wants(1));
        const Destination dx = g.wants(0) ? g.into(0) : Destination{nullptr, false};
        // dx += s (h - x̂ mean(h x̂)), h = dy · w
        kernels::rms_norm_backward(n.count, n.width, g.dy(), xs.data(), ws ? ws.data() : nullptr,
                                   ss.data(), dx, dw ? dw.mutable_data() : nullptr);
        if (dw) add_pieces(dw, g.into(1));  // dw += Σₙ dy · x̂
      });
}

}  // namespace heed::inline HEED_REAL
