#include "nn/gru.h"

#include <vector>

#include "core/ops.h"
#include "nn/current_part.h"

namespace heed::inline HEED_REAL {

Gru::Gru(int64_t dim, const LinearOptions& options)
    : dim_(dim),
      input_(dim, 3 * dim, options.inside()),
      recurrent_(dim, 3 * dim, options.inside()) {
  add("input", input_);
  add("recurrent", recurrent_);
}

Tensor Gru::operator()(const Tensor& x, const SequenceContext& around) const {
  const CurrentPart here(*this);
  check(x.rank() == 3 && x.dim(2) == dim_, "gru: x must have shape [B, T, {}], has {}", dim_,
        x.shape());
  check(around.mask.window == 0 && !around.mask.dense,
        "gru: its state holds all that came before; a window or a dense mask cannot be kept to");
  const int64_t batch = x.dim(0), time = x.dim(1);
  if (time == 0) return x;

  const int64_t each[] = {dim_, dim_, dim_};
  const std::vector<Tensor> inputs = split(input_(x), each, -1);  // of r, z, n for all places
  const auto at = [&](int gate, int64_t t) {
    return slice(inputs[static_cast<size_t>(gate)], 1, t, t + 1).reshape({batch, dim_});
  };
  std::vector<Tensor> states;
  Tensor h = Tensor::zeros({batch, dim_});
  for (int64_t t = 0; t < time; ++t) {
    const std::vector<Tensor> of_state = split(recurrent_(h), each, -1);
    const Tensor r = sigmoid(at(0, t) + of_state[0]);
    const Tensor z = sigmoid(at(1, t) + of_state[1]);
    const Tensor n = tanh(at(2, t) + r * of_state[2]);
    h = n + z * (h - n);
    states.push_back(h);
  }
  return stack(states, 1);
}

}  // namespace heed::inline HEED_REAL
