// The order of examples, and batches.
#include <algorithm>
#include <numeric>

#include "allocations.h"
#include "core/ops.h"
#include "core/random.h"
#include "data/features.h"
#include "data/sampler.h"
#include "support.h"

namespace heed {

using Ints = std::vector<int32_t>;

// Example i has i mod 5 + 1 inputs, all equal to i, and targets at all positions but the first.
static Dataset numbered(int64_t size, ModelKind framing = ModelKind::language_model) {
  return {size, [framing](int64_t i, Example& example) {
            const auto value = static_cast<int32_t>(i);
            const auto length = static_cast<size_t>(i % 5 + 1);
            example.source.assign(framing == ModelKind::seq2seq ? length + 2 : 0, value);
            example.input.assign(length, value);
            example.target.assign(framing == ModelKind::classifier ? 1 : length, value);
            if (framing == ModelKind::language_model) example.target[0] = -1;
          }};
}

static Ints values(const Ids& ids) { return {ids.data(), ids.data() + ids.size()}; }

TEST_CASE("each epoch is a different permutation, a function of seed and position") {
  for (const int64_t size : {1, 2, 3, 5, 7, 16, 17, 64, 65, 1000, 4097}) {
    CAPTURE(size);
    const Shuffle shuffle(size, 5), same(size, 5), other(size, 6);
    Ints previous;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      Ints order, sorted;
      for (int64_t i = 0; i < size; ++i)
        order.push_back(static_cast<int32_t>(shuffle(epoch * size + i)));
      sorted = order;
      std::sort(sorted.begin(), sorted.end());
      Ints all(static_cast<size_t>(size));
      std::iota(all.begin(), all.end(), 0);
      CHECK(sorted == all);
      if (size >= 16) CHECK(order != previous);
      if (size >= 16) CHECK(order != all);
      previous = order;
    }
    // In reverse order, from another object: only the position matters.
    for (int64_t i = size - 1; i >= 0; --i)
      CHECK(same(2 * size + i) == previous[static_cast<size_t>(i)]);
    if (size >= 100) {
      int64_t equal = 0;
      for (int64_t i = 0; i < size; ++i) equal += shuffle(i) == other(i);
      CHECK(equal < 10);
    }
  }
}

// The numbers are those of tests/fixtures/make_random.py.
TEST_CASE("the order of the examples that a seed gives is fixed") {
  const auto order = [](int64_t size, int64_t first, int64_t count) {
    const Shuffle shuffle(size, 3);
    std::vector<int64_t> indices;
    for (int64_t i = first; i < first + count; ++i) indices.push_back(shuffle(i));
    return indices;
  };
  using Indices = std::vector<int64_t>;
  CHECK(order(10, 0, 20) == Indices{4, 9, 6, 2, 0, 7, 8, 3, 5, 1, 7, 1, 4, 9, 2, 0, 5, 8, 3, 6});
  CHECK(order(1000, 995, 10) == Indices{710, 527, 397, 239, 970, 268, 29, 463, 805, 930});
  constexpr int64_t large = (int64_t{1} << 40) + 12345;
  CHECK(order(large, large - 2, 4) ==
        Indices{382080954343, 583295821326, 938551663927, 832137381811});
  CHECK(order(10, int64_t{10} << 32, 10) == Indices{7, 1, 6, 5, 3, 4, 2, 9, 0, 8});
}

TEST_CASE("every example is equally likely at every position of an epoch") {
  constexpr int64_t size = 11, epochs = 20'000;
  const Shuffle shuffle(size, 1);
  int64_t counts[size][size] = {}, follows[size][size] = {};
  for (int64_t epoch = 0; epoch < epochs; ++epoch)
    for (int64_t i = 0; i < size; ++i) {
      const int64_t index = shuffle(epoch * size + i);
      ++counts[i][index];
      if (i > 0) ++follows[shuffle(epoch * size + i - 1)][index];
    }
  constexpr double expected = double{epochs} / size;
  double chi_squared = 0, chi_squared_pairs = 0;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      const double error = static_cast<double>(counts[i][j]) - expected;
      chi_squared += error * error / expected;
      const double error_of_pair =  // each of the 10 other examples follows at 10 positions
          static_cast<double>(follows[i][j]) - expected;
      if (i != j) chi_squared_pairs += error_of_pair * error_of_pair / expected;
    }
  // About 100 and 109 degrees of freedom: mean 100, standard deviation 14. The limit of 170 is five
  // deviations above the mean.
  CHECK(chi_squared < 170);
  CHECK(chi_squared_pairs < 185);
}

