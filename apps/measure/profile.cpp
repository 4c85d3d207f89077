#include "apps/measure/profile.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "apps/measure/rates.h"
#include "apps/support/clock.h"
#include "apps/support/names.h"
#include "apps/training/trainer.h"
#include "core/pool.h"

namespace heed {

ProfileRow& ProfileRow::operator+=(const ProfileRow& other) {
  calls += other.calls;
  seconds += other.seconds;
  cost += other.cost;
  least_seconds += other.least_seconds;
  return *this;
}

double ProfileMemory::held(Pass pass) const {
  double bytes = 0;
  for (const Holder& holder : holders)
    if (holder.pass == pass) bytes += holder.bytes;
  return bytes;
}

namespace {

using PartNames = std::map<const Module*, std::string>;

PartNames names_of(const Model& model, const std::vector<StepWatch>& steps) {
  PartNames names;
  for (const StepWatch& step : steps)
    for (const Event& event : step.events())
      if (event.part && !names.contains(event.part))
        names[event.part] = model.name_of(*event.part).value_or("");
  return names;
}

std::string part_name(const Event& event, const PartNames& names) {
  return event.part ? names.at(event.part) : "";
}

std::string layer_name(const Event& event, const PartNames& names) {
  const std::string layer = layer_of(part_name(event, names));
  return layer.empty() ? outside_model : layer;
}

// Those of middle length: all but the fastest and the slowest quarter.
template <class Item, class Length>
std::vector<const Item*> middle_half(const std::vector<Item>& items, Length length) {
  std::vector<const Item*> sorted;
  for (const Item& item : items) sorted.push_back(&item);
  std::sort(sorted.begin(), sorted.end(),
            [&](const Item* a, const Item* b) { return length(*a) < length(*b); });
  const auto quarter = static_cast<ptrdiff_t>(sorted.size() / 4);
  return {sorted.begin() + quarter, sorted.end() - quarter};
}

// Sums rows by name, in the order in which the names appear.
class Rows {
 public:
  ProfileRow& operator[](const std::string& name) {
    const auto [at, added] = places_.try_emplace(name, rows_.size());
    if (added) rows_.emplace_back().name = name;
    return rows_[at->second];
  }
  std::vector<ProfileRow> longest_first() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const ProfileRow& a, const ProfileRow& b) {
      return a.seconds > b.seconds;
    });
    return std::move(rows_);
  }

 private:
  std::vector<ProfileRow> rows_;
  std::map<std::string, size_t> places_;
};

ProfileRow row_of(const Event& event, const OperationCost& cost, const Profile& profile,
                  double share) {
  ProfileRow row;
  row.calls = share;
  row.seconds = share * 1e-9 * static_cast<double>(event.nanoseconds());
  row.cost = {share * cost.flops, share * cost.bytes};
  row.least_seconds = share * std::max(cost.flops / profile.gemm, cost.bytes / profile.bandwidth);
  return row;
}

// The tables, each step counting for 1 / how many there are.
void add_times(const std::vector<const StepWatch*>& steps, const PartNames& names,
               const OperationCost& of_optimizer, Profile& profile) {
  Rows forward, backward, rest;
  std::map<std::string, size_t> places;
  const double share = 1 / static_cast<double>(steps.size());
  for (const StepWatch* step : steps) {
    int64_t outside = step->nanoseconds();
    for (const Event& event : step->events()) {
      outside -= event.nanoseconds();
      const bool optimizer = event.name == std::string_view(optimizer_stage);
      const ProfileRow row = row_of(event, optimizer ? of_optimizer : event.cost(), profile, share);
      if (event.pass == Pass::other) {
        rest[event.name] += row;
        continue;
      }
      (event.pass == Pass::forward ? forward : backward)[event.name] += row;
      const std::string layer = layer_name(event, names);
      const auto [at, added] = places.try_emplace(layer, profile.layers.size());
      if (added) profile.layers.emplace_back().name = layer;
      LayerRow& own = profile.layers[at->second];
      (event.pass == Pass::forward ? own.forward : own.backward) += row;
    }
    profile.seconds += share * 1e-9 * static_cast<double>(step->nanoseconds());
    rest[outside_operations] += {"", share, share * 1e-9 * static_cast<double>(outside), {}, 0};
  }
  profile.forward = forward.longest_first();
  profile.backward = backward.longest_first();
  profile.rest = rest.longest_first();
}

// What the pool holds, as a step goes on. Bytes that were there before the step are `before`.
class Replay {
 public:
  explicit Replay(double before) : before_(before), live_(before) {}
  void apply(const MemoryChange& change) {
    live_ += static_cast<double>(change.bytes);
    if (change.bytes > 0)
      blocks_[change.block] = &change;
    else if (blocks_.erase(change.block) == 0)
      before_ += static_cast<double>(change.bytes);
  }
  double live() const { return live_; }
  double before() const { return before_; }
  const std::unordered_map<const void*, const MemoryChange*>& blocks() const { return blocks_; }

 private:
  double before_, live_;
  std::unordered_map<const void*, const MemoryChange*> blocks_;
};

