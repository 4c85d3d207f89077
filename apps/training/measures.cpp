#include "apps/training/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apps/inference/evaluation.h"
#include "apps/support/clock.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/training/training_loop.h"
#include "core/joined.h"
#include "core/ranks.h"
#include "core/text.h"
#include "data/first_examples.h"

namespace heed {
namespace {

// Of the training split, whose scores are those of evaluations: besides names of measures.
constexpr const char* train_split = "train";

class MeasureListener final : public TrainingListener {
 public:
  MeasureListener(TrainingContext& training, std::vector<const Measure*> measures)
      : TrainingListener(training), measures_(std::move(measures)) {
    const auto& splits = training.corpus.splits;
    const auto val = splits.find("val");
    const Dataset& read = val != splits.end() ? val->second : splits.at(train_split);
    examples_ = first_of(read, measured_examples);
    trained_on_ = first_of(splits.at(train_split), measured_examples);
    seconds_.resize(measures_.size());
    // So that a model without heads is rejected before it is trained.
    const Dataset one = first_of(read, 1);
    for (const Measure* measure : measures_) in_scope([&] { return numbers_of(*measure, one); });
  }

  void after_step(const StepReport&) override {
    if (training_.due(training_.experiment.train.measured_every())) write_row();
  }

 private:
  // Calls f as an evaluation is called, on this rank alone.
  template <class F>
  Json in_scope(F&& f) const {
    ScopeGuard here;
    here->step = static_cast<uint32_t>(training_.step());
    here->gradients = here->training = false;
    const ValueGuard<Ranks*> alone(Ranks::current, nullptr);
    return f();
  }

  Json numbers_of(const Measure& measure, const Dataset& examples) const {
    try {
      return measure.numbers(training_.trainer.model(), training_.experiment, training_.corpus,
                             examples);
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("train.measures: this model has no \"{}\": {}", measure.name, error.what()),
          {"train.measures"});
    }
  }

  Json train_scores() const {
    const Experiment& e = training_.experiment;
    const Measured scores = evaluate(training_.trainer.model(), trained_on_,
                                     training_.corpus.framing, e.train.evaluation_batch());
    Json json =
        Json::object().set("loss", scores.loss).set("token_accuracy", scores.token_accuracy);
    if (has_exact_match(e)) json.set("exact_match", scores.exact_match);
    return json;
  }

  void write_row() {
    const AveragedWeights average(training_.trainer);  // of all ranks
    if (!training_.writer) return;
    Json row = Json::object().set("step", training_.step());
    row.set(train_split, in_scope([&] { return train_scores(); }));
    for (size_t i = 0; i < measures_.size(); ++i) {
      const double begin = now();
      row.set(measures_[i]->name, in_scope([&] { return numbers_of(*measures_[i], examples_); }));
      seconds_[i] += now() - begin;
    }
    training_.write_row(row.set("seconds", to_milliseconds(training_.elapsed())));
    for (size_t i = 0; i < measures_.size(); ++i) warn(i);
  }

  // Once of each measure.
  void warn(size_t i) {
    const TrainOptions& train = training_.experiment.train;
    const std::string warning =
        warned_.contains(i) ? ""
                            : warning_of_cost(measures_[i]->name, seconds_[i],
                                              now() - training_.started, train.measure_every);
    if (warning.empty()) return;
    warned_.insert(i);
    logging::warning("{}", warning);
  }

  std::vector<const Measure*> measures_;
  Dataset examples_, trained_on_;
  std::vector<double> seconds_;  // that each took in this process
  std::set<size_t> warned_;
};

}  // namespace

std::string warning_of_cost(const std::string& measure, double taken, double elapsed,
                            int64_t every) {
  if (taken <= elapsed / 10) return "";
  return fmt::format(
      "train.measures: \"{}\" takes {:.0f} % of the time; raise train.measure_every ({}{})",
      measure, 100 * taken / elapsed, every, every > 0 ? "" : ": with every evaluation");
}

void add_measures(TrainingLoop& loop, Measures known) {
  const std::vector<std::string>& asked = loop.training().experiment.train.measures;
  if (asked.empty()) return;
  std::vector<std::string> names{train_split};
  for (const Measure* measure : known) names.emplace_back(measure->name);
  std::vector<const Measure*> chosen;
  for (const std::string& name : asked) {
    if (name == train_split) continue;
    check_keys(!known.empty(), {"train.measures"},
               "train.measures: this program was built without lab/, which measures \"{}\"; "
               "configure with cmake -DHEED_LAB=ON and build the program heed, or remove the name",
               name);
    const auto found = std::ranges::find(known, name, &Measure::name);
    check_keys(found != known.end(), {"train.measures"},
               "train.measures: there is no measure {}; the measures are {}", in_quotes(name),
               joined(names));
    if (std::ranges::find(chosen, *found) == chosen.end()) chosen.push_back(*found);
  }
  loop.add(std::make_unique<MeasureListener>(loop.training(), std::move(chosen)));
}

}  // namespace heed
