// Trainer: training steps, reproducibility, evaluation, frozen parameters and allocations.
#include "apps/training/trainer.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "allocations.h"
#include "apps/config/config.h"
#include "apps/config/load_config.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/kinds.h"
#include "apps/inference/positions.h"
#include "apps/inference/scores.h"
#include "apps/support/names.h"
#include "core/parallel.h"
#include "out_of_range.h"
#include "temporary.h"
#include "thread_ranks.h"

using namespace heed;

namespace {

Experiment copying() {
  Experiment e;
  e.train.steps = 400;
  e.train.batch_size = 16;
  e.model.layers = 1;
  e.model.dim = 32;
  e.model.heads = 2;
  e.optim.lr = 5e-3;
  e.data.kind = &data_kinds::copy;
  e.data.symbols = 8;
  e.data.lengths = {1, 6};
  e.data.val_size = 100;
  e.data.test_size = 100;
  return e;
}

std::vector<real> weights(Trainer& trainer) {
  std::vector<real> all;
  for (const NamedParameter& p : trainer.model().parameters())
    all.insert(all.end(), p.tensor.values().begin(), p.tensor.values().end());
  return all;
}

struct Training {
  Experiment experiment;
  Corpus corpus;
  Trainer trainer;
  explicit Training(const Experiment& e)
      : experiment(e),
        corpus(load_corpus(e.data, e.model.kind, static_cast<uint64_t>(e.seed))),
        trainer(experiment, corpus) {}
};

}  // namespace

TEST_CASE("shards of a batch are its examples, in order, as equal in number as possible") {
  const Example examples[7] = {};
  const Example* batch[7];
  for (size_t i = 0; i < 7; ++i) batch[i] = &examples[i];
  size_t next = 0;
  for (int64_t s = 0; s < 3; ++s) {
    const auto shard = shard_of(batch, s, 3);
    CHECK(shard.size() == (s < 2 ? 2 : 3));
    for (const Example* example : shard) CHECK(example == batch[next++]);
  }
  CHECK(next == 7);
  CHECK_THROWS_WITH_AS(shard_of(batch, 7, 8), doctest::Contains("no shard 7 of 8 in a batch of 7"),
                       Error);
  CHECK_THROWS_AS(shard_of(batch, 3, 3), Error);
}

TEST_CASE("each kind of model learns a small task") {
  const auto exact_match = [](Experiment e) {
    Training t(e);
    for (int64_t i = 0; i < e.train.steps; ++i) t.trainer.step();
    return evaluate(t.trainer.model(), t.corpus.splits.at("val"), e.model.kind, 50).exact_match;
  };
  Experiment e = copying();
  e.train.steps = 1500;
  e.schedule.kind = &schedules::linear;
  CHECK(exact_match(e) > 0.9);
  e.model.kind = ModelKind::language_model;
  e.model.layers = 2;
  CHECK(exact_match(e) > 0.9);
  e.model.kind = ModelKind::classifier;
  e.data.kind = &data_kinds::set;  // the number of distinct symbols
  e.data.lengths = {3, 6};
  e.train.steps = 400;
  CHECK(exact_match(e) > 0.9);
}

TEST_CASE("micro-batches give the same step as one large batch") {
  Experiment e = copying();
  e.train.batch_size = 24;
  e.train.accumulate = 1;
  Training large(e);
  e.train.batch_size = 6;
  e.train.accumulate = 4;
  Training small(e);
  const StepReport a = large.trainer.step(), b = small.trainer.step();
  CHECK(b.loss == doctest::Approx(a.loss).epsilon(1e-5));
  CHECK(b.gradient_norm == doctest::Approx(a.gradient_norm).epsilon(1e-5));
  CHECK(b.tokens == a.tokens);
}

TEST_CASE("training is bitwise reproducible for any number of threads and depends on the seed") {
  const auto trained = [](int threads, int64_t seed) {
    Experiment e = copying();
    e.seed = seed;
    e.model.dim = 128;  // large enough for several threads
    e.model.dropout = 0.2;
    e.model.attention_dropout = 0.2;
    e.train.accumulate = 2;
    const int before = thread_count();
    set_thread_count(threads);
    Training t(e);
    for (int i = 0; i < 3; ++i) t.trainer.step();
    set_thread_count(before);
    return weights(t.trainer);
  };
  const std::vector<real> expected = trained(1, 1);
  CHECK(trained(2, 1) == expected);
  CHECK(trained(3, 1) == expected);
  CHECK(trained(2, 2) != expected);
}

