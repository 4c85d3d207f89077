#include "nn/forms/recurrent.h"

#include "core/ops.h"

namespace heed::inline HEED_REAL {

Recurrent::Recurrent(const char* name, int64_t dim, int64_t gates, const LinearOptions& options)
    : name_(name),
      dim_(dim),
      gates_(static_cast<size_t>(gates), dim),
      input_(this, "input", dim, gates * dim, options.inside()),
      recurrent_(this, "recurrent", dim, gates * dim, options.inside()) {}

Tensor Recurrent::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  check_mixing_input(name_, "its state depends on all earlier positions", true, x, dim_,
                     sequence.mask);
  const int64_t batch = x.dim(0), time = x.dim(1);
  if (time == 0) return x;

  const Gates wx = split(input_(x), gates_, -1);  // of all positions
  Tensor h = Tensor::zeros({batch, dim_}), cell = h;
  std::vector<Tensor> states;
  for (int64_t t = 0; t < time; ++t) {
    Gates at;
    for (const Tensor& gate : wx) at.push_back(slice(gate, 1, t, t + 1).reshape({batch, dim_}));
    h = step(at, split(recurrent_(h), gates_, -1), h, cell);
    states.push_back(h);
  }
  return stack(states, 1);
}

Gru::Gru(int64_t dim, const LinearOptions& options) : Recurrent("gru", dim, 3, options) {}

Tensor Gru::step(const Gates& wx, const Gates& uh, const Tensor& h, Tensor&) const {
  const Tensor r = sigmoid(wx[0] + uh[0]);
  const Tensor z = sigmoid(wx[1] + uh[1]);
  const Tensor n = tanh(wx[2] + r * uh[2]);
  return n + z * (h - n);
}

Lstm::Lstm(int64_t dim, const LinearOptions& options) : Recurrent("lstm", dim, 4, options) {}

Tensor Lstm::step(const Gates& wx, const Gates& uh, const Tensor&, Tensor& cell) const {
  const Tensor i = sigmoid(wx[0] + uh[0]);
  const Tensor f = sigmoid(wx[1] + uh[1]);
  const Tensor g = tanh(wx[2] + uh[2]);
  cell = f * cell + i * g;
  return sigmoid(wx[3] + uh[3]) * tanh(cell);
}

const MixingRule mixings::gru = {
    .name = "gru",
    .can_be_causal = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return std::make_unique<Gru>(o.dim, linear);
    }};

const MixingRule mixings::lstm = {
    .name = "lstm",
    .can_be_causal = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return std::make_unique<Lstm>(o.dim, linear);
    }};

}  // namespace heed::inline HEED_REAL
