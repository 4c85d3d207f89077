// Reads a sweep from its file and the command line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "apps/support/files.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/text.h"
#include "lab/experiments/sweep_options.h"

namespace heed {
namespace {

constexpr int64_t max_sweep_bytes = 1 << 20;
constexpr int range_digits = 6;
constexpr size_t max_question = 200;  // bytes

SplitEntries entries_of(const std::string& path) {
  return split_entries(parse_toml(read_file(path, "sweep", max_sweep_bytes), path),
                       {"set", "axes", "zip["});
}

// Where a value of a range stands.
std::string range_prefix(const AxisRange& range) { return range.origin.origin.error_prefix(); }

std::string axis_prefix(const Axis& axis) {
  return axis.range ? range_prefix(*axis.range) : axis.values[0].value.origin.error_prefix();
}

// "\"optim.lr\".from" → "optim.lr", and `rest` = "from". The quotes may be missing.
std::string unquoted_key(const std::string& name, std::string& rest) {
  rest.clear();
  if (name.starts_with('"')) {
    const size_t end = name.find('"', 1);
    if (end + 1 < name.size()) rest = name.substr(end + 2);
    return name.substr(1, end - 1);
  }
  const size_t dot = name.rfind('.');
  const std::string last = name.substr(dot + 1);
  if (dot == name.npos || (last != "from" && last != "to" && last != "count" && last != "log"))
    return name;
  rest = last;
  return name.substr(0, dot);
}

// Returns the value of a key in a file.
ConfigValue value_in_file(const TomlEntry& entry, const std::string& file) {
  return {entry.value, {Origin::Kind::file, file, entry.line, entry.column}, ""};
}

// Reads --seeds: "6" stands for 1 … 6, "7-12" for 7 … 12.
std::vector<int64_t> seeds_of(const std::string& text) {
  constexpr double most = 1e6;  // seeds
  const size_t dash = text.find('-', 1);
  const double last = number_of_text(text.substr(dash == text.npos ? 0 : dash + 1)).value_or(NAN),
               first = dash == text.npos ? 1 : number_of_text(text.substr(0, dash)).value_or(NAN);
  check_input(first >= 0 && last >= first && last <= 9e15 && last - first < most &&
                  first == std::floor(first) && last == std::floor(last),
              "--seeds {}: expected their number, such as 6, or the first and the last, such as "
              "7-12",
              in_quotes(text));
  std::vector<int64_t> seeds(static_cast<size_t>(last - first) + 1);
  std::iota(seeds.begin(), seeds.end(), static_cast<int64_t>(first));
  return seeds;
}

class SweepReader {
 public:
  explicit SweepReader(const SweepArguments& arguments) : arguments_(arguments) {}

  Sweep read() {
    SplitEntries entries;
    if (!arguments_.path.empty()) {
      entries = entries_of(arguments_.path);
      origins_ = ConfigSource::of(entries.others, arguments_.path).fill(sweep_.options);
    }
    read_options();
    read_base(entries.sections["set"]);
    for (const auto& [section, keys] : entries.sections)
      if (section != "set") add_groups(section, keys);
    for (const std::string& axis : arguments_.axes) add_typed_axis(axis);
    check_groups();
    check_count();
    expand_ranges();
    return std::move(sweep_);
  }

 private:
  // Returns where the sweep sets a key, for an error.
  std::string prefix(const std::string& key) const {
    const auto origin = origins_.find(key);
    return origin == origins_.end() ? "" : origin->second.error_prefix();
  }

  void read_options() {
    SweepOptions& o = sweep_.options;
    if (!arguments_.config.empty()) o.config = absolute_path(arguments_.config, ".");
    check_input(!o.config.empty(),
                "{}config: a sweep needs the config that its runs start from, such as config = "
                "\"reverse.toml\"",
                arguments_.path.empty() ? "" : arguments_.path + ": ");
    check_input(o.question.size() <= max_question && escaped(o.question) == o.question &&
                    o.question.find_first_of("\n\t") == o.question.npos,
                "{}question: expected one line of at most {} bytes", prefix("question"),
                max_question);
    if (!arguments_.seeds.empty()) o.seeds = seeds_of(arguments_.seeds);
    if (arguments_.max_runs) o.max_runs = *arguments_.max_runs;
    check_input(std::set(o.seeds.begin(), o.seeds.end()).size() == o.seeds.size(),
                "{}seeds: expected each seed once", prefix("seeds"));
    for (const auto& [key, origin] : origins_)
      for (const SweepMethod method : {SweepMethod::random, SweepMethod::halving})
        check_input(o.method == method ||
                        !key.starts_with(std::string(name_of(sweep_method_names, method)) + "."),
                    "{}{}: only used with method = \"{}\"", origin.error_prefix(), key,
                    name_of(sweep_method_names, method));
    check_input(o.method != SweepMethod::halving || !o.halving.rungs.empty(),
                "{}halving.rungs: expected the steps at which the worse points end, such as [500, "
                "1500]",
                prefix("method"));
    check_input(std::ranges::adjacent_find(o.halving.rungs, std::greater_equal<>()) ==
                    o.halving.rungs.end(),
                "{}halving.rungs: expected ascending steps", prefix("halving.rungs"));
  }

