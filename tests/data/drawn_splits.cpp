// Properties of all tasks that draw whole examples: disjoint splits, examples that depend only on
// their index, noise, and invalid options.
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "core/random.h"
#include "data/batch.h"
#include "data/split.h"
#include "drawn_options.h"

namespace heed {

// The content, which must not be in two splits.
static Ints content_of(const DataKind* kind, const Example& example) {
  if (kind == &data_kinds::streams) return example.target;
  Ints content = example.input;
  if (kind == &data_kinds::set) std::sort(content.begin(), content.end());
  for (const float feature : example.features) content.push_back(static_cast<int32_t>(feature));
  for (const Ints* ends : {&example.sender, &example.receiver})
    content.insert(content.end(), ends->begin(), ends->end());
  return content;
}

static std::set<Ints> contents(const Corpus& corpus, const DataKind* kind, const char* name,
                               int64_t count) {
  std::set<Ints> found;
  Example example;
  for (int64_t i = 0; i < count; ++i) {
    split(corpus, name).get(i, example);
    found.insert(content_of(kind, example));
  }
  return found;
}

// What a seed means must not change. The numbers were recorded. The readers in
// tests/data/drawn.cpp check that the examples are right.
TEST_CASE("drawn examples: those that a seed gives are fixed") {
  const struct {
    const DataKind* kind;
    uint64_t hash;  // of the first ten examples of every split
  } golden[] = {
      {&data_kinds::graph, 5760608070027652166u},   {&data_kinds::recall, 17042948201672471951u},
      {&data_kinds::set, 15579803029800955101u},    {&data_kinds::shapes, 17106244911198327531u},
      {&data_kinds::streams, 9431548500425294854u}, {&data_kinds::subject, 398423409727233923u},
      {&data_kinds::video, 14476537840632521112u}};
  for (const auto& [kind, hash] : golden) {
    const std::string task = kind->name;
    CAPTURE(task);
    const Corpus corpus = drawn(drawn_options(kind));
    Ints all;
    for (const char* name : {"train", "val", "test"})
      for (int64_t i = 0; i < 10; ++i) {
        const Example example = example_of(split(corpus, name), i);
        for (const Ints* ids :
             {&example.source, &example.input, &example.target, &example.sender, &example.receiver})
          all.insert(all.end(), ids->begin(), ids->end());
        for (const auto* features : {&example.features, &example.edge_features})
          for (const float feature : *features) all.push_back(std::bit_cast<int32_t>(feature));
      }
    CHECK(stable_hash(all) == hash);
  }
}

TEST_CASE("drawn examples: training never shows held-out contents, for any seeds") {
  for (const DataKind* kind : drawn_kinds()) {
    CAPTURE(kind->name);
    const DataOptions options = drawn_options(kind);
    const Corpus corpus = drawn(options, 1), other = drawn(options, 2);
    CHECK(split(corpus, "val").size == 1000);
    CHECK(split(corpus, "train").size == int64_t{1} << 40);
    const std::set<Ints> val = contents(corpus, kind, "val", 400),
                         test = contents(corpus, kind, "test", 400);
    CHECK(val.size() > 30);
    CHECK(test.size() > 30);
    for (const Ints& content : val) CHECK_FALSE(test.contains(content));
    for (const Corpus* each : {&corpus, &other})
      for (const Ints& content : contents(*each, kind, "train", 4000)) {
        CHECK_FALSE(val.contains(content));
        CHECK_FALSE(test.contains(content));
      }
  }
}

static bool operator==(const Example& a, const Example& b) {
  return a.source == b.source && a.input == b.input && a.target == b.target &&
         a.prompt == b.prompt && a.positions == b.positions && a.features == b.features &&
         a.sender == b.sender && a.receiver == b.receiver && a.edge_features == b.edge_features;
}

TEST_CASE("a drawn example depends only on seed, split and index, in any order of calls") {
  for (const DataKind* kind : drawn_kinds()) {
    CAPTURE(kind->name);
    DataOptions options = drawn_options(kind);
    if (options.noise == 0) options.noise = 0.3;
    const Corpus a = drawn(options, 3), b = drawn(options, 3), c = drawn(options, 4);
    CHECK(a.fingerprint == b.fingerprint);
    CHECK(a.fingerprint != c.fingerprint);
    const Dataset &forward = split(a, "train"), &backward = split(b, "train");
    Example example, again;
    for (int64_t i = 19; i >= 0; --i) {
      backward.get(i, again);
      forward.get(19 - i, example);
      forward.get(i, example);
      CHECK(example == again);
    }
    CHECK(example_of(split(a, "val"), 999) == example_of(split(b, "val"), 999));
    const int64_t far = (int64_t{1} << 36) + 5;
    CHECK(example_of(forward, far) == example_of(backward, far));
    int same = 0;
    for (int64_t i = 0; i < 20; ++i)
      same += example_of(forward, i) == example_of(split(c, "train"), i) ||
              example_of(forward, i) == example_of(forward, i + (int64_t{1} << 32));
    CHECK(same < 3);
  }
}

TEST_CASE("noise is added to the features of the same example without noise") {
  for (const DataKind* kind : {&data_kinds::shapes, &data_kinds::video, &data_kinds::streams}) {
    DataOptions options = drawn_options(kind);
    const Corpus clear = drawn(options);
    options.noise = 0.25;
    const Corpus noisy = drawn(options);
    CHECK(clear.fingerprint != noisy.fingerprint);
    double sum = 0, squares = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < 200; ++i) {
      const Example a = example_of(split(clear, "train"), i),
                    b = example_of(split(noisy, "train"), i);
      CHECK(a.target == b.target);
      const std::vector<float>&clear_features = a.features, &noisy_features = b.features;
      REQUIRE(clear_features.size() == noisy_features.size());
      for (size_t k = 0; k < clear_features.size(); ++k, ++count) {
        const double noise = noisy_features[k] - clear_features[k];
        sum += noise;
        squares += noise * noise;
      }
    }
    CHECK(std::abs(sum / static_cast<double>(count)) < 0.01);
    CHECK(std::sqrt(squares / static_cast<double>(count)) == doctest::Approx(0.25).epsilon(0.03));
  }
}

