// data.kind = "examples" with vectors, numbers, graphs, grids and arrays.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/safetensors.h"
#include "data/batch.h"
#include "data/corpus.h"
#include "support.h"

using namespace heed;

namespace {

constexpr ModelKind to_continue = ModelKind::language_model, to_classify = ModelKind::classifier,
                    to_translate = ModelKind::seq2seq;

// Loads these lines as the training split.
Corpus vectors_of(const TemporaryFolder& folder, const std::string& lines, ModelKind framing,
                  bool at_positions = false) {
  folder.write("train.jsonl", lines);
  DataOptions options;
  options.kind = &data_kinds::examples;
  options.level = Level::word;
  options.path = folder / "train.jsonl";
  options.val_fraction = options.test_fraction = 0;
  return load_corpus(options, framing, 1, {}, at_positions);
}

Batch batch_of(const Corpus& corpus, ModelKind framing) {
  Batch batch;
  Batches::in_order(corpus.splits.at("train"), framing, 2).get(0, batch);
  return batch;
}

std::vector<float> numbers_in(const Tensor& tensor) {
  return {tensor.values().begin(), tensor.values().end()};
}

bool is_none(float number) { return std::isnan(number); }

}  // namespace

TEST_CASE("examples: vectors with numbers at their positions") {
  const TemporaryFolder folder;
  const Corpus corpus = vectors_of(folder,
                                   "{\"input\": [[0.5, 1], [2, 3]], \"target\": [null, 3.5]}\n"
                                   "{\"input\": [[1, 1]], \"target\": [-2]}\n",
                                   to_continue);
  CHECK(corpus.format.features == 2);
  CHECK(corpus.format.numbers);
  CHECK(corpus.format.at_positions);
  CHECK_FALSE(corpus.source);
  CHECK_FALSE(corpus.target);
  CHECK(corpus.longest_input == 2);
  const Batch batch = batch_of(corpus, to_continue);
  CHECK(numbers_in(batch.features) == std::vector<float>{0.5F, 1, 2, 3, 1, 1, 0, 0});
  CHECK(batch.input_lengths[0] == 2);
  CHECK(batch.input_lengths[1] == 1);
  CHECK(batch.targets == 2);
  CHECK(batch.target.shape() == Shape{2, 2});
  const std::vector<float> numbers = numbers_in(batch.numbers);
  CHECK((is_none(numbers[0]) && numbers[1] == 3.5F && numbers[2] == -2 && is_none(numbers[3])));
}

TEST_CASE("examples: vectors with labels or numbers, for the whole or at positions") {
  const TemporaryFolder folder;
  const std::string inputs[] = {"{\"input\": [[1], [2]], \"target\": ",
                                "{\"input\": [3, 4, 5], \"target\": "};
  const auto load = [&](const char* first, const char* second, bool at_positions) {
    return vectors_of(folder, inputs[0] + first + "}\n" + inputs[1] + second + "}\n", to_classify,
                      at_positions);
  };
  const Corpus label = load("\"b\"", "\"a\"", false),
               tags = load("[\"b\", null]", "[\"a\", \"a\", \"b\"]", true),
               one = load("0.25", "-1", false), all = load("[1, 2]", "[null, null, 7]", true);
  for (const Corpus* corpus : {&label, &tags, &one, &all}) CHECK(corpus->format.features == 1);
  CHECK(label.labels == std::vector<std::string>{"a", "b"});
  CHECK(batch_of(label, to_classify).target.shape() == Shape{2});
  const Batch tagged = batch_of(tags, to_classify);
  CHECK(tagged.target.shape() == Shape{2, 3});
  CHECK((tagged.target[0] == 1 && tagged.target[1] == -1 && tagged.target[5] == 1));
  CHECK(one.labels.empty());
  // Positions without targets do not say whether the others have numbers.
  CHECK(load("[null, null]", "[1, null, 7]", true).format.numbers);
  CHECK_FALSE(load("[null, null]", "[\"a\", null, \"b\"]", true).format.numbers);
  CHECK(numbers_in(batch_of(one, to_classify).numbers) == std::vector<float>{0.25F, -1});
  const std::vector<float> numbers = numbers_in(batch_of(all, to_classify).numbers);
  CHECK((numbers[1] == 2 && is_none(numbers[2]) && is_none(numbers[3]) && numbers[5] == 7));
}