const Event* event_of(const MemoryChange& change, const StepWatch& step) {
  return change.event < step.events().size() ? &step.events()[change.event] : nullptr;
}

std::string moment_name(const Event* event, const PartNames& names) {
  if (!event) return outside_operations;
  if (event->pass == Pass::other) return event->name;
  return fmt::format("{} of {}, {}", pass_names[static_cast<int>(event->pass)], event->name,
                     layer_name(*event, names));
}

// What is in the pool when there is most in it. At the beginning of the step there was `live`.
void add_peak(const StepWatch& step, const PartNames& names, double live, ProfileMemory& memory) {
  const std::vector<MemoryChange>& changes = step.memory();
  Replay all(live);
  size_t peak_at = 0;  // so many changes later
  memory.peak = live;
  for (size_t i = 0; i < changes.size(); ++i) {
    all.apply(changes[i]);
    if (all.live() <= memory.peak) continue;
    memory.peak = all.live();
    peak_at = i + 1;
  }
  Replay at_peak(live);
  for (size_t i = 0; i < peak_at; ++i) at_peak.apply(changes[i]);
  memory.before = at_peak.before() - memory.parameters - memory.gradients - memory.optimizer;
  memory.moment = moment_name(peak_at > 0 ? event_of(changes[peak_at - 1], step) : nullptr, names);

  std::map<std::pair<Pass, std::string>, double> held;
  for (const auto& [block, change] : at_peak.blocks()) {
    const Event* const event = event_of(*change, step);
    held[{event ? event->pass : Pass::other, event ? event->name : outside_operations}] +=
        static_cast<double>(change->bytes);
  }
  for (const auto& [what, bytes] : held) memory.holders.push_back({what.first, what.second, bytes});
  std::stable_sort(memory.holders.begin(), memory.holders.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
}

double bytes_of(const std::vector<NamedParameter>& tensors, bool trained_alone = false) {
  int64_t numbers = 0;
  for (const NamedParameter& each : tensors)
    if (!trained_alone || each.tensor.requires_grad()) numbers += each.tensor.size();
  return sizeof(real) * static_cast<double>(numbers);
}

std::vector<TimedEvent> timed(const StepWatch& step, const PartNames& names,
                              const OperationCost& of_optimizer) {
  std::vector<TimedEvent> all;
  for (const Event& event : step.events()) {
    TimedEvent& to = all.emplace_back(
        TimedEvent{event.name,
                   part_name(event, names),
                   "",
                   event.pass,
                   event.begin,
                   event.end,
                   event.name == std::string_view(optimizer_stage) ? of_optimizer : event.cost(),
                   {},
                   event.call.result});
    if (event.pass == Pass::other) continue;
    to.layer = layer_name(event, names);
    for (const Shape& input : event.call.inputs)
      if (input.rank() > 0) to.inputs.push_back(input);
  }
  return all;
}

}  // namespace

Profile profile_training(const Experiment& experiment, const Corpus& corpus, int64_t steps) {
  Profile profile;
  profile.steps = steps;
  std::vector<StepWatch> watches;
  std::vector<double> unwatched;
  PartNames names;
  OperationCost of_optimizer;
  double live = 0;
  {
    Trainer trainer(experiment, corpus);
    for (int i = 0; i < 3; ++i) trainer.step();
    for (int64_t i = 0; i < steps; ++i) {
      const double start = now();
      trainer.step();
      unwatched.push_back(now() - start);
      StepWatch watch(watches.empty() ? nullptr : &watches.back());
      live = static_cast<double>(pool_statistics().live_bytes);
      const ObserverScope observation(watch);
      watch.begin();
      profile.loss = trainer.step().loss;
      watch.end();
      watches.push_back(std::move(watch));
    }
    const std::vector<NamedParameter> parameters = trainer.model().parameters();
    ProfileMemory& memory = profile.memory;
    memory.parameters = bytes_of(parameters);
    memory.gradients = bytes_of(parameters, true);
    memory.optimizer = bytes_of(trainer.optimizer().state());
    of_optimizer = optimizer_cost(experiment.optim,
                                  static_cast<int64_t>(memory.gradients) / int64_t{sizeof(real)});
    names = names_of(trainer.model(), watches);
  }
  profile.gemm = gemm_rate(experiment.precision);
  profile.bandwidth = memory_bandwidth();
  add_peak(watches.back(), names, live, profile.memory);
  const auto length = [](const StepWatch& watch) { return watch.nanoseconds(); };
  const std::vector<const StepWatch*> middle = middle_half(watches, length);
  add_times(middle, names, of_optimizer, profile);
  const std::vector<const double*> middle_unwatched =
      middle_half(unwatched, [](double seconds) { return seconds; });
  for (const double* each : middle_unwatched)
    profile.unwatched_seconds += *each / static_cast<double>(middle_unwatched.size());
  const StepWatch& median = *middle[middle.size() / 2];
  profile.step = timed(median, names, of_optimizer);
  profile.step_nanoseconds = median.nanoseconds();
  return profile;
}

}  // namespace heed
