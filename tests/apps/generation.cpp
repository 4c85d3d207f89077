#include "apps/inference/generation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <thread>

#include "core/autograd.h"
#include "core/kernels/kept/forms.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "core/precision.h"
#include "nn/save.h"
#include "optim/average.h"
#include "optim/layout.h"
#include "random_model.h"
#include "temporary.h"

using namespace heed;

namespace {

constexpr int32_t bos = 4, eos = 5;

int32_t most_likely(const Tensor& logits) {
  const auto values = logits.values();
  const auto last = values.subspan(values.size() - static_cast<size_t>(logits.dim(-1)));
  return static_cast<int32_t>(std::max_element(last.begin(), last.end()) - last.begin());
}

Ids one_row(const Sequence& tokens) {
  Ids ids = Ids::empty({1, static_cast<int64_t>(tokens.size())});
  std::copy(tokens.begin(), tokens.end(), ids.mutable_data());
  return ids;
}

const std::vector<Sequence> sources = {{0, 1, 2}, {3}, {2, 2, 1, 0, 3, 3, 1}, {0, 1}, {1, 0, 1, 0}};

// The best output for each source.
std::vector<Hypothesis> best_outputs(const Seq2Seq& model, const GenerationOptions& options) {
  std::vector<Hypothesis> best;
  for (const auto& found : outputs(model, letters, sources, options)) best.push_back(found.at(0));
  return best;
}

// The tokens of all continuations of the first prompt, then of the second, …
std::vector<Sequence> continued(const LanguageModel& model, std::span<const Sequence> prompts,
                                const GenerationOptions& options) {
  std::vector<Sequence> all;
  for (const auto& found : continuations(model, letters, prompts, options))
    for (const Hypothesis& each : found) all.push_back(each.tokens);
  return all;
}

LanguageModel wide_model(int64_t vocabulary, uint64_t seed) {
  const ScopeGuard here;
  scope().seed = seed;
  scope().calls = 0;
  ModelOptions o;
  o.kind = ModelKind::language_model;
  o.layers = 1;
  o.dim = 64;
  o.heads = 2;
  return {o, {vocabulary, vocabulary}};
}

}  // namespace

TEST_CASE("greedy outputs are the most likely tokens for any batch size") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto model = random_model<Seq2Seq>(ModelKind::seq2seq, seed);
    GenerationOptions options;
    options.max_length = 8;
    for (int64_t batch_size : {1, 2, 5}) {
      options.batch_size = batch_size;
      const auto actual = best_outputs(model, options);
      for (size_t i = 0; i < sources.size(); ++i) {
        Inputs in{
            one_row(sources[i]), Ids::full({1}, static_cast<int32_t>(sources[i].size())), {}, {}};
        Sequence expected = {bos};
        while (expected.size() < 9) {
          in.input = one_row(expected);
          const int32_t token = most_likely(model.logits(in));
          if (token == eos) break;
          expected.push_back(token);
        }
        CHECK(actual[i].tokens == Sequence(expected.begin() + 1, expected.end()));
      }
    }
  }
}

TEST_CASE("beam search finds outputs at least as likely as greedy search") {
  const auto model = random_model<Seq2Seq>(ModelKind::seq2seq, 9);
  GenerationOptions greedy, beam;
  greedy.max_length = beam.max_length = 8;
  beam.beam = 6;
  const auto one = best_outputs(model, greedy);
  const auto six = best_outputs(model, beam);
  for (size_t i = 0; i < sources.size(); ++i)
    CHECK(six[i].log_probability >= one[i].log_probability - 1e-4);
}