TEST_CASE("examples: tokens with numbers, vectors with tokens, and vectors as a source") {
  const TemporaryFolder folder;
  const Corpus rated = vectors_of(
      folder,
      "{\"input\": \"x y x\", \"target\": [1, null, 2]}\n{\"input\": \"y\", \"target\": [0]}\n",
      to_continue);
  CHECK(rated.source->vocabulary().size() == 3);  // with <unk>
  CHECK_FALSE(rated.target);
  CHECK(batch_of(rated, to_continue).input[2] == rated.source->vocabulary().find("x"));
  const Corpus named = vectors_of(
      folder,
      "{\"input\": [[1], [2]], \"target\": \"x .\"}\n{\"input\": [[3]], \"target\": [\"y\"]}\n",
      to_continue);
  CHECK_FALSE(named.source);
  CHECK(named.target->vocabulary().size() == 3);
  const Corpus spoken = vectors_of(folder,
                                   "{\"source\": [[1, 0], [2, 0]], \"target\": \"x "
                                   "y\"}\n{\"source\": [[3, 1]], \"target\": \"y\"}\n",
                                   to_translate);
  const Batch batch = batch_of(spoken, to_translate);
  CHECK(batch.features.shape() == Shape{2, 2, 2});
  CHECK(batch.source_lengths[1] == 1);
  CHECK_FALSE(batch.source);
  CHECK(batch.input.shape() == Shape{2, 3});
  CHECK(spoken.longest_source == 2);
}

