#include "lab/measure/profile.h"

#include <algorithm>
#include <span>

#include "apps/support/clock.h"
#include "apps/training/trainer.h"
#include "core/pool.h"
#include "lab/measure/rates.h"

namespace heed {

ProfileRow& ProfileRow::operator+=(const ProfileRow& other) {
  calls += other.calls;
  seconds += other.seconds;
  cost += other.cost;
  least_seconds += other.least_seconds;
  return *this;
}

namespace {

// Returns the row with this name. Adds it if there is none.
template <class Row>
Row& row_named(std::vector<Row>& rows, const std::string& name) {
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found != rows.end() ? *found : rows.emplace_back(Row{name});
}

// Adds a step to all tables, multiplied by `weight`. With `waiting`, the time that it waited for
// threads is a row of its own.
void add_step(const StepObserver& step, const PartNames& names, double weight, Profile& p,
              bool waiting = false) {
  int64_t outside = step.nanoseconds();
  for (const Event& event : step.events()) {
    outside -= event.nanoseconds();
    const int64_t waited = waiting ? event.waited : 0;
    if (waiting && event.loops > 0)
      row_named(p.rest, waiting_for_threads) += {"", weight * static_cast<double>(event.loops),
                                                 weight * 1e-9 * static_cast<double>(waited)};
    const Cost& cost = event.cost;
    const ProfileRow row{"",
                         weight,
                         weight * 1e-9 * static_cast<double>(event.nanoseconds() - waited),
                         {weight * cost.flops, weight * cost.bytes},
                         weight * std::max(cost.flops / p.gemm, cost.bytes / p.bandwidth)};
    if (event.pass == Pass::other) {
      row_named(p.rest, event.name) += row;
      continue;
    }
    const bool forward = event.pass == Pass::forward;
    row_named(forward ? p.forward : p.backward, event.name) += row;
    LayerRow& layer = row_named(p.layers, names.layer(event));
    (forward ? layer.forward : layer.backward) += row;
  }
  p.seconds += weight * 1e-9 * static_cast<double>(step.nanoseconds());
  row_named(p.rest, outside_operations) +=
      {"", weight, weight * 1e-9 * static_cast<double>(outside), {}, 0};
}

// Returns the items without the first and the last quarter.
template <class Item>
std::span<const Item> middle_half(const std::vector<Item>& sorted) {
  const size_t quarter = sorted.size() / 4;
  return std::span(sorted).subspan(quarter, sorted.size() - 2 * quarter);
}

}  // namespace

double highest_fraction_of_limit(const Profile& profile) {
  double highest = 0;
  const auto add = [&](const ProfileRow& row) {
    if (row.seconds > 0) highest = std::max(highest, row.least_seconds / row.seconds);
  };
  for (const std::vector<ProfileRow>* rows : {&profile.forward, &profile.backward, &profile.rest})
    std::ranges::for_each(*rows, add);
  for (const LayerRow& layer : profile.layers) {
    ProfileRow sum = layer.forward;
    add(sum += layer.backward);
  }
  return highest;
}

Profile profile_training(const Experiment& experiment, const Corpus& corpus, int64_t steps) {
  Profile p;
  p.steps = steps;
  p.gemm = gemm_rate(experiment.precision);
  p.bandwidth = memory_bandwidth();
  Trainer trainer(experiment, corpus);
  const PartNames names(trainer.model());
  for (int i = 0; i < 3; ++i) trainer.step();
  std::vector<StepObserver> profiled;
  std::vector<double> unprofiled;
  for (int64_t i = 0; i < steps; ++i) {
    const double start = now();
    trainer.step();
    unprofiled.push_back(now() - start);
    StepObserver step(profiled.empty() ? nullptr : &profiled.back());
    const int64_t live = pool_statistics().live_bytes;
    {
      const ObserverScope here(step);
      step.begin();
      p.loss = trainer.step().loss;
      step.end();
    }
    if (i + 1 == steps) p.memory = memory_of(step, names, live, trainer);
    profiled.push_back(std::move(step));
  }
  std::ranges::sort(profiled, {}, &StepObserver::nanoseconds);
  std::ranges::sort(unprofiled);
  const auto middle = middle_half(profiled);
  const double weight = 1 / static_cast<double>(middle.size());
  for (const StepObserver& step : middle) add_step(step, names, weight, p);
  for (const double seconds : middle_half(unprofiled)) p.unprofiled_seconds += weight * seconds;
  for (auto* rows : {&p.forward, &p.backward, &p.rest})
    std::ranges::stable_sort(*rows, std::greater(), &ProfileRow::seconds);
  const StepObserver& median = middle[middle.size() / 2];
  for (const Event& event : median.events())
    p.trace.push_back({event, names.part(event), names.layer(event)});
  p.trace_nanoseconds = median.nanoseconds();
  return p;
}

Profile profile_generation(const Experiment& experiment, const Corpus& corpus,
                           const GenerationTask& task, int64_t texts) {
  Profile p;
  p.steps = texts;
  p.gemm = gemm_rate(experiment.precision);
  p.bandwidth = read_bandwidth();
  Generator generator(experiment, corpus, task);
  const int64_t positions = generator.positions();
  const PartNames names(generator.model());
  generator.generate(positions);
  const double weight = 1 / static_cast<double>(texts * positions);
  for (int64_t i = 0; i < texts; ++i) {
    const double start = now();
    generator.generate(positions);
    p.unprofiled_seconds += weight * (now() - start);
    StepObserver text;
    const ObserverScope here(text);
    text.begin();
    generator.generate(positions);
    text.end();
    add_step(text, names, weight, p, true);
  }
  for (auto* rows : {&p.forward, &p.rest})
    std::ranges::stable_sort(*rows, std::greater(), &ProfileRow::seconds);
  return p;
}

}  // namespace heed
