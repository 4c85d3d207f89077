// Random files: for any bytes, a reader gives a corpus or an InputError.
#include "core/random.h"
#include "core/text.h"
#include "data/batch.h"
#include "support.h"

namespace heed {

// Random bytes, or random pieces of the formats.
static std::string noise(Random& random) {
  using namespace std::string_view_literals;
  constexpr std::string_view pieces[] = {
      "\n"sv, "\r\n"sv,           "\t"sv,   "\0"sv,     "\xEF\xBB\xBF"sv,     "é"sv,
      "😀"sv,  "\xC3"sv,           "a"sv,    "b\ta\n"sv, "a b\tc d\n"sv,       " "sv,
      "\r"sv, "<eos>\t<unk>\n"sv, "\xFF"sv, "<bos>"sv,  "\xF4\x90\x80\x80"sv, "x\ty\n"sv};
  std::string bytes;
  const bool from_pieces = random.below(4) > 0;
  const uint64_t kinds = 1 + random.below(std::size(pieces));
  for (uint64_t n = random.below(random.below(8) == 0 ? 3000 : 60); n > 0; --n) {
    if (from_pieces)
      bytes += pieces[random.below(kinds)];
    else
      bytes += static_cast<char>(random.below(256));
  }
  return bytes;
}

// Lines that are nearly examples.
static std::string objects(Random& random) {
  constexpr std::string_view forms[] = {
      R"({"input": "a b", "target": "b a"})",
      R"({"input": ["a", "b"], "target": [null, "a"], "positions": [3, 9], "group": "g"})",
      R"({"input": "ab", "target": "x", "reference": [0.5], "group": {"a": "1", "b": "2"}})",
      R"({"source": "a\u00e9", "target": ["x", "y"]})",
      R"({"input": [[1, 2], [3, -4.5e2]], "target": [null, 1]})"};
  const uint64_t form = random.below(std::size(forms)), harm = random.below(3);
  std::string text;
  for (uint64_t n = random.below(40); n > 0; --n) {
    text += forms[harm < 2 ? form : random.below(std::size(forms))];
    if (harm > 0 && random.below(8) == 0)
      text[random.below(text.size())] = "{}[]\",:\\\xFF 0null"[random.below(16)];
    text += '\n';
  }
  return text;
}

static DataOptions any_options(const TemporaryFolder& folder, Random& random) {
  DataOptions options;
  constexpr const DataKind* kinds[] = {&data_kinds::text, &data_kinds::lines, &data_kinds::pairs,
                                       &data_kinds::labelled, &data_kinds::examples};
  options.kind = kinds[random.below(std::size(kinds))];
  const bool is_json = options.kind == &data_kinds::examples;
  options.path = folder.write("path", is_json ? objects(random) : noise(random));
  options.level = static_cast<Level>(random.below(3));
  options.val_fraction = random.below(2) ? 0.1 : 0;
  if (options.kind == &data_kinds::text) {
    options.context = 1 + static_cast<int64_t>(random.below(8));
    return options;
  }
  options.test_fraction = random.below(2) ? 0.1 : 0;
  if (random.below(2)) options.val_path = folder.write("val", noise(random));
  if (options.kind == &data_kinds::pairs && random.below(2)) {
    options.target_path = folder.write("target", noise(random));
    if (!options.val_path.empty())
      options.val_target_path = folder.write("val_target", noise(random));
  }
  options.share_vocabulary = options.kind == &data_kinds::pairs && random.below(2);
  if (options.kind == &data_kinds::lines && random.below(2)) options.alphabet = "ab é";
  options.max_length = static_cast<int64_t>(random.below(5));
  if (options.level != Level::byte) {
    options.min_count = 1 + static_cast<int64_t>(random.below(2));
    options.max_vocabulary = static_cast<int64_t>(random.below(4));
  }
  return options;
}

TEST_CASE("random files give a corpus or an InputError") {
  const TemporaryFolder folder;
  Random random(2, Purpose::test);
  int loaded = 0, rejected = 0;
  for (int round = 0; round < 2000; ++round) {
    const DataOptions options = any_options(folder, random);
    const std::vector<ModelKind>& models = options.kind->framings;
    const ModelKind framing = models[random.below(models.size())];
    try {
      const Corpus corpus = load_corpus(options, framing, 1);
      ++loaded;
      const auto size_of = [](const auto& codec) {
        return codec ? static_cast<int32_t>(codec->vocabulary().size()) : 1;
      };
      const int32_t classes = framing == ModelKind::classifier && !corpus.format.numbers
                                  ? static_cast<int32_t>(corpus.labels.size())
                                  : size_of(corpus.target);
      for (const auto& [name, dataset] : corpus.splits) {
        REQUIRE(dataset.size > 0);
        Batches batches = Batches::in_order(dataset, framing, 5);
        Batch batch;
        for (int64_t position = 0; position < batches.count(); ++position) {
          batches.get(position, batch);
          bool inside = batch.targets > 0;
          if (batch.input) inside = inside && batch.input.dim(1) <= corpus.longest_input;
          const int32_t inputs = size_of(corpus.target ? corpus.target : corpus.source);
          for (int64_t i = 0; i < batch.input.size(); ++i)
            inside = inside && batch.input[i] >= 0 && batch.input[i] < inputs;
          for (int64_t i = 0; i < batch.source.size(); ++i)
            inside = inside && batch.source[i] >= 0 && batch.source[i] < size_of(corpus.source);
          for (int64_t i = 0; i < batch.target.size(); ++i)
            inside = inside && batch.target[i] >= -1 && batch.target[i] < classes;
          REQUIRE(inside);
        }
      }
    } catch (const InputError& error) {
      ++rejected;
      const std::string_view message = error.what();
      REQUIRE(message.find('\n') == message.npos);
      REQUIRE(find_invalid_utf8(message) == message.npos);
    }
  }
  CHECK(loaded > 150);
  CHECK(rejected > 500);
}

TEST_CASE("a codec gives ids or an InputError for any bytes") {
  Random random(3, Purpose::test);
  for (int round = 0; round < 5000; ++round) {
    const std::string bytes = noise(random);
    for (const Level level : {Level::character, Level::word}) {
      const TextCodec codec(level, {"a", "b", "<bos>", "<eos>", "<unk>"});
      try {
        (void)codec.decode(codec.encode(bytes));
      } catch (const InputError&) {
        CHECK(find_invalid_utf8(bytes) != std::string::npos);
      }
    }
    const TextCodec codec(Level::byte, byte_tokens());
    CHECK(codec.decode(codec.encode(bytes)) == bytes);
    CHECK(find_invalid_utf8(in_quotes(bytes)) == std::string::npos);
  }
}

TEST_CASE("a very long line is read as one line") {
  const TemporaryFolder folder;
  DataOptions options = file_options(&data_kinds::lines,
                                     folder.write("long", std::string(20'000'000, 'x') + "\ny\n"));
  options.val_fraction = options.test_fraction = 0;
  options.max_length = 10;
  CHECK(split(load_corpus(options, ModelKind::language_model, 1), "train").size == 1);
}

}  // namespace heed
