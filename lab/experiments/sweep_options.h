// A sweep: a config, the keys that vary, and the seeds. Read from a TOML file as strictly as a
// config, or from the command line. docs/experiments.md shows the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/config/config.h"
#include "apps/config/experiment.h"

namespace heed {

enum class SweepMethod { grid, random, halving };
inline constexpr Named<SweepMethod> sweep_method_names[] = {{"grid", SweepMethod::grid},
                                                            {"random", SweepMethod::random},
                                                            {"halving", SweepMethod::halving}};

struct RandomOptions {
  int64_t count = 10;
  int64_t seed = 1;

  void fields(Fields& f);
};

struct HalvingOptions {
  std::string metric;  // "val.loss"
  std::vector<int64_t> rungs;
  double keep = 1.0 / 3;

  void fields(Fields& f);
};

// The keys of a sweep besides [set], [axes] and [[zip]], whose keys are those of a config.
struct SweepOptions {
  std::string config;
  std::string question;  // that its report begins with
  SweepMethod method = SweepMethod::grid;
  std::vector<int64_t> seeds;
  int64_t max_runs = 100;
  RandomOptions random;
  HalvingOptions halving;

  void fields(Fields& f);
};

struct AxisValue {
  ConfigValue value;
  std::string text;  // as TOML, in the form that heed writes: 0.001 for 1e-3
};

// { from, to, count, log }.
struct AxisRange {
  double from = 0, to = 0;
  int64_t count = 0;  // 0: with method = "random", any value of the range
  bool log = false;
  ConfigValue origin;  // where errors about its values point

  void fields(Fields& f);
  double at(double fraction) const;  // from (0) to (1)
};

// A key that varies: over values, or over a range.
struct Axis {
  std::string key;
  std::vector<AxisValue> values;
  std::optional<AxisRange> range;

  int64_t size() const { return range ? range->count : std::ssize(values); }
};

// Axes that vary together. A group has one axis unless it comes from [[zip]].
using AxisGroup = std::vector<Axis>;

struct Sweep {
  SweepOptions options;
  ConfigSource base;  // the config, [set] and --set
  std::vector<AxisGroup> groups;
};

// Files in the folder of a sweep: every value of the config of its runs, and what varies.
inline constexpr const char *base_file = "base.toml", *sweep_toml = "sweep.toml";
// Returns the path of sweep.toml in the folder of a sweep. It and base.toml need not exist. Throws
// InputError if one of them is a link, a FIFO or a device.
std::string sweep_file(const std::string& folder);

// What the command line says about a sweep.
struct SweepArguments {
  std::string path;               // of the file; "": none, but `config`
  std::string config;             // instead of that of the file
  std::vector<std::string> axes;  // "optim.lr=1e-3,5e-4"
  std::vector<std::string> set;   // "train.steps=1000"
  std::string seeds;              // "6": 1 … 6; "7-12"; "": those of the file
  std::optional<int64_t> max_runs;
};

// Reads a sweep. Sets each value of each axis in a copy of the base, so that an unknown key, a
// wrong type or a value out of range is an InputError with file, line and column. So is a
// contradiction, such as a key that varies twice, and a sweep of more runs than max_runs.
Sweep read_sweep(const SweepArguments& arguments);

// Returns the sweep as a file whose config is `config`.
std::string sweep_text(const Sweep& sweep, const std::string& config);

// Returns the type of a key of a config, such as "number"; "" if there is no such key.
std::string type_of_key(const std::string& key);

// Returns the experiment of the base, unchecked, or of the base with this value.
Experiment experiment_of(const Sweep& sweep);
AxisValue axis_value(const Sweep& sweep, const std::string& key, const ConfigValue& value);
// The same for a number in the range of an axis, rounded to `digits` significant digits, or to an
// integer if the key takes integers.
AxisValue range_value(const Sweep& sweep, const Axis& axis, double fraction, int digits);

// Returns the number of points: combinations of the groups, or of random.count.
double point_count(const Sweep& sweep);

}  // namespace heed