TEST_CASE("a dataset too large to list is shuffled") {
  const int64_t size = (int64_t{1} << 40) + 12345;
  const Shuffle shuffle(size, 9);
  std::vector<int64_t> seen;
  for (int64_t i = 0; i < 1000; ++i) {
    seen.push_back(shuffle(size - 500 + i));  // across the end of an epoch
    CHECK(seen.back() >= 0);
    CHECK(seen.back() < size);
  }
  std::sort(seen.begin(), seen.begin() + 500);
  CHECK(std::adjacent_find(seen.begin(), seen.begin() + 500) == seen.begin() + 500);
  CHECK_THROWS_AS(Shuffle(0, 1), Error);
}

TEST_CASE("rows are padded to the longest: 0 in inputs, -1 in targets") {
  const Dataset dataset = numbered(8);
  Batches batches = Batches::in_order(dataset, ModelKind::language_model, 3);
  CHECK(batches.count() == 3);
  Batch batch;
  batches.get(1, batch);  // examples 3, 4, 5 of lengths 4, 5, 1
  CHECK_FALSE(batch.source);
  CHECK(batch.input.shape() == Shape{3, 5});
  CHECK(values(batch.input) == Ints{3, 3, 3, 3, 0, 4, 4, 4, 4, 4, 5, 0, 0, 0, 0});
  CHECK(values(batch.target) == Ints{-1, 3, 3, 3, -1, -1, 4, 4, 4, 4, -1, -1, -1, -1, -1});
  CHECK(values(batch.input_lengths) == Ints{4, 5, 1});
  CHECK(batch.tokens == 10);
  CHECK(batch.targets == 7);
  batches.get(2, batch);  // the last batch is smaller
  CHECK(batch.input.shape() == Shape{2, 3});
  CHECK_THROWS_AS(batches.get(3, batch), Error);
  CHECK_THROWS_AS(batches.get(-1, batch), Error);
}

TEST_CASE("seq2seq batches have sources, classifier batches one label per row") {
  const Dataset pairs = numbered(3, ModelKind::seq2seq),
                labelled = numbered(3, ModelKind::classifier);
  Batch batch;
  Batches::in_order(pairs, ModelKind::seq2seq, 3).get(0, batch);
  CHECK(batch.source.shape() == Shape{3, 5});
  CHECK(values(batch.source_lengths) == Ints{3, 4, 5});
  CHECK(values(batch.source) == Ints{0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 2, 2, 2, 2, 2});
  CHECK(batch.targets == 6);
  Batches::in_order(labelled, ModelKind::classifier, 3).get(0, batch);
  CHECK(batch.target.shape() == Shape{3});
  CHECK(values(batch.target) == Ints{0, 1, 2});
  CHECK(batch.targets == 3);
  CHECK(batch.tokens == 6);
}

// Example i has i mod 3 + 1 positions with the features (i, t), and edges from each to the first,
// with the feature 10 i + t.
static Dataset numbered_graphs(ModelKind framing, bool has_edges = true) {
  const ExampleFormat format{2, has_edges, has_edges ? 1 : 0};
  return feature_dataset(format, 30, [=](int64_t i, Example& example) {
    for (std::vector<float>* floats : {&example.features, &example.edge_features}) floats->clear();
    for (Ints* ends : {&example.sender, &example.receiver}) ends->clear();
    for (int64_t t = 0; t <= i % 3; ++t) {
      example.features.push_back(static_cast<float>(i));
      example.features.push_back(static_cast<float>(t));
      if (!has_edges) continue;
      example.sender.push_back(static_cast<int32_t>(t));
      example.receiver.push_back(0);
      example.edge_features.push_back(static_cast<float>(10 * i + t));
    }
    if (framing == ModelKind::seq2seq) example.input.assign(4, 7);
    example.target.assign(framing == ModelKind::seq2seq ? 4 : 1, 1);
  });
}

static std::vector<float> elements(const Tensor& tensor) {
  return {tensor.values().begin(), tensor.values().end()};
}

TEST_CASE(
    "features are padded with 0; edges are joined and refer to positions of the padded batch") {
  const Dataset dataset = numbered_graphs(ModelKind::classifier);
  Batches batches = Batches::in_order(dataset, ModelKind::classifier, 3);
  Batch batch;
  batches.get(1, batch);  // examples 3, 4, 5 of 1, 2, 3 positions
  CHECK_FALSE(batch.input);
  CHECK_FALSE(batch.source);
  CHECK(batch.features.shape() == Shape{3, 3, 2});
  CHECK(elements(batch.features) ==
        std::vector<float>{3, 0, 0, 0, 0, 0, 4, 0, 4, 1, 0, 0, 5, 0, 5, 1, 5, 2});
  CHECK(values(batch.input_lengths) == Ints{1, 2, 3});
  CHECK(values(batch.edges.sender) == Ints{0, 3, 4, 6, 7, 8});
  CHECK(values(batch.edges.receiver) == Ints{0, 3, 3, 6, 6, 6});
  CHECK(batch.edges.features.shape() == Shape{6, 1});
  CHECK(elements(batch.edges.features) == std::vector<float>{30, 40, 41, 50, 51, 52});
  CHECK(batch.target.shape() == Shape{3});
  CHECK(batch.tokens == 6);
  CHECK(batch.targets == 3);
}

