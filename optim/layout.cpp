#include "optim/layout.h"

#include "core/observer.h"

namespace heed::inline HEED_REAL {

void Optimizer::lay_out(const std::vector<const char*>& state) {
  layout_ =
      std::make_shared<Layout>(parameters_, std::vector<std::string>(state.begin(), state.end()));
}

double Optimizer::sum_of_squared_gradients() {
  Arena& arena = layout_->arena;
  arena.complete_gradients();
  arena.sum_gradients();
  return arena.sum_of_squared_gradients();
}

void Optimizer::update(const std::function<void(const ParameterRange&)>& f) {
  Arena& arena = layout_->arena;
  const ArenaState& state = layout_->state;
  arena.for_each_own_range([&](int64_t first, int64_t last, bool matrix) {
    ParameterRange range{last - first, matrix, arena.gradients() + first,
                         arena.parameters() + first};
    for (size_t i = 0; i < state.size(); ++i) range.state[i] = state.at(i, first);
    f(range);
  });
  // Reads the gradients twice; reads and writes the parameters and all state.
  report(Work::moved, arena.own().size() * (4 + 2 * static_cast<int64_t>(state.size())));
  arena.gather_parameters();
  arena.count_change();
}

}  // namespace heed::inline HEED_REAL
