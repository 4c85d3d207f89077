#include "apps/generation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/scope.h"

using namespace heed;

namespace {

const Vocabulary letters({"a", "b", "c", "d", "<bos>", "<eos>"});
constexpr int32_t bos = 4, eos = 5;

// Weights drawn wide enough that the model has clear preferences without training.
template <class M>
M random_model(ModelKind kind, uint64_t seed) {
  ScopeGuard here;
  here->seed = seed;
  here->calls = 0;
  ModelOptions o;
  o.kind = kind;
  o.layers = 1;
  o.dim = 16;
  o.heads = 2;
  o.tie_weights = false;
  o.init.gain = 3;
  return M(o, {6, 6, 3});
}

int32_t first_choice(const Tensor& logits) {
  const auto values = logits.values();
  const auto last = values.subspan(values.size() - static_cast<size_t>(logits.dim(-1)));
  return static_cast<int32_t>(std::max_element(last.begin(), last.end()) - last.begin());
}

Ids one_row(const Sequence& tokens) {
  Ids ids = Ids::empty({1, static_cast<int64_t>(tokens.size())});
  std::copy(tokens.begin(), tokens.end(), ids.data());
  return ids;
}

const std::vector<Sequence> sources = {{0, 1, 2}, {3}, {2, 2, 1, 0, 3, 3, 1}, {0, 1}, {1, 0, 1, 0}};

}  // namespace

TEST_CASE("greedy answers are the first choices, one token after the other, whatever the batch") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto model = random_model<Seq2Seq>(ModelKind::seq2seq, seed);
    AnswerOptions options;
    options.max_length = 8;
    for (int64_t batch_size : {1, 2, 5}) {
      options.batch_size = batch_size;
      const auto found = answers(model, letters, sources, options);
      for (size_t i = 0; i < sources.size(); ++i) {
        Inputs in{
            one_row(sources[i]), Ids::full({1}, static_cast<int32_t>(sources[i].size())), {}, {}};
        Sequence said = {bos};
        while (said.size() < 9) {
          in.input = one_row(said);
          const int32_t token = first_choice(model.logits(in));
          if (token == eos) break;
          said.push_back(token);
        }
        CHECK(found[i].tokens == Sequence(said.begin() + 1, said.end()));
      }
    }
  }
}

TEST_CASE("a wider beam never finds something less likely than its own rank says") {
  const auto model = random_model<Seq2Seq>(ModelKind::seq2seq, 9);
  AnswerOptions greedy, beam;
  greedy.max_length = beam.max_length = 8;
  beam.beam = 6;
  const auto one = answers(model, letters, sources, greedy);
  const auto six = answers(model, letters, sources, beam);
  for (size_t i = 0; i < sources.size(); ++i)
    CHECK(six[i].log_probability >= one[i].log_probability - 1e-4);
}

TEST_CASE("a language model goes on from its prompt") {
  const auto model = random_model<LanguageModel>(ModelKind::language_model, 3);
  ContinueOptions options;
  options.max_length = 6;
  options.count = 8;
  options.sampling.temperature = 0;
  Sequence said = {bos, 1};
  while (said.size() < 8) {
    const int32_t token = first_choice(model.logits({{}, {}, one_row(said), {}}));
    if (token == eos) break;
    said.push_back(token);
  }
  for (const Sequence& s : continuations(model, letters, {bos, 1}, options))
    CHECK(s == Sequence(said.begin() + 2, said.end()));

  options.sampling.temperature = 3;
  const auto drawn = continuations(model, letters, {bos, 1}, options);
  CHECK(std::set<Sequence>(drawn.begin(), drawn.end()).size() > 1);
  CHECK(continuations(model, letters, {bos, 1}, options) == drawn);
  options.count = 2;  // each has a stream of its own: fewer are the first of more
  const auto fewer = continuations(model, letters, {bos, 1}, options);
  CHECK(fewer[1] == drawn[1]);
  options.seed = 2;
  options.count = 8;
  CHECK(continuations(model, letters, {bos, 1}, options) != drawn);
  CHECK_THROWS_AS(continuations(model, letters, {}, options), Error);
}

TEST_CASE("a window limits what a language model reads, not what it says") {
  const auto model = random_model<LanguageModel>(ModelKind::language_model, 3);
  ContinueOptions options;
  options.max_length = 5;
  options.sampling.temperature = 0;
  options.window = 2;
  const Sequence first = continuations(model, letters, {0, 1, 2, 3}, options).at(0);
  CHECK(first == continuations(model, letters, {3, 3, 3, 2, 3}, options).at(0));
}

TEST_CASE("a classifier's class is its greatest logit") {
  const auto model = random_model<Classifier>(ModelKind::classifier, 4);
  const std::vector<int32_t> found = classes(model, sources, 2);
  for (size_t i = 0; i < sources.size(); ++i)
    CHECK(found[i] ==
          first_choice(model.logits({{},
                                     {},
                                     one_row(sources[i]),
                                     Ids::full({1}, static_cast<int32_t>(sources[i].size()))})));
}