TEST_CASE("features that do not fill positions or edges are rejected") {
  const auto message = [](const Example& more) {
    const Dataset dataset =
        feature_dataset({2, true, 3}, 1, [&](int64_t, Example& to) { to = more; });
    Batch batch;
    return thrown<Error>(
        [&] { Batches::in_order(dataset, ModelKind::classifier, 1).get(0, batch); });
  };
  CHECK_CONTAINS(message({.features = {1, 2, 3}}),
                 "example 0 has 3 numbers, which do not fill positions of 2 features");
  CHECK_CONTAINS(
      message({.features = {1, 2}, .sender = {0, 0}, .receiver = {0}, .edge_features = {1, 2, 3}}),
      "example 0 has 2 senders and 1 receivers");
  CHECK_CONTAINS(
      message({.features = {1, 2}, .sender = {0}, .receiver = {0}, .edge_features = {1, 2}}),
      "example 0 has 2 numbers of edges, but 1 edges of 3 features");
}

TEST_CASE("features of a seq2seq example replace the source, not the inputs") {
  const Dataset dataset = numbered_graphs(ModelKind::seq2seq, /*has_edges=*/false);
  Batch batch;
  Batches::in_order(dataset, ModelKind::seq2seq, 2)
      .get(1, batch);  // examples 2, 3 of 3, 1 positions
  CHECK_FALSE(batch.source);
  CHECK_FALSE(batch.edges.sender);
  CHECK_FALSE(batch.edges.features);
  CHECK(batch.features.shape() == Shape{2, 3, 2});
  CHECK(values(batch.source_lengths) == Ints{3, 1});
  CHECK(batch.input.shape() == Shape{2, 4});
  CHECK(values(batch.input_lengths) == Ints{4, 4});
  CHECK(batch.tokens == 8);
}

TEST_CASE("bucketing sorts by the number of feature vectors") {
  const Dataset dataset = numbered_graphs(ModelKind::classifier);
  Batches batches = Batches::shuffled(dataset, ModelKind::classifier, 2, 1, 15);
  Batch batch;
  for (int64_t position = 0; position < 15; ++position) {
    batches.get(position, batch);
    CHECK(batch.input_lengths[0] == batch.input_lengths[1]);
  }
}

TEST_CASE("an example does not depend on its batch or its row") {
  const Dataset dataset = numbered(50, ModelKind::seq2seq);
  Batch batch, single;
  Batches batches = Batches::in_order(dataset, ModelKind::seq2seq, 16);
  Batches one = Batches::in_order(dataset, ModelKind::seq2seq, 1);
  for (int64_t i = 0; i < 50; ++i) {
    batches.get(i / 16, batch);
    one.get(i, single);
    const auto row = i % 16;
    REQUIRE(batch.input_lengths[row] == single.input.dim(1));
    REQUIRE(batch.source_lengths[row] == single.source.dim(1));
    const int64_t width = batch.input.dim(1);
    for (int64_t t = 0; t < width; ++t) {
      const bool real = t < single.input.dim(1);
      CHECK(batch.input[row * width + t] == (real ? single.input[t] : 0));
      CHECK(batch.target[row * width + t] == (real ? single.target[t] : -1));
    }
  }
}

TEST_CASE("training batches are full, cross epochs and contain every example once per epoch") {
  const Dataset dataset = numbered(10);
  for (const int64_t bucketing : {1, 5}) {  // groups of 4 · 5 = 20 are two epochs
    CAPTURE(bucketing);
    Batches batches = Batches::shuffled(dataset, ModelKind::language_model, 4, 3, bucketing);
    Batch batch;
    Ints counts(10);
    for (int64_t position = 0; position < 5; ++position) {
      batches.get(position, batch);
      CHECK(batch.input.dim(0) == 4);
      for (int64_t row = 0; row < 4; ++row)
        ++counts[static_cast<size_t>(batch.input[row * batch.input.dim(1)])];
    }
    CHECK(counts == Ints(10, 2));
  }
}