  void read_base(const std::vector<TomlEntry>& set) {
    SweepOptions& o = sweep_.options;
    sweep_.base = ConfigSource::read(o.config);
    std::string rest;
    for (const TomlEntry& entry : set) {
      const std::string key = unquoted_key(entry.key, rest);
      set_keys_.insert(key);
      sweep_.base.set(key, value_in_file(entry, arguments_.path));
    }
    for (const std::string& assignment : arguments_.set) sweep_.base.set(assignment);
    keep_no_snapshots();
    const Experiment base = experiment_of(sweep_);
    if (o.seeds.empty()) o.seeds = {base.seed};
  }

  // A sweep compares scores: train.snapshots is 0 in it, unless it is set.
  void keep_no_snapshots() {
    const std::string key = "train.snapshots";
    Experiment any;
    if (!sweep_.base.fill(any).contains(key))
      sweep_.base.set(key, {typed_value("0", key).value, Origin(), ""});
  }

  void add_groups(const std::string& section, const std::vector<TomlEntry>& entries) {
    AxisGroup group;
    std::map<std::string, std::vector<TomlEntry>> ranges;
    std::string rest;
    for (const TomlEntry& entry : entries) {
      const std::string key = unquoted_key(entry.key, rest);
      const ConfigValue value = value_in_file(entry, arguments_.path);
      if (rest.empty()) {
        group.push_back(listed_axis(key, value));
        continue;
      }
      std::vector<TomlEntry>& range = ranges[key];
      if (range.empty()) group.push_back({key, {}, AxisRange{.origin = value}});
      range.push_back(entry);
      range.back().key = rest;
    }
    for (Axis& axis : group)
      if (axis.range) read_range(axis, ranges[axis.key]);
    if (section != "axes") {
      sweep_.groups.push_back(std::move(group));
      return;
    }
    for (Axis& axis : group) sweep_.groups.push_back({std::move(axis)});
  }

  Axis listed_axis(const std::string& key, const ConfigValue& list) const {
    const auto* elements = std::get_if<std::vector<TomlValue>>(&list.value.value);
    const std::string where = list.origin.error_prefix();
    check_input(elements, "{}{}: expected a list of values or {{ from, to, count }}, found {}",
                where, key, describe(list.value));
    check_input(!elements->empty(), "{}{}: expected at least one value, found an empty list", where,
                key);
    Axis axis{key, {}, std::nullopt};
    for (const TomlValue& element : *elements)
      axis.values.push_back(axis_value(sweep_, key, {element, list.origin, ""}));
    return axis;
  }

  void read_range(Axis& axis, const std::vector<TomlEntry>& entries) {
    AxisRange& range = *axis.range;
    const Origins origins = ConfigSource::of(entries, arguments_.path).fill(range);
    const std::string where = range_prefix(range) + axis.key;
    for (const char* name : {"from", "to"})
      check_input(origins.contains(name), "{}: a range needs from and to", where);
    check_input(origins.contains("count") || sweep_.options.method == SweepMethod::random,
                "{}: a range needs count, the number of its values; only method = \"random\" takes "
                "any value of it",
                where);
    check_input(!range.log || (range.from > 0 && range.to > 0),
                "{}: with log = true from and to must be positive", where);
    const std::string type = type_of_key(axis.key);
    check_input(type.empty() || type == "number" || type == "integer",
                "{}: expected a list of values; a range is for keys that take numbers", where);
    // Both ends: an unknown key or a value out of range is found before anything is counted.
    for (const double end : {0.0, 1.0}) range_value(sweep_, axis, end, range_digits);
  }

