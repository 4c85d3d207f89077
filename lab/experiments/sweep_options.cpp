#include "lab/experiments/sweep_options.h"

#include <fmt/format.h>

#include <cmath>

#include "core/joined.h"
#include "core/text.h"

namespace heed {

void RandomOptions::fields(Fields& f) {
  f.integer("count", count, {1, 1e6}, "number of points");
  f.integer("seed", seed, {0, 9e15}, "seed of their choice");
}

void HalvingOptions::fields(Fields& f) {
  f.text("metric", metric, "score that decides, such as val.loss; empty: that of train.best_by");
  f.integers("rungs", rungs, {1, 1e12}, "steps at which the worse points end, ascending");
  f.number("keep", keep, {0.001, 0.999}, "fraction of the points that continue after a rung");
}

void SweepOptions::fields(Fields& f) {
  f.path("config", config, "config of all runs");
  f.text("question", question, "what the sweep asks: the first line of its report");
  f.choice("method", method, sweep_method_names, "how points are chosen");
  f.integers("seeds", seeds, {0, 9e15}, "seeds of each point; empty: that of the config");
  f.integer("max_runs", max_runs, {1, 1e6}, "maximum number of runs of the sweep");
  f.section("random", random, "points of method = \"random\"");
  f.section("halving", halving, "rungs of method = \"halving\"");
}

void AxisRange::fields(Fields& f) {
  f.number("from", from, {}, "first value");
  f.number("to", to, {}, "last value");
  f.integer("count", count, {2, 1e6}, "number of values");
  f.flag("log", log, "equal ratios instead of equal differences");
}

double AxisRange::at(double fraction) const {
  return log ? from * std::pow(to / from, fraction) : from + (to - from) * fraction;
}

static std::string list_text(const Axis& axis) {
  if (axis.range)
    return fmt::format("{{ from = {}, to = {}, log = {} }}", toml_text(axis.range->from),
                       toml_text(axis.range->to), axis.range->log);
  std::vector<std::string> texts;
  for (const AxisValue& value : axis.values) texts.push_back(value.text);
  return "[" + joined(texts) + "]";
}

std::string sweep_text(const Sweep& sweep, const std::string& config) {
  SweepOptions options = sweep.options;
  options.config = config;
  ConfigListing listing = list_config(options);
  std::erase_if(listing, [&](const ConfigEntry& entry) {  // those of other methods
    return !entry.section.empty() && entry.section != name_of(sweep_method_names, options.method);
  });
  std::string text =
      fmt::format("# A sweep, as `heed sweep` resolved it. {} has every value of its config.\n{}",
                  config, config_text(listing));
  text += "\n[axes]\n";
  for (const AxisGroup& group : sweep.groups)
    if (group.size() == 1)
      text += fmt::format("{} = {}\n", string_literal(group[0].key), list_text(group[0]));
  for (const AxisGroup& group : sweep.groups) {
    if (group.size() == 1) continue;
    text += "\n[[zip]]\n";
    for (const Axis& axis : group)
      text += fmt::format("{} = {}\n", string_literal(axis.key), list_text(axis));
  }
  return text;
}

std::string type_of_key(const std::string& key) {
  const ConfigListing listing = list_config(Experiment());
  const ConfigEntry* const entry = find_entry(listing, key);
  return entry ? entry->type : "";
}

Experiment experiment_of(const Sweep& sweep) {
  Experiment experiment;
  sweep.base.fill(experiment);
  return experiment;
}

AxisValue axis_value(const Sweep& sweep, const std::string& key, const ConfigValue& value) {
  ConfigSource source = sweep.base;
  source.set(key, value);
  Experiment experiment;
  source.fill(experiment);
  return {value, value_of(list_config(experiment), key)};
}

AxisValue range_value(const Sweep& sweep, const Axis& axis, double fraction, int digits) {
  ConfigValue value = axis.range->origin;
  const double number = axis.range->at(fraction);
  if (type_of_key(axis.key) == "integer")
    value.value.value = std::llround(number);
  else
    value.value.value = std::stod(fmt::format("{:.{}g}", number, digits));
  return axis_value(sweep, axis.key, value);
}

double point_count(const Sweep& sweep) {
  if (sweep.options.method == SweepMethod::random)
    return static_cast<double>(sweep.options.random.count);
  double count = 1;
  for (const AxisGroup& group : sweep.groups) count *= static_cast<double>(group[0].size());
  return count;
}

}  // namespace heed
