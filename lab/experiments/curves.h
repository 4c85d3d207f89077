// Curves: the numbers that a run writes into metrics.jsonl, by step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/support/json.h"

namespace heed {

struct Curve {
  std::string name;  // "loss", "val.loss": the path of the member in its row
  std::vector<double> steps, values;
};

struct Curves {
  std::vector<Curve> curves;  // in the order of their first rows
  int64_t damaged_rows = 0;   // left out

  const Curve* find(std::string_view name) const;  // nullptr if there is no such curve
  double last_step() const;                        // 0 without curves
};

// Returns the curves of the text of metrics.jsonl. Leaves out values that are not finite, damaged
// rows, and a last row without its end, which is just being written.
Curves curves_of(std::string_view metrics);
// The same of a file; no curves if it does not exist.
Curves read_curves(const std::string& path);

// Returns whether a score, such as "val.examples", counts what was scored.
bool is_count(const std::string& score);
// Returns whether a curve is about a part of the model: "statistics.heads.NAME.entropy",
// "heads.1.0.induction".
bool is_of_part(const std::string& curve);

}  // namespace heed
