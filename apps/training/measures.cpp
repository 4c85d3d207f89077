#include "apps/training/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apps/inference/scores.h"
#include "apps/support/clock.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/support/together.h"
#include "apps/training/training_loop.h"
#include "core/inference_scope.h"
#include "core/joined.h"
#include "core/text.h"
#include "data/first_examples.h"
#include "data/generated.h"

namespace heed {
namespace {

// Of the training split, whose scores are those of evaluations: besides names of measures.
constexpr const char* train_split = "train";

// {"1.0.induction": 0.5} → {"1": {"0": {"induction": 0.5}}}, in the order of the numbers.
Json nested(const NumbersByPath& numbers) {
  Json object = Json::object();
  for (const auto& [path, number] : numbers) {
    const std::string name = path.substr(0, path.find('.'));
    if (object.find(name)) continue;
    if (name.size() == path.size()) {
      object.set(name, number);
      continue;
    }
    NumbersByPath inside;
    for (const auto& [other, value] : numbers)
      if (other.starts_with(name + ".")) inside.emplace_back(other.substr(name.size() + 1), value);
    object.set(name, nested(inside));
  }
  return object;
}

// Calls f as an evaluation is called, on this rank only.
template <class F>
auto evaluated(F&& f) {
  const InferenceScope here;
  const Alone alone;
  return f();
}

class MeasureListener final : public TrainingListener {
 public:
  MeasureListener(TrainingContext& training, std::vector<const Measure*> measures)
      : TrainingListener(training), measures_(std::move(measures)) {
    examples_ = first_of(measured_split(training.corpus), measured_examples);
    const Dataset& train = training.corpus.splits.at(train_split);
    const int64_t count = training.experiment.train.measure_examples;
    check_input(
        count > 0 || train.size < unlimited,
        "`train.measure_examples` = 0 measures all training examples, but they have no end: "
        "set their number, or `data.train_size`");
    trained_on_ = first_of(train, count > 0 ? count : train.size);
    seconds_.resize(measures_.size());
  }

  void after_step(const StepReport&) override {
    const int64_t every = training_.experiment.train.measure_every;
    if (every > 0 ? training_.due(every) : training_.due_evaluation()) write_row();
  }

 private:
  Json train_scores() const {
    const Experiment& e = training_.experiment;
    const Measured measured = evaluate(training_.trainer.model(), trained_on_,
                                       training_.corpus.framing, e.train.evaluation_batch());
    const bool numbers = training_.corpus.format.numbers;
    Scores shown;
    for (const Score* const score :
         {&scores::loss, &scores::token_accuracy, &scores::exact_match, &scores::r2})
      if (score->offered(e) && (numbers ? score->of_numbers : score->of_tokens))
        if (const auto value = score->value(measured)) shown.values[score] = *value;
    return shown.json();
  }

  void write_row() {
    const AveragedWeights average(training_.trainer);  // of all ranks
    if (!training_.writer) return;
    ScopeGuard here;
    here->step = static_cast<uint32_t>(training_.step());
    Json row = Json::object().set("step", training_.step());
    row.set(train_split, evaluated([&] { return train_scores(); }));
    for (size_t i = 0; i < measures_.size(); ++i) {
      const double begin = now();
      row.set(measures_[i]->name, nested(evaluated([&] {
                return measures_[i]->numbers(training_.trainer.model(), training_.experiment,
                                             training_.corpus, examples_);
              })));
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

std::vector<const Measure*> chosen_measures(const Model& model, const Experiment& experiment,
                                            const Corpus& corpus, Measures known) {
  std::vector<std::string> names{train_split};
  for (const Measure* measure : known) names.emplace_back(measure->name);
  std::vector<const Measure*> chosen;
  for (const std::string& name : experiment.train.measures) {
    if (name == train_split) continue;
    check_input(!known.empty(),
                "`train.measures`: this program was built without lab/, which measures \"{}\"; "
                "configure with cmake -DHEED_LAB=ON and build the program heed, or remove the name",
                name);
    const auto found = std::ranges::find(known, name, &Measure::name);
    check_input(found != known.end(),
                "`train.measures`: there is no measure {}; the measures are {}", in_quotes(name),
                joined(names));
    if (std::ranges::find(chosen, *found) == chosen.end()) chosen.push_back(*found);
  }
  const Dataset one = first_of(measured_split(corpus), 1);
  for (const Measure* measure : chosen) try {
      evaluated([&] { return measure->numbers(model, experiment, corpus, one); });
    } catch (const InputError& error) {
      throw InputError(fmt::format("`train.measures`: this model has no \"{}\": {}", measure->name,
                                   error.what()));
    }
  return chosen;
}

void add_measures(TrainingLoop& loop, Measures known) {
  TrainingContext& training = loop.training();
  if (training.experiment.train.measures.empty()) return;
  loop.add(std::make_unique<MeasureListener>(
      training,
      chosen_measures(training.trainer.model(), training.experiment, training.corpus, known)));
}

}  // namespace heed