namespace {

// A model in which every shard differs: dropout, lengths, a frozen and a tied parameter.
Experiment sharded(int64_t shards) {
  Experiment e = copying();
  e.model.dropout = 0.2;
  e.model.tie_weights = true;
  e.train.freeze = {"*.norm*"};
  e.train.accumulate = 2;
  e.train.shards = shards;
  return e;
}

}  // namespace

TEST_CASE("shards give the same step as the whole batch, without dropout") {
  Experiment e = sharded(1);
  e.model.dropout = 0;
  Training whole(e);
  const StepReport expected = whole.trainer.step();
  for (const int64_t shards : {2, 8, 16}) {
    CAPTURE(shards);
    e.train.shards = shards;
    Training t(e);
    const StepReport report = t.trainer.step();
    CHECK(report.loss == doctest::Approx(expected.loss).epsilon(1e-5));
    CHECK(report.gradient_norm == doctest::Approx(expected.gradient_norm).epsilon(1e-5));
    CHECK(report.tokens == expected.tokens);
  }
}

TEST_CASE("shards: the same bits for any number of threads, also if it changes") {
  const int before = thread_count();
  const auto trained = [&](const Experiment& e, std::initializer_list<int> threads) {
    Training t(e);
    std::vector<double> losses;
    for (const int count : threads) {
      set_thread_count(count);
      losses.push_back(t.trainer.step().loss);
    }
    set_thread_count(before);
    return std::pair(weights(t.trainer), losses);
  };
  for (const int64_t shards : {2, 8}) {
    CAPTURE(shards);
    const Experiment e = sharded(shards);
    const auto expected = trained(e, {1, 1, 1, 1});
    CHECK(trained(e, {2, 2, 2, 2}) == expected);
    CHECK(trained(e, {8, 8, 8, 8}) == expected);
    CHECK(trained(e, {1, 4, 3, 2}) == expected);
  }
  CHECK(trained(sharded(2), {1, 1}) != trained(sharded(4), {1, 1}));
}

TEST_CASE("ranks: the same bits for any number of them, and of the threads of each") {
  const int before = thread_count();
  Experiment e = sharded(8);
  e.optim.ema = 0.9;
  const auto trained = [&](int ranks, int threads) {
    std::vector<real> result;
    std::vector<double> scores;
    on_ranks(ranks, [&] {
      set_thread_count(threads);
      Training t(e);
      std::vector<double> losses;
      for (int step = 0; step < 3; ++step) losses.push_back(t.trainer.step().loss);
      const AveragedWeights average(t.trainer);
      EvaluationDetails details;
      const Measured val =
          evaluate(t.trainer.model(), t.corpus.splits.at("val"), e.model.kind, 16, &details);
      if (rank() > 0) return;
      result = weights(t.trainer);
      scores = losses;
      scores.insert(scores.end(), {val.loss, val.token_accuracy, val.exact_match,
                                   static_cast<double>(details.outcomes.size())});
      for (const TargetOutcome& each : details.targets) scores.push_back(each.predicted_loss);
    });
    set_thread_count(before);
    return std::pair(result, scores);
  };
  const auto expected = trained(1, 1);
  for (const int ranks : {2, 4, 8}) {
    CAPTURE(ranks);
    CHECK(trained(ranks, 1) == expected);
  }
  CHECK(trained(1, 4) == expected);
}

TEST_CASE("evaluation: the scores of positions and of targets add up to those of the split") {
  const Experiment e = sharded(8);
  Training t(e);
  const Dataset& val = t.corpus.splits.at("val");
  EvaluationDetails details;
  const Measured whole = evaluate(t.trainer.model(), val, e.model.kind, 16, &details);
  const std::map<int64_t, KindScores> positions = scores_by_position(details.targets);
  REQUIRE(positions.size() > 3);
  REQUIRE(std::ssize(details.targets) == whole.targets);
  double loss = 0, hits = 0;
  int64_t count = 0;
  for (const auto& each : positions) {
    const int64_t position = each.first;
    const KindScores& scores = each.second;
    // Each agrees with the range of this position.
    const Measured here =
        evaluate(t.trainer.model(), at_positions(val, {position, position}), e.model.kind, 16);
    CHECK(here.targets == scores.targets);
    CHECK(here.examples == scores.targets);  // of the examples that are long enough
    CHECK(here.exact_match == here.token_accuracy);
    CHECK(here.token_accuracy == scores.fraction(scores::token_accuracy));
    CHECK(here.loss == doctest::Approx(scores.mean_loss()).epsilon(1e-5));
    loss += scores.loss;
    hits += static_cast<double>(scores.correct_targets);
    count += scores.targets;
  }
  for (const TargetOutcome& target : details.targets)
    CHECK((target.predicted_loss < target.loss || target.expected == target.predicted));
  CHECK(count == whole.targets);
  CHECK(loss / static_cast<double>(count) == doctest::Approx(whole.loss).epsilon(1e-5));
  CHECK(hits / static_cast<double>(count) == doctest::Approx(whole.token_accuracy));
  size_t next = 0;  // the targets of each example in turn
  for (const Outcome& outcome : details.outcomes) {
    double sum = 0;
    for (int64_t i = 0; i < outcome.targets; ++i) sum += details.targets.at(next++).loss;
    CHECK(sum == outcome.loss);
  }
}