TEST_CASE("a language model continues its prompt") {
  const auto model = random_model<LanguageModel>(ModelKind::language_model, 3);
  GenerationOptions options;
  options.max_length = 6;
  options.count = 8;
  options.sampling.temperature = 0;
  const std::vector<Sequence> prompt = {{bos, 1}};
  Sequence expected = prompt[0];
  while (expected.size() < 8) {
    const int32_t token = most_likely(model.logits({{}, {}, one_row(expected), {}}));
    if (token == eos) break;
    expected.push_back(token);
  }
  for (const Sequence& s : continued(model, prompt, options))
    CHECK(s == Sequence(expected.begin() + 2, expected.end()));

  options.sampling.temperature = 3;
  const auto samples = continued(model, prompt, options);
  CHECK(std::set<Sequence>(samples.begin(), samples.end()).size() > 1);
  CHECK(continued(model, prompt, options) == samples);
  options.count = 2;  // each has its own random stream
  const auto fewer = continued(model, prompt, options);
  CHECK(fewer[1] == samples[1]);
  options.seed = 2;
  options.count = 8;
  CHECK(continued(model, prompt, options) != samples);
  CHECK(continued(model, {}, options).empty());
  CHECK_THROWS_AS(continued(model, std::vector<Sequence>{{1}, {}}, options), Error);
  options.max_length = 0;
  CHECK(continued(model, prompt, options) == std::vector<Sequence>(8));
}

// A model with zero weights gives all 6 tokens the same probability. The expected tokens are from
// tests/fixtures/make_random.py.
TEST_CASE("samples for a given seed are fixed") {
  const auto model = random_model<LanguageModel>(ModelKind::language_model, 3);
  for (NamedParameter p : model.parameters())
    std::fill_n(p.tensor.mutable_data(), p.tensor.size(), real{0});
  GenerationOptions options;
  options.max_length = 12;
  options.count = 3;
  options.seed = 4;
  const std::vector<Sequence> expected = {
      {0, 4, 4, 4, 3, 4, 2, 4, 3, 0, 2, 4}, {}, {4, 4, 0, 0, 1, 1, 3, 4, 4, 0, 2, 1}};
  const std::vector<Sequence> prompts = {{bos}, {bos, 1, 2}};
  const auto samples = continued(model, prompts, options);
  for (size_t i = 0; i < samples.size(); ++i) CHECK(samples[i] == expected[i % 3]);
}

TEST_CASE("a language model with a context length reads only the last tokens") {
  const auto model = random_model<LanguageModel>(ModelKind::language_model, 3);
  GenerationOptions options;
  options.max_length = 5;
  options.sampling.temperature = 0;
  options.context = 2;
  const std::vector<Sequence> prompts = {{0, 1, 2, 3}, {3, 3, 3, 2, 3}};
  const auto actual = continued(model, prompts, options);
  CHECK(actual.at(0) == actual.at(1));
}

TEST_CASE("batched prompts of different lengths have the same continuations as single prompts") {
  const std::vector<Sequence> prompts = {{bos, 1}, {bos}, {bos, 0, 3, 2, 1}, {2, 2, 2}};
  for (const int64_t context : {0, 4})
    for (const double temperature : {0.0, 2.0}) {
      const auto model = random_model<LanguageModel>(ModelKind::language_model, 5);
      GenerationOptions options;
      options.sampling.temperature = temperature;
      options.count = 3;
      options.max_length = 9;
      options.context = context;
      const auto batched = continued(model, prompts, options);
      REQUIRE(batched.size() == 12);
      options.batch_size = 5;  // one prompt in two batches, and two prompts in one batch
      CHECK(continued(model, prompts, options) == batched);
      for (size_t p = 0; p < prompts.size(); ++p) {
        const auto single = continued(model, {&prompts[p], 1}, options);
        for (size_t i = 0; i < 3; ++i) CHECK(batched[3 * p + i] == single[i]);
      }
    }
}

