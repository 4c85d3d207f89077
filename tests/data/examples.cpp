// Files of examples: what each kind of model gets of each form, and what is rejected.
#include <set>

#include "data/batch.h"
#include "support.h"

namespace heed {

using Ints = std::vector<int32_t>;
using Words = std::vector<std::string>;

namespace {

DataOptions json_options(const std::string& path) {
  DataOptions options = file_options(&data_kinds::examples, path);
  options.level = Level::word;
  options.val_fraction = options.test_fraction = 0;
  return options;
}

std::string example_error(const DataOptions& options, ModelKind framing,
                          bool at_positions = false) {
  const std::string message =
      input_error([&] { load_corpus(options, framing, 1, {}, at_positions); });
  CHECK(message.find('\n') == std::string::npos);
  return message;
}

}  // namespace

TEST_CASE("examples: a language model has a target at each position, nothing shifted or added") {
  const TemporaryFolder folder;
  DataOptions options = json_options(folder.write(
      "a.jsonl",
      "{\"input\": \"k2 v0 k0 v3 k2\", \"target\": \". . . . v0\", \"group\": \"five\"}\n\n"
      "{\"input\": [\"k0\", \"v3\"], \"target\": [null, \"k2\"], \"positions\": [4, 9],"
      " \"group\": {\"length\": \"2\"}}\n"));
  const auto loaded = [&] { return load_corpus(options, ModelKind::language_model, 1); };
  Corpus corpus = loaded();
  CHECK(corpus.format.at_positions);
  CHECK(corpus.source == corpus.target);
  CHECK(corpus.target->vocabulary().tokens() == Words{"k0", "k2", "v0", "v3", "<unk>"});
  CHECK(corpus.longest_input == 5);
  const Example first = example_of(split(corpus, "train"), 0);
  CHECK(first.input == Ints{1, 2, 0, 3, 1});
  CHECK(first.target == Ints{-1, -1, -1, -1, 2});
  CHECK(first.prompt == 0);
  CHECK(first.position_ids == Ints{0, 1, 2, 3, 4});
  const Example second = example_of(split(corpus, "train"), 1);
  CHECK(second.target == Ints{-1, 1});
  CHECK(second.position_ids == Ints{4, 9});
  CHECK(corpus.groups.size() == 2);
  CHECK(corpus.groups[static_cast<size_t>(first.group)] == Groups{{"", "five"}});
  CHECK(corpus.groups[static_cast<size_t>(second.group)] == Groups{{"length", "2"}});

  options.none = "_";  // "." is a token
  folder.write("a.jsonl", R"({"input": "a b", "target": "_ ."})");
  corpus = loaded();
  CHECK(corpus.target->vocabulary().tokens() == Words{".", "a", "b", "<unk>"});
  CHECK(example_of(split(corpus, "train"), 0).target == Ints{-1, 0});
  options.level = Level::character;
  folder.write("a.jsonl", R"({"input": "ab\u00e9", "target": "_b_"})");
  CHECK(example_of(split(loaded(), "train"), 0).target == Ints{-1, 1, -1});
  options.level = Level::byte;
  folder.write("a.jsonl", R"({"input": "ab", "target": [null, "ff"]})");
  CHECK(example_of(split(loaded(), "train"), 0).target == Ints{-1, 255});
}

TEST_CASE("examples: pairs, for an encoder-decoder and as a prompt with its continuation") {
  const TemporaryFolder folder;
  DataOptions options = json_options(
      folder.write("a.jsonl",
                   "{\"source\": \"3 + 4\", \"target\": \"7\"}\n"
                   "{\"source\": [\"9\", \"+\", \"9\"], \"target\": [\"1\", \"8\"]}\n"));
  options.share_vocabulary = true;
  const Corpus translated = load_corpus(options, ModelKind::seq2seq, 1);
  CHECK(translated.target->vocabulary().tokens() ==
        Words{"+", "1", "3", "4", "7", "8", "9", "<bos>", "<eos>", "<unk>"});
  CHECK(example_of(split(translated, "train"), 1).source == Ints{6, 0, 6});
  CHECK(example_of(split(translated, "train"), 1).target == Ints{1, 5, 8});
  options.share_vocabulary = false;
  const Corpus continued = load_corpus(options, ModelKind::language_model, 1);
  CHECK(continued.target->vocabulary().tokens() ==
        Words{"+", "1", "3", "4", "7", "8", "9", "<sep>", "<eos>", "<unk>"});
  const Example second = example_of(split(continued, "train"), 1);
  CHECK(second.input == Ints{6, 0, 6, 7, 1, 5});
  CHECK(second.target == Ints{-1, -1, -1, 1, 5, 8});
  CHECK(second.prompt == 4);
  CHECK(continued.prompt_length == 0);

  folder.write("a.jsonl",
               "{\"source\": \"3 + 4\", \"target\": \"7\"}\n"
               "{\"source\": \"1 + 1\", \"target\": \"2\"}\n");  // of one length
  const Corpus fixed = load_corpus(options, ModelKind::language_model, 1);
  CHECK(example_of(split(fixed, "train"), 0).target == Ints{-1, -1, 5});
  CHECK(fixed.prompt_length == 3);
  CHECK(fixed.target_length == 1);
}

TEST_CASE("examples: a classifier has one label, or one at each position") {
  const TemporaryFolder folder;
  DataOptions options =
      json_options(folder.write("a.jsonl",
                                "{\"input\": \"a b\", \"target\": \"two words\"}\n"
                                "{\"input\": \"c\", \"target\": \"one\"}\n"));
  const Corpus whole = load_corpus(options, ModelKind::classifier, 1);
  CHECK(whole.labels == Words{"one", "two words"});
  CHECK(example_of(split(whole, "train"), 0).target == Ints{1});
  CHECK(!whole.format.at_positions);
  folder.write("a.jsonl",
               "{\"input\": \"the dog\", \"target\": \"D N\"}\n"
               "{\"input\": \"runs\", \"target\": [\"V\"]}\n"
               "{\"input\": \"runs dog\", \"target\": \"V .\"}\n");
  const Corpus tagged = load_corpus(options, ModelKind::classifier, 1, {}, true);
  CHECK(tagged.labels == Words{"D", "N", "V"});
  CHECK(tagged.format.at_positions);
  Batches batches = Batches::in_order(split(tagged, "train"), ModelKind::classifier, 3);
  Batch batch;
  batches.get(0, batch);
  CHECK(batch.target.dim(1) == 2);
  CHECK(Ints(batch.target.data(), batch.target.data() + 6) == Ints{0, 1, 2, -1, 2, -1});
  CHECK(batch.targets == 4);
}

TEST_CASE("examples: splits go by the input, as a text and as a list, as those of pairs do") {
  const TemporaryFolder folder;
  std::string texts, lists, pairs;
  for (int i = 0; i < 300; ++i) {
    texts += fmt::format("{{\"source\": \"a {0}\", \"target\": \"{0}\"}}\n", i);
    lists += fmt::format("{{\"source\": [\"a\", \"{0}\"], \"target\": [\"{0}\"]}}\n", i);
    pairs += fmt::format("a {0}\t{0}\n", i);
  }
  const auto inputs = [&](const DataKind& kind, const std::string& text) {
    DataOptions options = file_options(&kind, folder.write("rows", text));
    options.level = Level::word;
    const Corpus corpus = load_corpus(options, ModelKind::seq2seq, 1);
    std::vector<Ints> all;
    for (const auto& [name, dataset] : corpus.splits)
      for (int64_t i = 0; i < dataset.size; ++i) all.push_back(example_of(dataset, i).source);
    CHECK(split(corpus, "val").size > 10);
    return all;
  };
  const auto expected = inputs(data_kinds::pairs, pairs);
  CHECK(inputs(data_kinds::examples, texts) == expected);
  CHECK(inputs(data_kinds::examples, lists) == expected);
}

TEST_CASE("examples: references are a loss, or probabilities in the order of sorted tokens") {
  const TemporaryFolder folder;
  DataOptions options = json_options(folder.write(
      "a.jsonl", R"({"input": "a b a", "target": ". a b", "reference": [0.5, 0.25]})"));
  const auto reference = [&] {
    const Corpus corpus = load_corpus(options, ModelKind::language_model, 1);
    CHECK(corpus.reference_width == (corpus.target->level() == Level::word ? 1 : 2));
    return example_of(split(corpus, "train"), 0).reference;
  };
  CHECK(reference() == std::vector<float>{0.5, 0.25});
  folder.write("a.jsonl",
               R"({"input": "a b a", "target": ". a b", "reference": [null, 0.5, 0.25]})");
  CHECK(reference() == std::vector<float>{0.5, 0.25});
  folder.write("a.jsonl", R"({"input": "a b a", "target": "b a b", "reference": [1, 0.5, 0.25]})");
  CHECK(reference() == std::vector<float>{1, 0.5, 0.25});
  options.level = Level::character;  // has no <unk>
  folder.write("a.jsonl",
               R"({"input": "aba", "target": ".ab", "reference": [[0.25, 0.75], [0, 1]]})");
  CHECK(reference() == std::vector<float>{0.25, 0.75, 0, 1});
  const auto error = [&](const char* text) {
    folder.write("a.jsonl",
                 fmt::format(R"({{"input": "aba", "target": ".ab", "reference": {}}})", text));
    return example_error(options, ModelKind::language_model);
  };
  CHECK_CONTAINS(error("[1]"), "a.jsonl: line 1: \"reference\": expected 2, one for each target");
  CHECK_CONTAINS(error("[[0.5, 0.4], [1, 0]]"),
                 "\"reference\": expected probabilities that sum to 1");
  CHECK_CONTAINS(error("[[1.5, -0.5], [1, 0]]"), "expected probabilities that sum to 1");
  CHECK_CONTAINS(error("\"x\""), "\"reference\": expected for each target the loss");
}

TEST_CASE("examples: a file that cannot be used has one error with line and key") {
  struct Case {
    const char* text;
    ModelKind framing;
    const char* expected;
    Level level = Level::word;
    bool at_positions = false;
  };
  constexpr ModelKind lm = ModelKind::language_model, seq2seq = ModelKind::seq2seq,
                      classifier = ModelKind::classifier;
  const Case cases[] = {
      {"", lm, "a.jsonl is empty"},
      {" \n\n", lm, "there is no example to train on"},
      {"a b\n", lm, "line 1: expected an object"},
      {"{\"input\": \"a\", \"target\": \"a\"}\n{\"input\": \"a\", \"tar", lm,
       "line 2: expected the '\"' that ends a string, found the end of the line"},
      {R"({"input": "a"})", lm, "line 1: \"target\": missing"},
      {R"({"target": "a"})", lm, "line 1: \"input\": missing: an example has"},
      {R"({})", lm, "line 1: \"input\": missing"},
      {R"({"input": "a b", "target": "a"})", lm,
       "line 1: \"target\": expected a target, or none, at each of the 2 positions of the input, "
       "found 1"},
      {R"({"input": "a", "target": "a b"})", lm, "line 1: \"target\": expected a target, or none"},
      {R"({"input": ["a", "b"], "target": ["a"]})", lm, "line 1: \"target\": expected a target"},
      {R"({"input": "ab", "target": "a"})", lm, "at each of the 2 positions", Level::character},
      {R"({"input": "ab", "target": "ab"})", lm,
       "\"target\": expected a list: at `level` = \"byte\"", Level::byte},
      {R"({"input": "ab", "target": ["a", "xyz"]})", lm,
       "\"target\": expected a byte, as one character or as 00 to ff, found \"xyz\"", Level::byte},
      {R"({"input": "a", "target": "."})", lm, "no example is left. train: 0 examples, dropped 1"},
      {R"({"input": "", "target": ""})", lm, "dropped 1 with an empty side"},
      {R"({"input": ["a", null], "target": "a b"})", lm, "\"input\": expected no null"},
      {R"({"input": 3, "target": "a"})", lm,
       "\"input\": expected tokens, a text or a list of strings, or a list of vectors"},
      {R"({"input": "a", "target": 3})", lm, "\"target\": expected a list: a number or null"},
      {R"({"input": "a b", "target": "a b", "positions": [1]})", lm,
       "\"positions\": expected 2, one for each token of the input, found 1"},
      {R"({"source": "a", "target": "b", "positions": [1]})", lm,
       "\"positions\": expected with an \"input\""},
      {R"({"source": "a", "target": ["b", null]})", lm, "\"target\": expected no null"},
      {"{\"source\": \"a\", \"target\": \"b\"}\n{\"input\": \"a\", \"target\": \"b\"}\n", lm,
       "line 2: \"input\": not with examples that have a \"source\" before"},
      {"{\"input\": \"a\", \"target\": \"b\"}\n{\"source\": \"a\", \"target\": \"b\"}\n", lm,
       "line 2: \"source\": not with examples that have an \"input\" before"},
      {R"({"input": "a", "target": "b"})", seq2seq,
       "\"input\": an encoder-decoder reads a \"source\""},
      {R"({"source": "a", "target": "b"})", classifier,
       "\"source\": a classifier reads an \"input\""},
      {R"({"input": "a", "target": ["b"]})", classifier, "\"target\": expected one label"},
      {R"({"input": "a", "target": ""})", classifier, "\"target\": expected one label"},
      {R"({"input": "a", "target": "b"})", classifier, "all training lines have the label \"b\""},
      {R"({"input": "a b", "target": "b"})", classifier, "at least two labels", Level::word, true},
      {"{\"input\": \"a b\", \"target\": \"x y\"}\n{\"input\": \"a\", \"target\": \"x y\"}\n",
       classifier, "line 2: \"target\": expected a target, or none, at each of the 1 positions",
       Level::word, true},
      {R"({"source": "a", "input": [1], "target": "b"})", lm,
       "\"source\": a language model has an \"input\" or a \"source\""},
      {R"({"source": "a", "input": "b", "target": "b"})", classifier,
       "\"input\": expected vectors: of two sources"},
      {R"({"source": [1], "input": [1], "target": "b"})", classifier,
       "\"source\": expected tokens, a text or a list of strings: the \"input\" is vectors"},
      {R"({"source": "", "input": [1], "target": "b"})", classifier,
       "\"source\": expected a token at least"},
      {"{\"source\": \"a\", \"input\": [1], \"target\": \"b\"}\n{\"input\": [1], \"target\": "
       "\"c\"}\n",
       classifier,
       "line 2: \"source\": expected one beside the \"input\", as in the first example"},
      {"{\"source\": \"a\", \"input\": [1], \"target\": \"b\"}\n"
       "{\"source\": \"a\", \"input\": [1, 2], \"target\": \"c\"}\n",
       seq2seq, "line 2: \"source\": expected an \"input\" of as many vectors beside it"},
      {R"({"nodes": ["a"], "target": "b"})", lm, "\"nodes\": a language model reads an"},
      {R"({"input": "a", "target": "b", "grid": [1]})", lm,
       "\"grid\": a language model reads a sequence"},
      {R"({"input": "a", "target": "b", "edges": [[0, 0]]})", lm, "\"edges\": expected"},
      {R"({"input": "a", "target": "b", "global": [0]})", lm, "\"global\": expected \"nodes\""},
      {R"({"nodes": "a b", "edges": 5, "target": "b"})", classifier,
       "\"edges\": expected lists of 2 numbers, the two nodes of an edge first"},
      {R"({"nodes": "a b", "edges": "0 1", "target": "b"})", classifier,
       "\"edges\": expected lists"},
      {R"({"nodes": "a b", "edges": [null], "target": "b"})", classifier, "\"edges\": expected"},
      {"{\"input\": \"a\", \"target\": \"b\", \"reference\": [1]}\n"
       "{\"input\": \"a\", \"target\": \"b\", \"reference\": [[1, 0]]}\n",
       lm, "line 2: \"reference\": expected 1 for each target as before, found 2"},
      {"\xFF\xFE{\0", lm, "UTF-16"},
      {"{\"input\": \"\xFF\"}", lm, "line 1: not valid UTF-8"},
  };
  const TemporaryFolder folder;
  for (const Case& each : cases) {
    CAPTURE(std::string(each.text));
    DataOptions options = json_options(folder.write("a.jsonl", each.text));
    options.level = each.level;
    CHECK_CONTAINS(example_error(options, each.framing, each.at_positions), each.expected);
  }
  DataOptions options = json_options(folder.write(
      "a.jsonl", "{\"input\": \"a\", \"target\": \"x\"}\n{\"input\": \"a\", \"target\": \"y\"}\n"));
  options.val_path = folder.write("val.jsonl", R"({"input": "a", "target": "z"})");
  CHECK_CONTAINS(example_error(options, ModelKind::classifier),
                 "val.jsonl: line 1: the label \"z\" does not occur in training");
}

TEST_CASE("pairs and labelled lines train language models on their answers alone") {
  const TemporaryFolder folder;
  DataOptions options = file_options(&data_kinds::pairs, folder.write("a", "ab\tc\nb\tca\n"));
  options.val_fraction = options.test_fraction = 0;
  const Corpus pairs = load_corpus(options, ModelKind::language_model, 1);
  CHECK(pairs.target->vocabulary().tokens() == Words{"a", "b", "c", "<sep>", "<eos>"});
  CHECK(example_of(split(pairs, "train"), 0).input == Ints{0, 1, 3, 2});
  CHECK(example_of(split(pairs, "train"), 0).target == Ints{-1, -1, 2, 4});
  options.kind = &data_kinds::labelled;
  folder.write("a", "fine text\tgood\nother text\tbad\nfine\tgood\n");
  options.level = Level::word;
  const Corpus labelled = load_corpus(options, ModelKind::language_model, 1);
  CHECK(labelled.labels.empty());
  const Example first = example_of(split(labelled, "train"), 0);
  CHECK(labelled.target->decode(source_of(labelled, first)) == "fine text");
  CHECK(labelled.target->decode(first.target.size() > 2 ? std::span(first.target).subspan(2)
                                                        : std::span<const int32_t>()) == "good");
}

}  // namespace heed
