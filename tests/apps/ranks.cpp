// Evaluation and generation by several ranks (core/ranks.h), which are threads here: the results of
// one, on all of them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "apps/inference/generation.h"
#include "apps/inference/scores.h"
#include "apps/support/files.h"
#include "apps/support/together.h"
#include "apps/training/trainer.h"
#include "core/parallel.h"
#include "random_model.h"
#include "temporary.h"
#include "thread_ranks.h"

using namespace heed;

namespace {

// Checks that f(), which must load what it uses, returns the same for any number of ranks.
void check_same_on_ranks(const std::function<std::string()>& f) {
  const int before = thread_count();
  std::string expected;
  std::mutex mutex;
  for (const int count : {1, 2, 4, 8}) {
    CAPTURE(count);
    int calls = 0;
    on_ranks(count, [&] {
      set_thread_count(1);
      const std::string found = f();
      const std::lock_guard lock(mutex);
      if (count == 1) expected = found;
      CHECK(found == expected);
      ++calls;
    });
    CHECK(calls == count);
  }
  set_thread_count(before);
  CHECK(!expected.empty());
}

// Fewer batches than ranks, as many, and more.
std::vector<Sequence> ranked_sequences(size_t count) {
  std::vector<Sequence> result(count);
  for (size_t i = 0; i < count; ++i)
    for (size_t t = 0; t <= i * i % 7; ++t)
      result[i].push_back(static_cast<int32_t>((i + t * t) % 4));
  return result;
}

std::string hypotheses_text(const std::vector<std::vector<Hypothesis>>& results) {
  std::string text;
  for (const auto& found : results) {
    for (const Hypothesis& h : found) {
      text += fmt::format("{} {} :", h.log_probability, h.score);
      for (const int32_t id : h.tokens) text += fmt::format(" {}", id);
      for (const double each : h.token_log_probabilities) text += fmt::format(" {}", each);
      text += "; ";
    }
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("ranks: texts of all, in their order") {
  on_ranks(4, [] {
    std::vector<std::string> own(static_cast<size_t>(rank()), fmt::format("of {}", rank()));
    if (rank() == 3) own[1] = "";
    CHECK(concatenated(own) ==
          std::vector<std::string>{"of 1", "of 2", "of 2", "of 3", "", "of 3"});
    CHECK(concatenated(std::vector<std::string>()).empty());
    CHECK(concatenated(std::vector<std::string>(1)) == std::vector<std::string>(4));
  });
}

TEST_CASE("ranks: the outputs of one for each source, prompt and line") {
  for (const size_t count : {1, 8, 21}) {
    const std::vector<Sequence> inputs = ranked_sequences(count);
    check_same_on_ranks([&] {
      const auto model = random_model<Seq2Seq>(ModelKind::seq2seq, 3);
      GenerationOptions options;
      options.batch_size = 4;
      options.beam = 3;
      options.count = 2;
      return hypotheses_text(outputs(model, letters, inputs, options));
    });
    check_same_on_ranks([&] {
      const auto model = random_model<LanguageModel>(ModelKind::language_model, 3);
      GenerationOptions options;
      options.max_length = 6;
      options.count = 3;
      options.batch_size = 4;
      std::string text = hypotheses_text(continuations(model, letters, inputs, options));
      options.beam = 3;
      text += hypotheses_text(continuations(model, letters, inputs, options));
      options.max_length = options.beam = 0;
      text += hypotheses_text(continuations(model, letters, inputs, options));
      return text + hypotheses_text(scored_tokens(model, inputs, {3, 2}));
    });
    check_same_on_ranks([&] {
      const auto model = random_model<Classifier>(ModelKind::classifier, 3);
      return hypotheses_text(classes(model, inputs, 4));
    });
  }
}

TEST_CASE("ranks: the scores and predictions of one") {
  TemporaryFolder folder;
  std::string pairs;
  for (int i = 0; i < 400; ++i)
    pairs += fmt::format("a{0} b{1} c{2}\tc{2} c{2} b{1} a{0}\n", i % 7, i % 5, i / 35);
  write_file(folder / "pairs.txt", pairs);
  std::vector<Experiment> experiments(4);
  for (Experiment& e : experiments) {
    e.train.batch_size = 16;
    e.train.shards = 8;  // as a model under training requires
    e.train.evaluate_batch_size = 16;
    e.model.layers = 1;
    e.model.dim = 8;
    e.model.heads = 1;
    e.data.lengths = {1, 6};
    e.data.kind = &data_kinds::copy;
    e.data.symbols = 8;
    e.data.val_size = 150;
    e.data.test_size = 20;
  }
  experiments[1].data = DataOptions();
  experiments[1].data.kind = &data_kinds::pairs;
  experiments[1].data.path = folder / "pairs.txt";
  experiments[1].data.val_fraction = 0.5;
  experiments[2].model.kind = ModelKind::language_model;
  experiments[3].model.kind = ModelKind::classifier;
  experiments[3].data.kind = &data_kinds::parity;
  experiments[3].data.symbols = DataOptions().symbols;
  experiments[3].data.lengths = {8, 12};
  for (const Experiment& e : experiments)
    check_same_on_ranks([&] {
      const Corpus corpus = load_corpus(e.data, e.model.kind, static_cast<uint64_t>(e.seed));
      const Trainer trainer(e, corpus);
      const int64_t beam = e.model.kind == ModelKind::seq2seq ? 2 : 1;
      const SplitScores details = score_split(trainer.model(), corpus, e, "val",
                                              {.details = true, .predictions = true, .beam = beam});
      std::string text = details.scores.json().text();
      for (const Outcome& o : details.outcomes)
        text += fmt::format("{} {} {}, ", o.targets, o.correct, o.predicted);
      for (const Prediction& p : details.predictions)
        text += fmt::format("\n{} → {} ({})", p.source, p.predicted, p.expected);
      CHECK(std::ssize(details.predictions) == split_of(corpus, "val").size);
      return text;
    });
}
