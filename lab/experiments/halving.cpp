#include "lab/experiments/halving.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/score_kinds.h"

namespace heed {

constexpr std::string_view val_prefix = "val.";

std::string metric_of(const std::string& name, const Experiment& experiment) {
  const Score* const best_by = experiment.train.best_by;
  if (name.empty()) return std::string(val_prefix) + best_by->name;
  std::vector<std::string> known;  // what each evaluation writes
  for (const Score* const score : scores::all)
    if (score == best_by ||
        (score->offered(experiment) && (!score->reads_outputs || best_by->reads_outputs)))
      known.emplace_back(score->name);
  const std::vector<std::string>& measures = experiment.train.measures;
  const std::string measure = name.substr(0, name.find('.'));
  if (std::ranges::find(measures, measure) != measures.end() ||
      (measure == "train" && !measures.empty())) {
    check_score_names("halving.metric", {name});
    return name;
  }
  check_input(name.starts_with(val_prefix) &&
                  std::ranges::find(known, name.substr(val_prefix.size())) != known.end(),
              "halving.metric = {}: expected val. and one of {}; another score only if "
              "train.best_by names it, or train.measures what it is about",
              in_quotes(name), joined(known));
  return name;
}

void check_rungs(const std::vector<int64_t>& rungs, const Experiment& experiment) {
  const TrainOptions& train = experiment.train;
  for (const int64_t rung : rungs) {
    check_input(rung < train.steps, "halving.rungs: {} is not before the end, train.steps = {}",
                rung, train.steps);
    check_input(train.evaluate_factor > 1 || train.evaluates_at(rung),
                "halving.rungs: at step {} there is no evaluation: expected a multiple of "
                "train.evaluate_every = {}",
                rung, train.evaluate_every);
    check_input(train.evaluates_at(rung),
                "halving.rungs: at step {} there is no evaluation, with train.evaluate_every = {} "
                "and train.evaluate_factor = {}",
                rung, train.evaluate_every, train.evaluate_factor);
  }
}

std::optional<double> score_at(const std::string& metrics_path, const std::string& metric,
                               int64_t step) {
  const Curves curves = read_curves(metrics_path);
  const Curve* const scores = curves.find(metric);
  if (!scores) return std::nullopt;
  const auto after = std::ranges::upper_bound(scores->steps, static_cast<double>(step));
  const auto count = static_cast<size_t>(after - scores->steps.begin());
  return count > 0 ? std::optional(scores->values[count - 1]) : std::nullopt;
}

std::vector<size_t> best_points(const std::vector<std::optional<double>>& scores,
                                bool lower_is_better, double keep) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    if (!scores[a] || !scores[b]) return scores[a].has_value() && !scores[b].has_value();
    return lower_is_better ? *scores[a] < *scores[b] : *scores[a] > *scores[b];
  });
  const double share = std::round(keep * static_cast<double>(scores.size()));
  order.resize(std::min(order.size(), static_cast<size_t>(std::max(1.0, share))));
  std::ranges::sort(order);
  return order;
}

}  // namespace heed
