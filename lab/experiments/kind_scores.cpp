#include "lab/experiments/kind_scores.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/cost/summary.h"
#include "apps/inference/kinds.h"
#include "apps/inference/scores.h"
#include "apps/support/names.h"
#include "apps/training/saved_run.h"
#include "core/system_memory.h"

namespace heed {

std::vector<std::string> add_kind_scores(std::vector<ScoredRun>& runs, const KindRequest& request) {
  std::optional<Kinds> kinds;
  if (!request.by.empty()) kinds.emplace(request.by);
  const ScoreRequest wanted{.outputs = false, .details = true, .positions = request.positions};
  std::vector<std::string> wholes, names;
  const auto add_name = [](std::vector<std::string>& list, const std::string& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (ScoredRun& scored : runs) {
    if (scored.state != RunState::done) continue;
    const SavedRun run = SavedRun::open(scored.folder.path());
    const Experiment& experiment = run.config.experiment;
    apply_settings(experiment);
    const TrainedModel loaded(run, "", TrainedModel::Needs::data);
    const TrainedModel::Here here(loaded);
    const Corpus& corpus = loaded.corpus;
    const std::string chosen = split_or_default(corpus, request.split);
    check_evaluation_memory(experiment, corpus, chosen, available_memory());
    const SplitScores details = score_split(*loaded.model, corpus, experiment, chosen, wanted);
    const std::string range = request.positions ? request.positions->text() : "",
                      whole = range.empty() ? chosen : fmt::format("{}[{}]", chosen, range);
    const Score* const fraction = Kinds::fraction(request.by, experiment, corpus);
    const std::string shown =
        fraction == &scores::exact_match ? scores::exact_match.name : scores::loss.name;
    const auto add = [&](const std::string& name, auto value) {
      if (!scored.find(name)) scored.scores.emplace_back(name, value);
    };
    details.scores.visit([&](const char* name, auto value) { add(whole + "." + name, value); });
    add_name(wholes, whole + "." + shown);
    if (!kinds) continue;
    for (const KindScores& each : kinds->scores(details, corpus, split_of(corpus, chosen))) {
      const std::string kind =
          fmt::format("{}[{}{}{}].", chosen, range, range.empty() ? "" : ", ", each.kind);
      if (fraction) add(kind + fraction->name, each.fraction(*fraction));
      add(kind + scores::loss.name, each.mean_loss());
      add(kind + "examples", each.examples);
      add_name(names, kind + shown);
    }
  }
  std::ranges::sort(names, comes_before);
  names.insert(names.begin(), wholes.begin(), wholes.end());
  return names;
}

std::pair<std::string, std::string> split_kind(const std::string& name) {
  const size_t open = name.find('['),
               close = name.ends_with(']') ? name.size() - 1 : name.rfind("].");
  if (open == name.npos || close == name.npos || close < open) return {name, ""};
  return {name.substr(0, open) + name.substr(close + 1), name.substr(open + 1, close - open - 1)};
}

}  // namespace heed
