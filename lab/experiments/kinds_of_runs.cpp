#include "lab/experiments/kinds_of_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "apps/cost/summary.h"
#include "apps/inference/kinds.h"
#include "apps/inference/scores.h"
#include "apps/training/saved_run.h"
#include "core/check.h"
#include "core/system_memory.h"

namespace heed {

std::vector<std::string> add_kind_scores(std::vector<ScoredRun>& runs, const std::string& by,
                                         const std::string& split) {
  const Kinds kinds(by);
  std::vector<std::string> names;
  for (ScoredRun& scored : runs) {
    if (scored.state != RunState::done) continue;
    const SavedRun run = SavedRun::open(scored.folder.path());
    const Experiment& experiment = run.config.experiment;
    check_input(has_exact_match(experiment), "--by: the examples of {} have no expected output",
                scored.folder.path());
    apply_settings(experiment);
    const LoadedRun loaded(run, "", LoadedRun::Needs::data);
    const ScopeGuard here;
    loaded.apply(here);
    const Corpus& corpus = loaded.corpus;
    const std::string chosen = split_or_default(corpus, split);
    const Dataset& dataset = split_of(corpus, chosen);
    check_evaluation_memory(experiment, corpus, chosen, available_memory());
    const TrainOptions& train = experiment.train;
    std::vector<Outcome> outcomes;
    evaluate(*loaded.model, dataset, corpus.framing, train.evaluation_batch(), &outcomes);
    for (const KindScores& each : kinds.scores(outcomes, corpus, dataset)) {
      const std::string kind = fmt::format("{}[{}].", chosen, each.kind);
      scored.scores.emplace_back(kind + "exact_match", each.exact_match());
      scored.scores.emplace_back(kind + "examples", each.examples);
      if (std::ranges::find(names, kind + "exact_match") == names.end())
        names.push_back(kind + "exact_match");
    }
  }
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
  });
  return names;
}

}  // namespace heed