TEST_CASE("scored continuations have the log probabilities of the model, also under rules") {
  const auto model = random_model<LanguageModel>(ModelKind::language_model, 6);
  GenerationOptions options;
  options.count = 6;
  options.max_length = 8;
  options.sampling.temperature = 2;
  const std::vector<Sequence> prompts = {{bos, 1, 2}};
  for (const TokenRules& rules : {TokenRules{}, TokenRules{{0, eos}, 0}, TokenRules{{}, 2}}) {
    options.rules = rules;
    const auto samples = continuations(model, letters, prompts, options);
    REQUIRE(samples.size() == 1);
    CHECK(samples[0].size() == 6);
    for (const Hypothesis& found : samples[0]) {
      Sequence tokens = prompts[0];
      for (size_t t = 0; t < found.token_log_probabilities.size(); ++t) {
        const int32_t next = t < found.tokens.size() ? found.tokens[t] : eos;
        const Tensor logits = model.logits({{}, {}, one_row(tokens), {}});
        const auto last = logits.values().last(6);
        CHECK(found.token_log_probabilities[t] ==
              doctest::Approx(log_probability(last, next)).epsilon(1e-4));
        CHECK(rules.allowed(tokens, 6)[static_cast<size_t>(next)]);
        tokens.push_back(next);
      }
      CHECK(std::ssize(found.tokens) <= 8);
    }
  }
  options.rules = {{0, 1, 2, 3, bos, eos}, 0};
  CHECK(continued(model, prompts, options) == std::vector<Sequence>(6));
}

TEST_CASE("a beam search finds the best continuations of a language model, also in a context") {
  const std::vector<Sequence> prompts = {{bos, 1, 2}, {bos}};
  for (const int64_t context : {0, 2})
    for (const bool cache : {true, false}) {
      const auto model = random_model<LanguageModel>(ModelKind::language_model, 6);
      GenerationOptions options;
      options.context = context;
      options.cache = cache;
      options.max_length = 2;
      options.rules.no_repeat_ngram = 1;
      options.beam = 40;  // all of them
      options.count = 40;
      const auto found = continuations(model, letters, prompts, options);
      REQUIRE(found.size() == 2);
      for (size_t p = 0; p < prompts.size(); ++p) {
        // The log probabilities of all continuations of two tokens, or fewer and <eos>.
        std::vector<double> expected;
        const auto visit = [&](const auto& self, const Sequence& tokens, double sum) -> void {
          const bool cut = context > 0 && std::ssize(tokens) > context;
          const Sequence read(tokens.end() - (cut ? context : std::ssize(tokens)), tokens.end());
          const Tensor logits = model.logits({{}, {}, one_row(read), {}});
          for (int32_t next = 0; next < 6; ++next) {
            if (std::ranges::find(tokens, next) != tokens.end()) continue;
            const double all = sum + log_probability(logits.values().last(6), next);
            Sequence longer = tokens;
            longer.push_back(next);
            if (next == eos || longer.size() == prompts[p].size() + 2)
              expected.push_back(all);
            else
              self(self, longer, all);
          }
        };
        visit(visit, prompts[p], 0);
        std::ranges::sort(expected, std::greater());
        REQUIRE(found[p].size() == expected.size());
        for (size_t i = 0; i < expected.size(); ++i)
          CHECK(found[p][i].log_probability == doctest::Approx(expected[i]).epsilon(1e-4));
      }
      options.rules = {};
      options.beam = options.count = 1;
      options.max_length = 8;
      const auto greedy = continuations(model, letters, prompts, options);
      options.beam = 0;
      options.sampling.temperature = 0;
      CHECK(continued(model, prompts, options) ==
            std::vector<Sequence>{greedy[0][0].tokens, greedy[1][0].tokens});
    }
}