  // Splits "1e-3,[2, 3]" at the commas outside of quotes and brackets.
  static std::vector<std::string> split_values(const std::string& words) {
    std::vector<std::string> parts(1);
    int depth = 0;
    char quote = 0;
    for (const char c : words) {
      if (quote ? c == quote : c == '"' || c == '\'') quote = quote ? 0 : c;
      if (!quote) depth += (c == '[') - (c == ']');
      if (c == ',' && depth == 0 && !quote)
        parts.emplace_back();
      else
        parts.back() += c;
    }
    return parts;
  }

  // Replaces the axis of that key in the file.
  void add_typed_axis(const std::string& words) {
    const size_t equals = words.find('=');
    const std::string option = fmt::format("--axis {}", shortened(words));
    check_input(equals != words.npos && equals > 0 && equals + 1 < words.size(),
                "{}: expected a key and its values, such as --axis optim.lr=1e-3,5e-4", option);
    Axis axis{words.substr(0, equals), {}, std::nullopt};
    for (const std::string& value : split_values(words.substr(equals + 1)))
      axis.values.push_back(axis_value(sweep_, axis.key, typed_value(value, option)));
    const auto same = std::ranges::find_if(sweep_.groups, [&](const AxisGroup& group) {
      return group.size() == 1 && group[0].key == axis.key;
    });
    if (same != sweep_.groups.end())
      *same = {std::move(axis)};
    else
      sweep_.groups.push_back({std::move(axis)});
  }

  void check_groups() const {
    const ConfigListing base = list_config(experiment_of(sweep_));
    std::set<std::string> keys;
    for (const AxisGroup& group : sweep_.groups)
      for (const Axis& axis : group) {
        const std::string where = axis_prefix(axis) + axis.key;
        check_input(keys.insert(axis.key).second, "{}: varies twice; remove one of its axes",
                    where);
        check_input(!set_keys_.contains(axis.key), "{}: is in [set], too; remove one of the two",
                    where);
        check_input(axis.key != "seed", "{}: the seeds are an axis of their own: seeds = [1, 2, 3]",
                    where);
        check_input(effect_of(base, axis.key) != Field::Effect::none,
                    "{}: the result of a run does not depend on it; set it in [set]", where);
        check_input(group.size() == 1 || (!axis.range || axis.range->count > 0),
                    "{}: a range in [[zip]] needs count", where);
        check_input(axis.size() == group[0].size(),
                    "{}: {} values, but {} has {}; keys of one [[zip]] need as many", where,
                    axis.size(), group[0].key, group[0].size());
        std::set<std::string> texts;
        for (const AxisValue& value : axis.values)
          check_input(group.size() > 1 || texts.insert(value.text).second, "{}: {} is there twice",
                      where, value.text);
      }
  }

  void check_count() const {
    const SweepOptions& o = sweep_.options;
    const double points = point_count(sweep_), seeds = static_cast<double>(o.seeds.size());
    check_input(points * seeds <= static_cast<double>(o.max_runs),
                "{}the sweep has {:.0f} runs ({:.0f} points, {:.0f} seeds), more than max_runs = "
                "{}: vary less, or raise max_runs",
                prefix("max_runs"), points * seeds, points, seeds, o.max_runs);
    if (o.method != SweepMethod::random) return;
    double distinct = 1;
    for (const AxisGroup& group : sweep_.groups)
      distinct *= group[0].size() > 0 ? static_cast<double>(group[0].size()) : 1e9;
    check_input(static_cast<double>(o.random.count) <= distinct,
                "{}random.count = {}: the axes have only {:.0f} different points",
                prefix("random.count"), o.random.count, distinct);
  }

  void expand_ranges() {
    for (AxisGroup& group : sweep_.groups)
      for (Axis& axis : group) {
        if (!axis.range || axis.range->count == 0) continue;
        const auto last = static_cast<double>(axis.range->count - 1);
        std::set<std::string> texts;
        for (double i = 0; i <= last; ++i) {
          axis.values.push_back(range_value(sweep_, axis, i / last, range_digits));
          check_input(texts.insert(axis.values.back().text).second,
                      "{}{}: the range has {} twice; lower its count", range_prefix(*axis.range),
                      axis.key, axis.values.back().text);
        }
        axis.range.reset();
      }
  }

  const SweepArguments& arguments_;
  Sweep sweep_;
  Origins origins_;  // of the options
  std::set<std::string> set_keys_;
};

}  // namespace

std::string sweep_file(const std::string& folder) {
  own_file(folder, base_file);
  return own_file(folder, sweep_toml);
}

Sweep read_sweep(const SweepArguments& arguments) { return SweepReader(arguments).read(); }

}  // namespace heed