TEST_CASE("examples: two sources, tokens and vectors") {
  const TemporaryFolder folder;
  const auto lines = [](const char* first, const char* second) {
    return fmt::format(
        "{{\"source\": \"x y\", \"input\": [1, 2, 3], \"target\": {}}}\n"
        "{{\"input\": [4, 5, 6], \"source\": [\"y\"], \"target\": {}}}\n",
        first, second);
  };
  const Corpus tagged =
      vectors_of(folder, lines(R"(["a", null, "b"])", R"("b b a")"), to_classify, true);
  CHECK((tagged.format.two_sources && tagged.format.at_positions && tagged.format.features == 1));
  CHECK(tagged.source->vocabulary().size() == 3);  // with <unk>
  CHECK((tagged.longest_source == 2 && tagged.longest_input == 3));
  const Batch frames = batch_of(tagged, to_classify);
  CHECK(frames.source.shape() == Shape{2, 2});
  CHECK((frames.source_lengths[0] == 2 && frames.source_lengths[1] == 1));
  CHECK(frames.source[2] == tagged.source->vocabulary().find("y"));
  CHECK_FALSE(frames.input);
  CHECK((frames.input_lengths[0] == 3 && frames.input_lengths[1] == 3));
  CHECK(numbers_in(frames.features) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK((frames.target.shape() == Shape{2, 3} && frames.targets == 5));

  const Corpus asked = vectors_of(folder, lines(R"("a b")", R"("b")"), to_translate);
  CHECK((asked.format.two_sources && asked.format.positions == 3 && asked.longest_source == 5));
  const Batch both = batch_of(asked, to_translate);
  CHECK((both.source_lengths[0] == 5 && both.source_lengths[1] == 4));
  CHECK((both.source.shape() == Shape{2, 2} && both.features.shape() == Shape{2, 3, 1}));
  CHECK(both.input.shape() == Shape{2, 3});
}

TEST_CASE("examples: targets of learned queries") {
  const TemporaryFolder folder;
  const auto load = [&](const std::string& lines) {
    DataOptions options;
    options.kind = &data_kinds::examples;
    options.path = folder.write("train.jsonl", lines);
    options.val_fraction = options.test_fraction = 0;
    return load_corpus(options, to_classify, 1, {}, true, nullptr, 2);
  };
  const Corpus corpus = load(
      "{\"input\": [1, 2, 3], \"target\": [1, null]}\n"
      "{\"input\": [4], \"target\": [2, 3]}\n");
  CHECK((corpus.format.at_positions && corpus.format.targets == 2));
  const Batch batch = batch_of(corpus, to_classify);
  CHECK((batch.numbers.shape() == Shape{2, 2} && batch.targets == 3));
  CHECK((numbers_in(batch.numbers)[0] == 1 && is_none(numbers_in(batch.numbers)[1])));
  CHECK(batch.features.shape() == Shape{2, 3, 1});
  CHECK_CONTAINS(input_error([&] { load("{\"input\": [1, 2, 3], \"target\": [1, 2, 3]}\n"); }),
                 "line 1: \"target\": expected a target, or none, for each of the 2 learned "
                 "queries, found 3");
}

TEST_CASE("examples: graphs, grids and positions of their own") {
  const TemporaryFolder folder;
  const Corpus graph = vectors_of(
      folder,
      "{\"nodes\": [[1], [2]], \"edges\": [[0, 1, 0.5]], \"target\": \"x\"}\n"
      "{\"nodes\": [[1], [2], [3]], \"edges\": [[2, 0, 1], [1, 1, 2]], \"target\": \"y\"}\n"
      "{\"nodes\": [[4]], \"edges\": [], \"target\": \"y\"}\n",
      to_classify);
  CHECK((graph.format.has_edges && graph.format.edge_features == 1 && graph.max_edges == 2));
  const Batch batch = batch_of(graph, to_classify);
  CHECK(batch.edges.sender[1] == 3 + 2);
  CHECK(batch.edges.receiver[1] == 3 + 0);
  CHECK(numbers_in(batch.edges.features) == std::vector<float>{0.5F, 1, 2});
  const auto wholes = [&](const char* first, const char* second) {
    return vectors_of(
        folder,
        fmt::format("{{\"nodes\": [[1], [2]], \"edges\": [[0, 1]], {}\"target\": \"x\"}}\n"
                    "{{\"nodes\": [[1]], {}\"target\": \"y\"}}\n",
                    first, second),
        to_classify);
  };
  const Corpus global = wholes("\"global\": [0.5, 2], ", "\"global\": [3, 4], ");
  CHECK(global.format.global == 2);
  CHECK(numbers_in(batch_of(global, to_classify).global) == std::vector<float>{0.5F, 2, 3, 4});
  CHECK_FALSE(batch.global);
  const auto message = [&](const char* first, const char* second) {
    return input_error([&] { wholes(first, second); });
  };
  CHECK_CONTAINS(message("", "\"global\": [1], "), "line 2: \"global\": expected as many numbers");
  CHECK_CONTAINS(message("\"global\": [1], ", ""), "line 2: \"global\": expected as many numbers");
  for (const char* other : {"1", "\"x\"", "[\"x\"]", "[]", "[[1]]", "[null]", "[1, null]"})
    CHECK_CONTAINS(message(fmt::format("\"global\": {}, ", other).c_str(), ""),
                   "line 1: \"global\": expected a list of numbers");
  const Corpus grid = vectors_of(
      folder, "{\"input\": [1, 2, 3, 4, 5, 6], \"grid\": [2, 3], \"target\": [0, 1, 0, 1, 0, 1]}\n",
      to_classify, true);
  CHECK(grid.grid == std::vector<int64_t>{2, 3});
  const Corpus placed =
      vectors_of(folder,
                 "{\"input\": [1, 2], \"positions\": [7, 9], \"target\": [0, 1]}\n"
                 "{\"input\": [1], \"target\": [0]}\n",
                 to_continue);
  CHECK((placed.format.position_ids && placed.last_position == 9));
  const Batch places = batch_of(placed, to_continue);
  CHECK((places.positions[0] == 7 && places.positions[1] == 9 && places.positions[2] == 0));
}

TEST_CASE("examples: arrays of a file are the same examples") {
  const TemporaryFolder folder;
  const auto load = [&](std::vector<NamedArray> arrays, ModelKind framing, bool at_positions) {
    write_safetensors(folder / "data.safetensors", std::move(arrays));
    DataOptions options;
    options.kind = &data_kinds::examples;
    options.path = folder / "data.safetensors";
    options.val_fraction = options.test_fraction = 0;
    return load_corpus(options, framing, 1, {}, at_positions);
  };
  const auto message = [&](std::vector<NamedArray> arrays) {
    return thrown<InputError>([&] { load(std::move(arrays), to_continue, false); });
  };
  const float x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {NAN, 1, 2, 3};
  const int64_t labels[] = {0, 1, 1, -1};
  const NamedArray input{"input", DType::F32, {2, 2, 2}, x};
  const Corpus numbers = load({input, {"target", DType::F32, {2, 2}, y}}, to_continue, false);
  const Batch batch = batch_of(numbers, to_continue);
  CHECK(numbers_in(batch.features) == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(batch.targets == 3);
  const Corpus tags = load({input, {"target", DType::I64, {2, 2}, labels}}, to_classify, true);
  CHECK(tags.labels == std::vector<std::string>{"0", "1"});
  CHECK(batch_of(tags, to_classify).targets == 3);
  const Corpus whole =
      load({{"input", DType::F32, {2, 2, 2, 1}, x}, {"target", DType::I64, {2}, labels}},
           to_classify, false);
  CHECK(whole.grid == std::vector<int64_t>{2, 2});
  CHECK(whole.files.size() == 1);
  CHECK_CONTAINS(message({input}), "there is no array \"target\"");
  CHECK_CONTAINS(message({input, {"target", DType::F32, {4}, y}}), "as many examples");
  CHECK_CONTAINS(message({input, {"target", DType::F32, {2, 2}, y}, {"more", DType::F32, {2}, y}}),
                 "found more");
  CHECK_CONTAINS(message({{"input", DType::F32, {2, 1}, y}, {"target", DType::F32, {2, 1}, y}}),
                 "\"input\": example 0 has a number that is not finite");
}

TEST_CASE("examples: vectors and numbers that do not fit are refused with file, line and key") {
  const TemporaryFolder folder;
  struct Bad {
    ModelKind framing;
    bool at_positions;
    const char *first, *second, *expected;
  };
  const char* const good = "{\"input\": [[1, 2]], \"target\": [1]}";
  const char* const whole = "{\"input\": [[1, 2]], \"target\": 1}";
  const char* const node = "{\"nodes\": [[1]], \"edges\": [], \"target\": 1}";
  const Bad all[] = {
      {to_continue, false, good, "{\"input\": [[1, 2, 3]], \"target\": [1]}",
       "line 2: \"input\": expected vectors of 2 numbers, as in the first example, found 3"},
      {to_continue, false, good, "{\"input\": \"a\", \"target\": [1]}",
       "line 2: \"input\": expected vectors, as in the first example"},
      {to_continue, false, good, "{\"input\": [[1, 2]], \"target\": [\"a\"]}",
       "line 2: \"target\": expected numbers, as in the first example"},
      {to_continue, false, good, "{\"input\": [[1, 2]], \"target\": [1, 2]}",
       "line 2: \"target\": expected a target, or none, at each of the 1 positions"},
      {to_continue, false, good, whole, "line 2: \"target\": expected a list"},
      {to_continue, false, good, "{\"input\": [[1, 2]], \"grid\": [1], \"target\": [1]}",
       "line 2: \"grid\": a language model reads a sequence"},
      {to_continue, false, good, "{\"source\": [[1, 2]], \"target\": \"a\"}",
       "line 2: \"source\": a language model reads vectors as an \"input\""},
      {to_continue, false, good, node, "line 2: \"nodes\": a language model reads"},
      {to_classify, false, whole, good,
       "line 2: \"target\": expected one number for the whole input"},
      {to_classify, false, whole, "{\"input\": [[1, 2]], \"edges\": [[0, 0]], \"target\": 1}",
       "line 2: \"edges\": expected \"nodes\" with it"},
      {to_classify, false, whole, "{\"input\": [[1, 2]], \"grid\": [1, 1], \"target\": 1}",
       "line 2: \"grid\": expected the same grid, as in the first example"},
      {to_classify, false, "{\"input\": [[1, 2]], \"grid\": [2, 1], \"target\": 1}", whole,
       "line 1: \"grid\": expected at most 5 lengths whose product is the number of vectors, 1"},
      {to_classify, false, node, "{\"nodes\": [[1]], \"edges\": [[0, 1]], \"target\": 1}",
       "line 2: \"edges\": expected nodes from 0 to 0, found 1"},
      {to_classify, false, node, "{\"nodes\": [[1]], \"edges\": [[0, 0.5]], \"target\": 1}",
       "line 2: \"edges\": expected nodes from 0 to 0, found 0.5"},
      {to_classify, false, node, "{\"nodes\": [[1]], \"edges\": [[0]], \"target\": 1}",
       "line 2: \"edges\": expected lists of 2 numbers, the two nodes of an edge first"},
      {to_translate, false, "{\"source\": [[1]], \"target\": [1, 2]}", "",
       "line 1: \"target\": expected tokens: a text, or a list of strings; numbers are targets of "
       "an"},
  };
  for (const Bad& bad : all) {
    const std::string message = thrown<InputError>([&] {
      vectors_of(folder, std::string(bad.first) + "\n" + bad.second + "\n", bad.framing,
                 bad.at_positions);
    });
    CHECK_CONTAINS(message, "train.jsonl: " + std::string(bad.expected));
  }
}