TEST_CASE("groups: the scores of each value of each group, in files and in a table") {
  const Experiment e = sharded(8);
  Training t(e);
  Corpus corpus = t.corpus;
  // Three combinations of two groups, and examples in none.
  corpus.groups = {
      {{"length", "2"}, {"kind", "a"}}, {{"length", "10"}, {"kind", "a"}}, {{"", "b.c"}}};
  const Dataset plain = corpus.splits.at("val");
  Dataset& val = corpus.splits.at("val");
  val.get = [&plain](int64_t i, Example& example) {
    plain.get(i, example);
    example.group = static_cast<int32_t>(i % 4) - 1;
  };
  const SplitScores split = score_split(t.trainer.model(), corpus, e, "val");
  std::map<std::string, std::vector<double>> expected;  // examples, right, targets, loss
  for (size_t i = 0; i < split.outcomes.size(); ++i) {
    const Outcome& outcome = split.outcomes[i];
    REQUIRE(outcome.group == static_cast<int32_t>(i % 4) - 1);
    if (outcome.group < 0) continue;
    for (const auto& [name, value] : corpus.groups[static_cast<size_t>(outcome.group)]) {
      std::vector<double>& sums = expected[name.empty() ? value : name + " " + value];
      sums.resize(4);
      sums[0] += 1;
      sums[1] += outcome.correct;
      sums[2] += static_cast<double>(outcome.targets);
      sums[3] += outcome.loss;
    }
  }
  const Json json = split.scores.json();
  CHECK(expected.size() == 4);
  for (const auto& each : expected) {
    const auto& sums = each.second;
    const auto number = [&](const char* score) {
      return json.at(fmt::format("{}[{}]", score, each.first)).number();
    };
    CHECK(number("examples") == sums[0]);
    CHECK(number("exact_match") == doctest::Approx(sums[1] / sums[0]));
    CHECK(number("loss") == doctest::Approx(sums[3] / sums[2]));
    CHECK(number("token_accuracy") >= number("exact_match"));
  }
  CHECK(Scores::from(json).json().text() == json.text());
  // One group by its name: its values in the order of their numbers.
  const ScoreRequest request{.details = true};
  const Kinds kinds("length");
  const auto by_length =
      kinds.scores(score_split(t.trainer.model(), corpus, e, "val", request), corpus, val);
  REQUIRE(by_length.size() == 2);
  CHECK(by_length[0].kind == "2");
  CHECK(by_length[1].kind == "10");
  CHECK(by_length[1].mean_loss() == json.at("loss[length 10]").number());
  const auto unnamed =
      Kinds("group").scores(score_split(t.trainer.model(), corpus, e, "val", request), corpus, val);
  REQUIRE(unnamed.size() == 1);
  CHECK(unnamed[0].kind == "b.c");
  CHECK(&*find_score("val.loss[b.c]") == &scores::loss);
}

TEST_CASE("positions are read as a range that includes both ends") {
  CHECK(PositionRange::parse("32:63").first == 32);
  CHECK(PositionRange::parse("32:63").last == 63);
  CHECK(PositionRange::parse("5").text() == "5:5");
  for (const char* text :
       {":", "5:", ":5", "6:5", "-1:2", "1:2:3", "a", "1 :2", "99999999999999999999"})
    CHECK_THROWS_WITH_AS(PositionRange::parse(text),
                         doctest::Contains("expected the first and the last position, from 0"),
                         InputError);
}

TEST_CASE(
    "ranks: more than there are shards are refused, and one that has no finite loss stops all") {
  const Experiment e = sharded(2);
  CHECK_THROWS_WITH_AS(on_ranks(4, [&] { Training{e}; }),
                       doctest::Contains("`train.shards` is 2, which 4 processes cannot share"),
                       InputError);
  int stopped = 0;
  std::mutex mutex;
  on_ranks(2, [&] {
    set_thread_count(1);
    Training t(e);
    for (NamedParameter p : t.trainer.model().parameters())
      if (rank() == 1 && p.tensor.rank() == 1)
        p.tensor.mutable_data()[0] = std::numeric_limits<real>::infinity();
    CHECK_THROWS_AS(t.trainer.step(), Error);
    const std::lock_guard lock(mutex);
    ++stopped;
  });
  CHECK(stopped == 2);
}

