#include "nn/forms/gru.h"

#include <vector>

#include "core/ops.h"

namespace heed::inline HEED_REAL {

Gru::Gru(int64_t dim, const LinearOptions& options)
    : dim_(dim),
      input_(this, "input", dim, 3 * dim, options.inside()),
      recurrent_(this, "recurrent", dim, 3 * dim, options.inside()) {}

Tensor Gru::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  check_mixing_input("gru", "its state depends on all earlier positions", true, x, dim_,
                     sequence.mask);
  const int64_t batch = x.dim(0), time = x.dim(1);
  if (time == 0) return x;

  const int64_t gates[] = {dim_, dim_, dim_};
  const std::vector<Tensor> wx = split(input_(x), gates, -1);  // r, z, n of all positions
  const auto at = [&](int gate, int64_t t) {
    return slice(wx[static_cast<size_t>(gate)], 1, t, t + 1).reshape({batch, dim_});
  };
  std::vector<Tensor> states;
  Tensor h = Tensor::zeros({batch, dim_});
  for (int64_t t = 0; t < time; ++t) {
    const std::vector<Tensor> uh = split(recurrent_(h), gates, -1);
    const Tensor r = sigmoid(at(0, t) + uh[0]);
    const Tensor z = sigmoid(at(1, t) + uh[1]);
    const Tensor n = tanh(at(2, t) + r * uh[2]);
    h = n + z * (h - n);
    states.push_back(h);
  }
  return stack(states, 1);
}

const MixingRule mixings::gru = {
    .name = "gru",
    .can_be_causal = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return std::make_unique<Gru>(o.dim, linear);
    }};

}  // namespace heed::inline HEED_REAL