TEST_CASE("scored tokens: each has as many before it as a window of the context gives it") {
  const auto model = random_model<LanguageModel>(ModelKind::language_model, 8);
  const std::vector<Sequence> lines = {
      {bos, 1, 2, 3, 3, 0, 1, 2, 0, eos}, {bos, eos}, {bos}, {}, {bos, 2, 1, 0}};
  for (const Windows& windows : {Windows(), Windows{3, 1}, Windows{3, 2}, Windows{3, 3},
                                 Windows{4, 3}, Windows{9, 4}, Windows{100, 50}}) {
    CAPTURE(windows.context);
    CAPTURE(windows.stride);
    const Found found = scored_tokens(model, lines, windows);
    REQUIRE(found.size() == lines.size());
    CHECK(found[2].at(0).tokens.empty());
    CHECK(found[3].at(0).token_log_probabilities.empty());
    for (const size_t i : {0, 1, 4}) {
      const std::vector<double>& scores = found[i].at(0).token_log_probabilities;
      CHECK(found[i][0].tokens == Sequence(lines[i].begin() + 1, lines[i].end()));
      REQUIRE(scores.size() == lines[i].size() - 1);
      CHECK(found[i][0].log_probability ==
            doctest::Approx(std::accumulate(scores.begin(), scores.end(), 0.0)));
      const auto targets = std::ssize(scores);
      for (ptrdiff_t t = 0; t < targets; ++t) {
        ptrdiff_t first = 0;  // of the inputs that the target has before it
        if (windows.context > 0 && t >= windows.context) {
          const ptrdiff_t steps = (t - windows.context) / windows.stride + 1;
          first = std::min(windows.context + steps * windows.stride, targets) - windows.context;
        }
        const Sequence before(lines[i].begin() + first, lines[i].begin() + t + 1);
        if (windows.stride == 1)  // what generation reads
          CHECK(std::ssize(before) == std::min<ptrdiff_t>(t + 1, windows.context));
        const Tensor logits = model.logits({{}, {}, one_row(before), {}});
        CHECK(scores[static_cast<size_t>(t)] ==
              doctest::Approx(
                  log_probability(logits.values().last(6), lines[i][static_cast<size_t>(t + 1)]))
                  .epsilon(1e-4));
      }
    }
  }
  CHECK_FALSE(thrown<Error>([&] { scored_tokens(model, lines, {3, 4}); }).empty());
}

TEST_CASE("an output has a length limit of its own, whatever other sources a batch has") {
  const auto model = random_model<Seq2Seq>(ModelKind::seq2seq, 2);
  GenerationOptions options;
  options.rules.forbidden = {eos};  // every output is cut off
  const auto all = outputs(model, letters, sources, options);
  for (size_t i = 0; i < sources.size(); ++i)
    CHECK(all[i][0].tokens.size() == 2 * sources[i].size() + 10);
  options.positions = 13;
  CHECK(outputs(model, letters, sources, options)[2][0].tokens.size() == 13);
}

TEST_CASE("a cache does not change samples, within and beyond the context of the model") {
  std::set<Sequence> all;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const auto model = random_model<LanguageModel>(ModelKind::language_model, seed);
    const std::vector<Sequence> prompts = {{bos, 1}, {bos, 3, 0}};
    GenerationOptions options;
    options.count = 4;
    options.max_length = 20;
    options.seed = seed;
    for (const int64_t context : {0, 1, 2, 8}) {
      options.context = context;
      options.cache = false;
      const auto without = continued(model, prompts, options);
      options.cache = true;
      CHECK(continued(model, prompts, options) == without);
      all.insert(without.begin(), without.end());
    }
  }
  CHECK(all.size() > 100);
}

TEST_CASE("a cache does not change outputs of greedy and beam search") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto model = random_model<Seq2Seq>(ModelKind::seq2seq, seed);
    GenerationOptions options;
    for (const int64_t beam : {1, 4}) {
      options.beam = beam;
      options.cache = false;
      const auto without = best_outputs(model, options);
      options.cache = true;
      const auto with = best_outputs(model, options);
      for (size_t i = 0; i < sources.size(); ++i) CHECK(with[i].tokens == without[i].tokens);
    }
  }
}

TEST_CASE("a classifier predicts the class of the maximum logit") {
  const auto model = random_model<Classifier>(ModelKind::classifier, 4);
  const Found actual = classes(model, sources, 2);
  for (size_t i = 0; i < sources.size(); ++i) {
    double sum = 0;
    for (const Hypothesis& each : actual[i]) sum += std::exp(each.log_probability);
    CHECK(sum == doctest::Approx(1));
    CHECK(actual[i][0].log_probability >= actual[i][2].log_probability);
    CHECK(actual[i][0].tokens.at(0) ==
          most_likely(model.logits({{},
                                    {},
                                    one_row(sources[i]),
                                    Ids::full({1}, static_cast<int32_t>(sources[i].size()))})));
  }
}