TEST_CASE("shards: a loss that is not finite stops the step and leaves the weights") {
  Training t(sharded(4));
  t.trainer.step();
  for (NamedParameter p : t.trainer.model().parameters())
    if (p.tensor.rank() == 1) p.tensor.mutable_data()[0] = std::numeric_limits<real>::infinity();
  const int before = thread_count();
  set_thread_count(4);
  const std::vector<real> changed = weights(t.trainer);
  CHECK_THROWS_AS(t.trainer.step(), Error);
  set_thread_count(before);
  CHECK(std::ranges::equal(weights(t.trainer), changed));
}

TEST_CASE("a config rejects every value out of its range") {
  testing::check_ranges(Experiment(), [](const Experiment& e) {
    Experiment read;
    const std::string text = config_text(list_config(e));
    const Origins origins = ConfigSource::of(parse_toml(text, "config"), "config").fill(read);
    with_origins(origins, [&] { read.validate(); });
  });
}

TEST_CASE("shards: a number that is no power of two, or does not divide the batch, is refused") {
  Experiment e = copying();
  for (const int64_t shards : {3, 32}) {
    e.train.shards = shards;
    CHECK_THROWS_WITH_AS(e.validate(),
                         doctest::Contains("a power of two that divides `train.batch_size` = 16"),
                         InputError);
  }
}

TEST_CASE("dropout depends on the seed") {
  Experiment e = copying();
  e.data.train_size = e.train.batch_size = 1;
  const auto loss = [&](double dropout, int64_t seed) {
    e.model.dropout = dropout;
    e.seed = 1;
    Training first(e);
    Experiment other = e;
    other.seed = seed;
    Trainer trainer(other, first.corpus);
    for (NamedParameter p : trainer.model().parameters())
      for (const NamedParameter& q : first.trainer.model().parameters())
        if (p.name == q.name) std::ranges::copy(q.tensor.values(), p.tensor.mutable_data());
    return trainer.step().loss;
  };
  CHECK(loss(0, 2) == loss(0, 1));
  CHECK(loss(0.5, 2) != loss(0.5, 1));
}

TEST_CASE("evaluation between steps does not change training") {
  Experiment e = copying();
  e.model.dropout = 0.3;
  Training plain(e), evaluated(e);
  for (int i = 0; i < 3; ++i) {
    plain.trainer.step();
    evaluated.trainer.step();
    evaluate(evaluated.trainer.model(), evaluated.corpus.splits.at("val"), e.model.kind, 32);
  }
  CHECK(weights(plain.trainer) == weights(evaluated.trainer));
}

TEST_CASE("evaluation does not depend on how examples are batched") {
  Experiment e = copying();
  Training t(e);
  for (int i = 0; i < 50; ++i) t.trainer.step();
  const Dataset& val = t.corpus.splits.at("val");
  const Measured one = evaluate(t.trainer.model(), val, e.model.kind, 1);
  const Measured many = evaluate(t.trainer.model(), val, e.model.kind, 64);
  CHECK(many.loss == doctest::Approx(one.loss).epsilon(1e-5));
  CHECK(many.token_accuracy == doctest::Approx(one.token_accuracy).epsilon(1e-3));
  CHECK(one.examples == val.size);
  CHECK(many.examples == val.size);
  CHECK(scores::perplexity.value(one) == std::exp(one.loss));
}

TEST_CASE("a number that is not finite is named without the sign of NaN") {
  CHECK(thrown<Diverged>([] { check_finite("the loss", std::copysign(std::nan(""), -1.0)); }) ==
        "the loss is NaN");
  CHECK(thrown<Diverged>([] { check_finite("x", std::nan("")); }) == "x is NaN");
  CHECK(thrown<Diverged>([] { check_finite("x", HUGE_VAL); }) == "x is infinity");
  CHECK(thrown<Diverged>([] { check_finite("x", -HUGE_VAL); }) == "x is -infinity");
  CHECK(thrown<Diverged>([] { check_finite("x", 1e308); }) == "");
}

