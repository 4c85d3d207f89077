#include "apps/training/trainer.h"

#include <algorithm>

#include "apps/inference/evaluation.h"
#include "apps/support/names.h"
#include "core/abandon.h"
#include "core/autograd.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "core/stage_observer.h"
#include "core/text.h"
#include "optim/save.h"

namespace heed {

namespace {

std::unique_ptr<Model> initial_model(const Experiment& experiment, const Corpus& corpus) {
  ScopeGuard here;
  here->seed = static_cast<uint64_t>(experiment.seed);
  here->step = here->micro_batch = here->calls = 0;
  std::unique_ptr<Model> model = make_model(experiment, corpus);
  std::vector<NamedParameter> parameters = model->parameters();
  for (const std::string& pattern : experiment.train.freeze) {
    bool matches = false;
    for (NamedParameter& p : parameters)
      if (matches_any(p.name, {pattern})) {
        p.tensor.set_requires_grad(false);
        matches = true;
      }
    check_input(matches,
                "`train.freeze`: no parameter matches {}; `heed summary` lists their names",
                in_quotes(pattern));
  }
  return model;
}

LabelSmoothing label_smoothing(const TrainOptions& train, const Corpus& corpus) {
  LabelSmoothing smoothing(train.label_smoothing, train.label_smoothing_over);
  if (train.label_smoothing == 0) return {};
  check_input(
      !corpus.format.numbers,
      "`train.label_smoothing` = {} is for targets that are tokens or labels, and these data "
      "have numbers: set it to 0",
      train.label_smoothing);
  if (train.label_smoothing_over != Smoothing::possible_others) return smoothing;
  if (corpus.framing != ModelKind::classifier)
    smoothing.impossible = corpus.target->vocabulary().begin();
  check_input(smoothing.impossible >= 0,
              "`train.label_smoothing_over` = \"possible_others\" needs a token that is never a "
              "target, <bos>, but these data have none: use \"others\"");
  return smoothing;
}

const Dataset& training_split(const Corpus& corpus) { return corpus.splits.at("train"); }

}  // namespace

Trainer::Trainer(const Experiment& e, const Corpus& corpus)
    : experiment_(e),
      corpus_(corpus),
      smoothing_(label_smoothing(e.train, corpus)),
      model_(initial_model(e, corpus)),
      optimizer_(e.optim, model_->parameters()),
      average_(optimizer_.layout().arena, {.ema = e.optim.ema,
                                           .snapshots = e.train.average_checkpoints,
                                           .every = e.train.average_every()}),
      schedule_(e.schedule, e.optim.lr, e.train.steps),
      shards_(e, model_sizes(e, corpus), smoothing_, *model_, optimizer_.layout().arena),
      batches_(Batches::shuffled(training_split(corpus), e.model.kind, e.train.batch_size,
                                 static_cast<uint64_t>(e.seed), e.data.bucketing)),
      micro_batches_(static_cast<size_t>(e.train.accumulate * OwnShards(e.train.shards).count)) {
  if (e.schedule.kind->uses_loss) plateau_.emplace(schedule_);
}

template <class F>
StepReport Trainer::timed(const F& step) {
  if (!OwnShards(experiment_.train.shards).are_all) return step();  // steps wait for one another
  StepReport report;
  trial_.run([&] {
    report = step();
    return static_cast<double>(report.tokens);
  });
  return report;
}

StepReport Trainer::step() {
  return timed([this] {
    const int64_t count = experiment_.train.accumulate, shards = experiment_.train.shards;
    const OwnShards own(shards);
    for (int64_t i = 0; i < count * own.count; ++i) {
      check_not_abandoned();
      const Examples examples = batches_.examples(steps_ * count + i / own.count);
      if (corpus_.seconds_waited)
        for (const Example* each : examples)
          check_longest(experiment_.model, corpus_,
                        std::max<int64_t>(
                            {std::ssize(each->source), std::ssize(each->input), each->positions}));
      batches_.write(shard_of(examples, own.first + i % own.count, shards),
                     micro_batches_[static_cast<size_t>(i)]);
    }
    stage_finished(batch_stage);
    return update_weights();
  });
}

StepReport Trainer::step(std::vector<Batch> micro_batches) {
  micro_batches_ = std::move(micro_batches);
  return timed([this] { return update_weights(); });
}

StepReport Trainer::update_weights() {
  StepReport report;
  optimizer_.set_lr(schedule_.rate(steps_ + 1));
  report.lr = optimizer_.lr();
  const StepGradient gradient = shards_.run(micro_batches_, steps_ + 1);
  check_not_abandoned();
  const ValueGuard<AbandonTest> whole(abandons, nullptr);
  const double scale = 1 / static_cast<double>(std::max<int64_t>(1, gradient.targets));
  report.loss = scale * gradient.loss;
  report.tokens = gradient.tokens;
  report.gradient_scale = scale;
  report.gradient_norm = optimizer_.step(scale);
  stage_finished(optimizer_stage);
  check_finite("the norm of the gradient", report.gradient_norm);
  average_.update(++steps_);
  return report;
}

std::vector<NamedParameter> Trainer::state() const {
  std::vector<NamedParameter> all = state_of(optimizer_);
  for (NamedParameter& array : average_.state()) all.push_back(std::move(array));
  return all;
}

}  // namespace heed
