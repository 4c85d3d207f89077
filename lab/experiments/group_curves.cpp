#include "lab/experiments/group_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>

#include "apps/support/table.h"
#include "core/check.h"
#include "core/joined.h"
#include "lab/experiments/effects.h"
#include "lab/experiments/score_kinds.h"

namespace heed {

std::vector<CurvePoint> mean_curve(const std::vector<const Curve*>& curves, bool geometric) {
  std::map<double, std::vector<double>> by_step;
  for (const Curve* curve : curves) {
    std::map<double, double> own;  // a resumed run may have a step twice: its last value counts
    for (size_t i = 0; i < curve->steps.size(); ++i) own[curve->steps[i]] = curve->values[i];
    for (const auto& [step, value] : own) by_step[step].push_back(value);
  }
  std::vector<CurvePoint> points;
  const double most = curves.empty() ? INFINITY : maximum_of(curves[0]->name);
  for (const auto& [step, values] : by_step)
    points.push_back({step, geometric             ? geometric_mean(values)
                            : std::isfinite(most) ? logit_mean(values, most)
                                                  : student_mean(values)});
  return points;
}

void throw_no_curve(const std::string& score, const std::vector<std::string>& names) {
  throw InputError(
      fmt::format("--score {}: no metrics.jsonl of these runs has such a curve; choose "
                  "one of {}",
                  score, names.empty() ? "none" : joined(names)));
}

std::string curves_csv(const SeedGroups& groups, const std::string& score) {
  Table table{{{"group", "step", "mean", "low", "high", "n"}}, {}};
  std::vector<std::string> names;
  for (const SeedGroup& group : groups.groups) {
    std::list<Curves> read;
    std::vector<const Curve*> curves;
    for (const ScoredRun& run : group.runs) {
      read.push_back(read_curves(run.folder.metrics()));
      if (const Curve* curve = read.back().find(score)) curves.push_back(curve);
      for (const Curve& curve : read.back().curves)
        if (!is_count(curve.name) && std::ranges::find(names, curve.name) == names.end())
          names.push_back(curve.name);
    }
    const std::string name = settings_text(groups.varying, group.values);
    for (const auto& [step, mean] : mean_curve(curves)) {
      const auto cell = [&](double x) {
        return std::isfinite(x) ? fmt::format("{}", x) : std::string();
      };
      table.rows.push_back({name, fmt::format("{}", step), fmt::format("{}", mean.mean),
                            cell(mean.interval.low), cell(mean.interval.high),
                            std::to_string(mean.n)});
    }
  }
  if (table.rows.size() == 1) throw_no_curve(score, names);
  return table.csv();
}

}  // namespace heed