TEST_CASE("longer sets, graphs, streams, sentences and prompts form the split test_longer") {
  for (const DataKind* kind : {&data_kinds::graph, &data_kinds::streams, &data_kinds::set,
                               &data_kinds::subject, &data_kinds::recall}) {
    CAPTURE(kind->name);
    DataOptions options = drawn_options(kind);
    options.longer_lengths = {options.lengths[1] + 1, options.lengths[1] + 2};
    options.test_size = 77;
    const Corpus corpus = drawn(options), shorter = drawn(drawn_options(kind));
    CHECK(split(corpus, "test_longer").size == 77);
    CHECK(corpus.labels == shorter.labels);
    CHECK(corpus.longest_input > shorter.longest_input);
    const std::set<Ints> train = contents(corpus, kind, "train", 1000);
    for (const Ints& longer : contents(corpus, kind, "test_longer", 77))
      CHECK_FALSE(train.contains(longer));
  }
}

TEST_CASE("invalid options of a drawn task are rejected") {
  using Change = void (*)(DataOptions&);
  struct Row {
    const DataKind* kind;
    Change change;
    const char* message;
  };
  const Row rows[] = {
      {&data_kinds::graph,
       [](DataOptions& o) {
         o.lengths = {2, 5};
       },
       "`lengths` must start at 3 or more, not 2"},
      {&data_kinds::graph, [](DataOptions& o) { o.symbols = 1001; },
       "`symbols` = 1001 colours are too many"},
      {&data_kinds::set,
       [](DataOptions& o) {
         o.lengths = {1, 5};
       },
       "`lengths` must start at 2 or more, not 1"},
      {&data_kinds::set,
       [](DataOptions& o) {
         o.lengths = {2, 2};
         o.symbols = 2;
       },
       "almost no example falls into the split"},
      {&data_kinds::subject,
       [](DataOptions& o) {
         o.lengths = {4, 12};
       },
       "a sentence holds `nouns` nouns and a verb"},
      {&data_kinds::subject, [](DataOptions& o) { o.nouns = 6; },
       "`nouns` = 6 must not exceed the number of cases"},
      {&data_kinds::subject, [](DataOptions& o) { o.symbols = 1001; }, "too many words"},
      {&data_kinds::recall,
       [](DataOptions& o) {
         o.longer_lengths = {5, 7};
       },
       "7 pairs need as many keys, and there are `symbols` = 6"},
      {&data_kinds::shapes, [](DataOptions& o) { o.frames = 5; },
       "`frames` is not used by `kind` = \"shapes\""},
  };
  for (const Row& row : rows) {
    DataOptions options = drawn_options(row.kind);
    row.change(options);
    CHECK_CONTAINS(input_error([&] { drawn(options); }), row.message);
  }
  CHECK_CONTAINS(
      input_error([] { load_corpus(drawn_options(&data_kinds::shapes), ModelKind::seq2seq, 1); }),
      "`kind` = \"shapes\" cannot train `framing` = \"seq2seq\"");
}