TEST_CASE("a batch depends only on its position, in any order of calls") {
  const Dataset dataset = numbered(1000);
  for (const int64_t bucketing : {1, 8}) {
    Batches forward = Batches::shuffled(dataset, ModelKind::language_model, 6, 3, bucketing);
    std::vector<Ints> expected;
    Batch batch;
    for (int64_t position = 0; position < 300; ++position) {
      forward.get(position, batch);
      expected.push_back(values(batch.input));
    }
    Random random(1, Purpose::test);
    for (int i = 0; i < 100; ++i) {
      const uint64_t position = random.below(300);
      Batches resumed = Batches::shuffled(dataset, ModelKind::language_model, 6, 3, bucketing);
      resumed.get(static_cast<int64_t>(position), batch);
      CHECK(values(batch.input) == expected[position]);
    }
    Batches other = Batches::shuffled(dataset, ModelKind::language_model, 6, 4, bucketing);
    other.get(0, batch);
    CHECK(values(batch.input) != expected[0]);
  }
}

TEST_CASE("a part of the examples of a batch is its rows, padded to their own longest") {
  const Dataset dataset = numbered(40);
  Batches batches = Batches::shuffled(dataset, ModelKind::language_model, 8, 1, 2);
  Batch whole, part;
  for (const int64_t position : {0, 3}) {
    batches.get(position, whole);
    const std::span<const Example* const> examples = batches.examples(position);
    REQUIRE(examples.size() == 8);
    int64_t row = 0, targets = 0, tokens = 0;
    for (size_t first = 0; first < 8; first += 2) {
      batches.write(examples.subspan(first, 2), part);
      REQUIRE(part.input_lengths.size() == 2);
      targets += part.targets;
      tokens += part.tokens;
      int32_t longest = 0;
      for (int64_t b = 0; b < 2; ++b, ++row) {
        longest = std::max(longest, part.input_lengths[b]);
        CHECK(part.input_lengths[b] == whole.input_lengths[row]);
        CHECK(part.input[b * part.input.dim(1)] == whole.input[row * whole.input.dim(1)]);
      }
      CHECK(part.input.dim(1) == longest);
    }
    CHECK(targets == whole.targets);
    CHECK(tokens == whole.tokens);
  }
}

TEST_CASE("bucketing reduces padding") {
  DataOptions options;
  const Corpus corpus = load_corpus(options, ModelKind::seq2seq, 1);
  const auto real_fraction = [&](int64_t bucketing) {
    Batches batches =
        Batches::shuffled(split(corpus, "train"), ModelKind::seq2seq, 32, 1, bucketing);
    Batch batch;
    int64_t real = 0, all = 0;
    for (int64_t position = 0; position < 64; ++position) {
      batches.get(position, batch);
      real += batch.tokens;
      all += batch.input.size();
    }
    return static_cast<double>(real) / static_cast<double>(all);
  };
  CHECK(real_fraction(1) < 0.65);
  CHECK(real_fraction(16) > 0.93);
}

TEST_CASE("sizes below 1 are rejected") {
  const Dataset none = numbered(0), some = numbered(3);
  CHECK_THROWS_AS(Batches::in_order(none, ModelKind::classifier, 4), Error);
  CHECK_THROWS_AS(Batches::in_order(some, ModelKind::classifier, 0), Error);
  CHECK_THROWS_AS(Batches::shuffled(some, ModelKind::classifier, 4, 1, 0), Error);
}

#if !defined(__SANITIZE_ADDRESS__)  // with it, the pool keeps no free blocks
TEST_CASE("batches allocate nothing in the steady state") {
  DataOptions reverse, graph, streams;
  graph.kind = &data_kinds::graph;
  graph.symbols = 4;
  graph.lengths = {4, 12};
  graph.edge_kinds = 2;
  streams.kind = &data_kinds::streams;
  streams.symbols = 9;
  streams.lengths = {1, 4};
  for (const DataOptions& options : {reverse, graph, streams}) {
    const int64_t warm_up = options.kind == &data_kinds::reverse ? 1600 : 480;
    const ModelKind framing =
        options.kind == &data_kinds::graph ? ModelKind::classifier : ModelKind::seq2seq;
    CAPTURE(options.kind->name);
    const Corpus corpus = load_corpus(options, framing, 1);
    for (const int64_t bucketing : {1, 16}) {
      Batches batches = Batches::shuffled(split(corpus, "train"), framing, 32, 1, bucketing);
      Batch batch;
      for (int64_t position = 0; position < warm_up; ++position) batches.get(position, batch);
      const int64_t before = allocations();
      for (int64_t position = warm_up; position < 2 * warm_up; ++position)
        batches.get(position, batch);
      CHECK(allocations() == before);
    }
  }
}
#endif

}  // namespace heed