TEST_CASE("continuations in a worker and in several threads are those of one alone") {
  constexpr int64_t tokens = 5000, rows = 8;  // enough logits to share among threads
  static_assert(tokens * rows >= chunk_elements);
  std::vector<std::string> names;
  for (int i = 0; i < tokens; ++i) names.push_back("t" + std::to_string(i));
  const Vocabulary vocabulary(names);
  const LanguageModel model = wide_model(tokens, 1);
  GenerationOptions options;
  options.count = rows;
  options.max_length = 3;
  const std::vector<Sequence> prompt = {{7, 8}};
  const auto result = [&] {
    const Found found = continuations(model, vocabulary, prompt, options);
    std::vector<Sequence> all;
    for (const Hypothesis& each : found[0]) all.push_back(each.tokens);
    return all;
  };
  const int threads = thread_count();
  set_thread_count(3);
  const std::vector<Sequence> alone = result();
  std::vector<std::vector<Sequence>> found(5);
  run_workers(3, [&](int worker) { found[static_cast<size_t>(worker)] = result(); });
  std::thread other([&] { found[3] = result(); });
  found[4] = result();
  other.join();
  set_thread_count(threads);
  for (const auto& each : found) CHECK(each == alone);
}

// Generation in `medium` keeps the weights rounded (core/kernels/kept/kept.h).
TEST_CASE("medium: continuations follow weights that a step, an average or a file has changed") {
  const ScopeGuard here;
  scope().precision = Precision::medium;
  if (effective_precision(Precision::medium) != Precision::medium) {
    MESSAGE("skipped: float32 is fastest on this processor");
    return;
  }
  LanguageModel model = wide_model(letters.size(), 1);
  const auto rounded = [&] {
    return std::ranges::count_if(model.parameters(), [](const NamedParameter& p) {
      return static_cast<bool>(kernels::LastForm(p.tensor).get());
    });
  };
  const auto result = [](const LanguageModel& m) {
    GenerationOptions options;
    options.max_length = 4;
    options.rules.forbidden = {eos};
    return continuations(m, letters, std::vector<Sequence>{{bos}}, options)[0][0]
        .token_log_probabilities;
  };
  std::vector<std::vector<double>> all;
  const auto check_result = [&] {  // by a model that has never generated
    const LanguageModel fresh = wide_model(letters.size(), 2);
    const auto from = model.parameters(), to = fresh.parameters();
    for (size_t i = 0; i < from.size(); ++i) {
      Tensor copy = to[i].tensor;
      std::ranges::copy(from[i].tensor.values(), copy.mutable_data());
    }
    CHECK(result(model) == result(fresh));
    CHECK(rounded() > 0);
    CHECK(std::ranges::count(all, result(model)) == 0);
    all.push_back(result(model));
  };
  check_result();
  Optimizer optimizer({.lr = 0.1, .clip_norm = 1}, model.parameters());
  WeightAverage average(optimizer.layout().arena, {.ema = 0.5});
  CHECK(rounded() == 0);  // moved to the optimizer's array
  for (int64_t step = 1; step <= 3; ++step) {
    optimizer.zero_grad();
    backward(sum(mul(model.logits({{}, {}, one_row({bos, 1, 2}), {}}), real(step))));
    optimizer.step();
    CHECK(rounded() == 0);  // released, not only out of date
    average.update(step);
    if (step > 1) check_result();
    average.apply(step);
    CHECK(rounded() == 0);
    check_result();
    average.restore(step);
    CHECK(rounded() == 0);
  }
  const TemporaryFolder folder;
  save(wide_model(letters.size(), 5), folder / "weights.safetensors");
  result(model);
  load(model, folder / "weights.safetensors");
  check_result();
}
