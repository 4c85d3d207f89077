// Parameters in an Arena (optim/arena.h), and what only an Optimizer of these can do: its state has
// names, and may be divided among ranks.
#include <optional>

#include "core/observer.h"
#include "optim/arena_state.h"
#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {
namespace {

struct ArenaParameters final : ParameterSet {
  Arena arena;
  std::optional<ArenaState> state;

  explicit ArenaParameters(std::vector<NamedParameter> parameters) : arena(std::move(parameters)) {}

  void add_state(const std::vector<const char*>& names) override {
    state.emplace(arena, std::vector<std::string>(names.begin(), names.end()));
  }

  void zero_grad() override { arena.zero_grad(); }

  double sum_of_squared_gradients() override {
    arena.complete_gradients();
    arena.sum_gradients();
    return arena.sum_of_squared_gradients();
  }

  void update(const std::function<void(const ParameterRange&)>& f) override {
    arena.for_each_own_range([&](int64_t first, int64_t last, bool matrix) {
      ParameterRange range{last - first, matrix, arena.gradients() + first,
                           arena.parameters() + first};
      for (size_t i = 0; i < state->size(); ++i) range.state[i] = state->at(i, first);
      f(range);
    });
    // Reads the gradients twice; reads and writes the parameters and all state.
    report(Work::moved, arena.own().size() * (4 + 2 * static_cast<int64_t>(state->size())));
    arena.gather_parameters();
    arena.count_change();
  }
};

ArenaParameters& in_arena(ParameterSet& parameters) {
  auto* const found = dynamic_cast<ArenaParameters*>(&parameters);
  check(found, "optimizer: its parameters are in no arena");
  return *found;
}

}  // namespace

std::unique_ptr<ParameterSet> parameter_set(std::vector<NamedParameter> parameters) {
  return std::make_unique<ArenaParameters>(std::move(parameters));
}

Arena& Optimizer::arena() { return in_arena(*parameters_).arena; }

std::vector<NamedParameter> Optimizer::state() const {
  return in_arena(*parameters_).state->tensors();
}

void Optimizer::load_state(int64_t steps, std::span<const NamedParameter> saved) {
  check_input(steps >= 0, "optimizer state: {} steps", steps);
  in_arena(*parameters_).state->load(saved, "optimizer state");
  steps_ = steps;
}

}  // namespace heed::inline HEED_REAL
