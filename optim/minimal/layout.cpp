// Defines the layout of an Optimizer for the minimal build: every tensor is a range, with arrays of
// its own for what the rule keeps.
#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {

struct Optimizer::Layout {
  std::vector<std::array<Tensor, 3>> state;  // of each parameter
};

void Optimizer::lay_out(const std::vector<const char*>& state) {
  layout_ = std::make_shared<Layout>();
  for (const NamedParameter& p : parameters_) {
    std::array<Tensor, 3>& arrays = layout_->state.emplace_back();
    for (size_t k = 0; k < state.size(); ++k) arrays[k] = Tensor::zeros(p.tensor.shape());
  }
}

double Optimizer::sum_of_squared_gradients() {
  double sum = 0;
  for (const NamedParameter& p : parameters_)
    if (const Tensor gradient = p.tensor.grad())
      for (const real g : gradient.values()) sum += static_cast<double>(g) * g;
  return sum;
}

void Optimizer::update(const std::function<void(const ParameterRange&)>& f) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Tensor& w = parameters_[i].tensor;
    const Tensor gradient = w.grad() ? w.grad() : Tensor::zeros(w.shape());
    ParameterRange range{w.size(), w.rank() >= 2, gradient.data(), w.mutable_data()};
    for (size_t k = 0; k < range.state.size(); ++k)
      if (Tensor& array = layout_->state[i][k]) range.state[k] = array.mutable_data();
    f(range);
  }
}

}  // namespace heed::inline HEED_REAL