TEST_CASE("a loss that is not finite throws and does not change the weights") {
  Experiment e = copying();
  Training t(e);
  t.trainer.step();
  std::vector<NamedParameter> parameters = t.trainer.model().parameters();
  parameters.front().tensor.mutable_data()[0] = std::nanf("");
  const auto find_norm = std::find_if(parameters.begin(), parameters.end(), [](const auto& p) {
    return p.name == "encoder.norm.weight";
  });
  REQUIRE(find_norm != parameters.end());
  find_norm->tensor.mutable_data()[0] = std::nanf("");
  const auto rest = [&] {
    const Tensor& last = parameters.back().tensor;
    return std::vector<real>(last.values().begin(), last.values().end());
  };
  const std::vector<real> before = rest();
  CHECK_THROWS_WITH_AS(t.trainer.step(), "the loss is NaN", Diverged);
  CHECK(rest() == before);
  CHECK(t.trainer.steps_done() == 1);

  Experiment detecting = t.experiment;
  detecting.train.detect_anomaly = true;
  Trainer other(detecting, t.corpus);
  for (NamedParameter& p : parameters = other.model().parameters())
    if (p.name == "encoder.norm.weight") p.tensor.mutable_data()[0] = std::nanf("");
  CHECK_THROWS_WITH_AS(other.step(), doctest::Contains("layer_norm"), Error);
}

TEST_CASE("frozen parameters do not change, others do") {
  Experiment e = copying();
  e.train.freeze = {"encoder.*", "source_embedding.*"};
  Training t(e);
  const auto snapshot = [&] {
    std::vector<std::pair<std::string, std::vector<real>>> all;
    for (const NamedParameter& p : t.trainer.model().parameters())
      all.emplace_back(p.name,
                       std::vector<real>(p.tensor.values().begin(), p.tensor.values().end()));
    return all;
  };
  const auto before = snapshot();
  for (int i = 0; i < 2; ++i) t.trainer.step();
  const auto after = snapshot();
  for (size_t i = 0; i < before.size(); ++i)
    CHECK_MESSAGE(
        (before[i].second == after[i].second) == matches_any(before[i].first, e.train.freeze),
        before[i].first);

  e.train.freeze = {"encodr.*"};
  CHECK_THROWS_WITH_AS(Training{e}, doctest::Contains("encodr"), InputError);
}

TEST_CASE("label smoothing changes the training loss, not the evaluation loss") {
  Experiment e = copying();
  Training plain(e);
  e.train.label_smoothing = 0.1;
  Training smooth(e);
  CHECK(evaluate(plain.trainer.model(), plain.corpus.splits.at("val"), e.model.kind, 32).loss ==
        evaluate(smooth.trainer.model(), smooth.corpus.splits.at("val"), e.model.kind, 32).loss);
  CHECK(plain.trainer.step().loss != smooth.trainer.step().loss);

  e.train.label_smoothing_over = Smoothing::possible_others;  // without <bos>
  CHECK(Training(e).trainer.step().loss != smooth.trainer.step().loss);
  e.model.kind = ModelKind::classifier;
  e.data = {};
  e.data.kind = &data_kinds::set;
  e.data.lengths = {5, 9};
  e.data.symbols = 7;
  CHECK_THROWS_WITH_AS(Training{e}, doctest::Contains("label_smoothing_over"), InputError);
}

namespace {

// Checks that `then` steps after the first `first` ones allocate nothing.
void check_allocates_nothing(const Experiment& e, int first, int then) {
  if (!allocations_are_counted) {
    MESSAGE("skipped: allocations are not counted under a sanitizer");
    return;
  }
  // On a busy machine a loop uses fewer threads than before, and one of them may then need a larger
  // buffer.
  const int threads = thread_count();
  set_thread_count(1);
  Training t(e);
  for (int i = 0; i < first; ++i) t.trainer.step();
  const int64_t before = allocations();
  for (int i = 0; i < then; ++i) t.trainer.step();
  CHECK(allocations() == before);
  set_thread_count(threads);
}

}  // namespace

TEST_CASE("steps of a fixed shape allocate no memory after the first two") {
  Experiment e = copying();
  e.data.lengths = {6, 6};
  e.model.dropout = 0.1;
  e.model.attention_dropout = 0.1;
  e.train.accumulate = 2;
  for (ModelKind kind : {ModelKind::seq2seq, ModelKind::language_model}) {
    e.model.kind = kind;
    check_allocates_nothing(e, 2, 1);
  }
}

TEST_CASE("steps with lengths 1 to 25 allocate no memory after the first epoch") {
  Experiment e = copying();
  e.data.lengths = {1, 25};
  e.data.train_size = 1600;
  for (int64_t bucketing : {1, 16}) {
    e.data.bucketing = bucketing;
    check_allocates_nothing(e, 100, 200);
  }
}
