// Examples that heed makes itself have the form of those that it reads or draws.
#include "data/made_examples.h"

#include "data/framing.h"
#include "drawn_options.h"

namespace heed {

// The tokens that are not special.
static Ints contents_of(std::span<const int32_t> ids, const Vocabulary& vocabulary) {
  Ints contents;
  for (const int32_t id : ids)
    if (!is_special(vocabulary.token(id))) contents.push_back(id);
  return contents;
}

static SequencePair contents_of(const Example& example, const Corpus& corpus) {
  if (corpus.framing == ModelKind::classifier) return {example.input, example.target};
  const Vocabulary& vocabulary = corpus.target->vocabulary();
  Ints all = example.input;
  all.push_back(example.target.back());
  const auto [source, target] =
      std::pair(std::span(all).first(static_cast<size_t>(example.prompt)),
                std::span(all).subspan(static_cast<size_t>(example.prompt)));
  return {corpus.framing == ModelKind::seq2seq ? example.source : contents_of(source, vocabulary),
          contents_of(target, vocabulary)};
}

static void check_first_batch(const Corpus& corpus) {
  const Dataset& train = split(corpus, "train");
  const int64_t rows = std::min<int64_t>(train.size, 7);
  Batch own;
  Batches::in_order(train, corpus.framing, rows).get(0, own);
  std::vector<SequencePair> contents;
  for (int64_t i = 0; i < rows; ++i) contents.push_back(contents_of(example_of(train, i), corpus));
  const Batch made = made_batch(corpus, contents);
  const auto check_same = [](const Ids& a, const Ids& b) {
    REQUIRE(a.size() == b.size());
    if (a.size() == 0) return;
    CHECK(a.shape() == b.shape());
    CHECK(std::equal(a.data(), a.data() + a.size(), b.data()));
  };
  check_same(made.source, own.source);
  check_same(made.source_lengths, own.source_lengths);
  check_same(made.input, own.input);
  check_same(made.input_lengths, own.input_lengths);
  check_same(made.target, own.target);
  CHECK(made.targets == own.targets);
  CHECK(made.tokens == own.tokens);
}

TEST_CASE("made examples: the first batch of every task, with the same contents") {
  int checked = 0;
  for (const DataKind* kind : data_kinds::all)
    for (const ModelKind framing : kind->framings)
      for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{2, 9}, {4, 4}}) {
        if (!kind->is_task()) continue;
        DataOptions options = drawn_options(kind);
        options.val_fraction = options.test_fraction = 0;
        if (kind->sequence_task && kind->uses("lengths")) options.lengths = lengths;
        const Corpus corpus = load_corpus(options, framing, 1);
        if (corpus.format.features > 0) continue;  // positions hold features
        CAPTURE(kind->name);
        check_first_batch(corpus);
        ++checked;
      }
  CHECK(checked == 2 * (4 * 2 + 2 * 3 + 3));
}

TEST_CASE("made examples: the first batch of every kind of file, with the same contents") {
  const TemporaryFolder folder;
  const std::string lines = "a b\nb c d\nc\nd a b c\n", rows = "a b\tx y\nc\ty x x\nd a b\tx\n";
  for (const DataKind* kind :
       {&data_kinds::text, &data_kinds::lines, &data_kinds::pairs, &data_kinds::labelled}) {
    const bool has_columns = kind == &data_kinds::pairs || kind == &data_kinds::labelled;
    DataOptions options = file_options(kind, folder.write("data", has_columns ? rows : lines));
    options.val_fraction = 0;
    if (kind != &data_kinds::text) options.test_fraction = 0;
    options.level = Level::word;
    if (kind == &data_kinds::text) options.context = 4;
    CAPTURE(kind->name);
    check_first_batch(load_corpus(options, kind->framings[0], 1));
  }
  CHECK_THROWS_WITH_AS(made_batch(Corpus(), {}), doctest::Contains("has no tokens"), Error);
}

}  // namespace heed