// Random options near the smallest valid ones.
static DataOptions any_options(const DataKind* kind, Random& random) {
  const auto between = [&](int64_t least, uint64_t spread) {
    return least + static_cast<int64_t>(random.below(spread));
  };
  DataOptions options, all;
  options.kind = kind;
  all.size = between(3, 4);
  all.frames = between(2, 3);
  all.noise = random.below(2) ? 0.5 : 0;
  all.edge_kinds = between(0, 4);
  all.nouns = between(1, 3);
  all.symbols = between(2, 8);
  all.lengths = {between(1, 5), 0};
  all.lengths[1] = between(all.lengths[0], 4);
  if (kind->uses("size")) options.size = all.size;
  if (kind->uses("frames")) options.frames = all.frames;
  if (kind->uses("noise")) options.noise = all.noise;
  if (kind->uses("edge_kinds")) options.edge_kinds = all.edge_kinds;
  if (kind->uses("nouns")) options.nouns = all.nouns;
  if (kind->uses("symbols")) options.symbols = all.symbols;
  if (kind->uses("lengths")) options.lengths = all.lengths;
  options.val_fraction = options.test_fraction = random.below(2) ? 0.3 : 0;
  return options;
}

TEST_CASE("the smallest pictures, graphs, streams, sets and sentences give valid batches") {
  Random random(4, Purpose::test);
  const std::vector<const DataKind*> kinds = drawn_kinds();
  int loaded = 0, rejected = 0;
  for (int round = 0; round < 300; ++round) {
    const DataKind* kind = kinds[static_cast<size_t>(round) % kinds.size()];
    const DataOptions options = any_options(kind, random);
    try {
      const Corpus corpus = drawn(options);
      ++loaded;
      const auto classes = static_cast<int32_t>(corpus.framing == ModelKind::classifier
                                                    ? static_cast<int64_t>(corpus.labels.size())
                                                    : corpus.target->vocabulary().size());
      REQUIRE(classes >= 2);
      for (const auto& [name, dataset] : corpus.splits) {
        Batches batches = Batches::in_order(dataset, corpus.framing, 3);
        Batch batch;
        for (int64_t position = 0; position < 5; ++position) {
          batches.get(position, batch);
          const bool reads_features = corpus.format.features > 0;
          REQUIRE(static_cast<bool>(batch.features) == reads_features);
          bool inside = batch.targets > 0;
          const int64_t positions = reads_features ? 3 * batch.features.dim(1) : batch.input.size();
          for (int64_t i = 0; i < batch.target.size(); ++i)
            inside = inside && batch.target[i] >= -1 && batch.target[i] < classes;
          if (!reads_features)
            for (int64_t i = 0; i < batch.input.size(); ++i)
              inside = inside && batch.input[i] >= 0 &&
                       batch.input[i] < corpus.source->vocabulary().size();
          for (const Ids* ends : {&batch.edges.sender, &batch.edges.receiver})
            if (corpus.format.has_edges)
              for (int64_t e = 0; e < ends->size(); ++e)
                inside = inside && (*ends)[e] >= 0 && (*ends)[e] < positions;
          REQUIRE(inside);
        }
      }
    } catch (const InputError&) {
      ++rejected;
    }
  }
  CHECK(loaded > 100);
  CHECK(rejected > 30);
}

}  // namespace heed
