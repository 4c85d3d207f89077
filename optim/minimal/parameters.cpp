// Defines optim/parameters.h for the minimal build: a range for every tensor, one after the other.
#include "optim/parameters.h"

namespace heed::inline HEED_REAL {
namespace {

class SeparateParameters final : public ParameterSet {
 public:
  explicit SeparateParameters(std::vector<NamedParameter> parameters)
      : parameters_(std::move(parameters)) {
    std::erase_if(parameters_, [](const auto& p) { return !p.tensor.requires_grad(); });
    check_input(!parameters_.empty(),
                "optimizer: nothing to train: there is no parameter, or every one is frozen");
    state_.resize(parameters_.size());
  }

  void add_state(const std::vector<const char*>& names) override {
    for (size_t i = 0; i < parameters_.size(); ++i)
      for (size_t k = 0; k < names.size(); ++k)
        state_[i][k] = Tensor::zeros(parameters_[i].tensor.shape());
  }

  void zero_grad() override {
    for (NamedParameter& p : parameters_) p.tensor.clear_grad();
  }

  double sum_of_squared_gradients() override {
    double sum = 0;
    for (const NamedParameter& p : parameters_)
      if (const Tensor gradient = p.tensor.grad())
        for (const real g : gradient.values()) sum += static_cast<double>(g) * g;
    return sum;
  }

  void update(const std::function<void(const ParameterRange&)>& f) override {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      Tensor& w = parameters_[i].tensor;
      const Tensor gradient = w.grad() ? w.grad() : Tensor::zeros(w.shape());
      ParameterRange range{w.size(), w.rank() >= 2, gradient.data(), w.mutable_data()};
      for (size_t k = 0; k < range.state.size(); ++k)
        if (state_[i][k]) range.state[k] = state_[i][k].mutable_data();
      f(range);
    }
  }

 private:
  std::vector<NamedParameter> parameters_;
  std::vector<std::array<Tensor, 3>> state_;  // of each parameter
};

}  // namespace

std::unique_ptr<ParameterSet> parameter_set(std::vector<NamedParameter> parameters) {
  return std::make_unique<SeparateParameters>(std::move(parameters));
}

}  // namespace heed::inline HEED_REAL
