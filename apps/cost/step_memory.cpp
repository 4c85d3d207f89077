#include "apps/cost/step_memory.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace heed {

double StepMemory::held(Pass pass) const {
  double bytes = 0;
  for (const Holder& holder : holders)
    if (holder.pass == pass) bytes += holder.bytes;
  return bytes;
}

static double bytes_of(const std::vector<NamedParameter>& tensors, bool only_trained = false) {
  double elements = 0;
  for (const NamedParameter& each : tensors)
    if (!only_trained || each.tensor.requires_grad())
      elements += static_cast<double>(each.tensor.size());
  return sizeof(real) * elements;
}

StepMemory memory_of(const StepObserver& step, const PartNames& names, int64_t live_at_first,
                     const Trainer& trainer) {
  // The changes up to the peak.
  const std::vector<MemoryChange>& changes = step.memory();
  int64_t live = live_at_first, peak = live;
  size_t end = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    live += changes[i].bytes;
    if (live <= peak) continue;
    peak = live;
    end = i + 1;
  }
  std::unordered_map<const void*, const MemoryChange*> blocks;
  int64_t before = live_at_first;  // remaining blocks from before the step
  for (size_t i = 0; i < end; ++i) {
    if (changes[i].bytes > 0)
      blocks[changes[i].block] = &changes[i];
    else if (blocks.erase(changes[i].block) == 0)
      before += changes[i].bytes;
  }

  const Event nothing{outside_operations};
  const auto event_of = [&](const MemoryChange& change) -> const Event& {
    return change.event < step.events().size() ? step.events()[change.event] : nothing;
  };
  StepMemory memory;
  memory.peak = static_cast<double>(peak);
  const Event& last = end > 0 ? event_of(changes[end - 1]) : nothing;
  memory.moment = last.pass == Pass::other ? last.name
                                           : fmt::format("{} of {}, {}", name_of(passes, last.pass),
                                                         last.name, names.layer(last));
  const std::vector<NamedParameter> parameters = trainer.model().parameters();
  memory.parameters = bytes_of(parameters);
  memory.gradients = bytes_of(parameters, true);
  memory.optimizer = bytes_of(trainer.state());
  memory.before =
      static_cast<double>(before) - memory.parameters - memory.gradients - memory.optimizer;

  std::map<std::pair<Pass, std::string>, double> held;
  for (const auto& [block, change] : blocks) {
    const Event& event = event_of(*change);
    held[{event.pass, event.name}] += static_cast<double>(change->bytes);
  }
  for (const auto& [what, bytes] : held) memory.holders.push_back({what.first, what.second, bytes});
  std::ranges::stable_sort(memory.holders, std::greater(), &StepMemory::Holder::bytes);
  return memory;
}

}  // namespace heed
