// The vocabulary of a run: subwords in vocabulary.json, vocabularies that are given, fine-tuning.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/inference/predictions.h"
#include "apps/inference/vocabulary_file.h"
#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/training/saved_run.h"
#include "core/safetensors.h"
#include "program.h"

using namespace heed;

namespace {

const std::filesystem::path sources_of_tests =
    std::filesystem::path(__FILE__).parent_path().parent_path();

// A folder with a text, a tokenizer and a config of a language model.
struct TextFolder : Workspace {
  TextFolder() {
    std::filesystem::copy(sources_of_tests.parent_path() / "LICENSE", path + "/text");
    std::filesystem::copy(sources_of_tests / "fixtures/subwords_bpe.model", path + "/bpe.model");
    write("c.toml",
          "[train]\nsteps = 4\nbatch_size = 4\n[model]\nkind = 'language_model'\nlayers = 1\n"
          "dim = 16\nheads = 2\n[data]\nkind = 'text'\npath = 'text'\ncontext = 16\n"
          "level = 'subword'\ntokenizer = 'bpe.model'\n");
  }
};

}  // namespace

TEST_CASE("base64: any bytes are restored, other text is rejected") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    CHECK(bytes_of_base64(base64(bytes)) == bytes);
    bytes += static_cast<char>(i * 37);
  }
  CHECK(base64("any carnal pleas") == "YW55IGNhcm5hbCBwbGVhcw==");
  for (const char* text : {"Y", "YW5", "YW55IGNhcm5hb-==", "====", "YW=5", "\xFF\xFF\xFF\xFF"})
    CHECK_THROWS_AS((void)bytes_of_base64(text), InputError);
}

TEST_CASE("vocabulary.json: a run with subwords generates without tokenizer and text") {
  const TextFolder folder;
  folder.ok({"train", "c.toml", "--run", "r"});
  for (const char* file : {"text", "bpe.model"})
    std::filesystem::rename(folder / file, folder / (file + std::string(".away")));
  const std::string prompt = "Permission \u2581 \u00E9 ";
  const ProgramOutput text = succeeded(
      folder.heed({"generate", "r", "--prompt", prompt, "--length", "5", "--temperature", "0"}));
  CHECK_MESSAGE(text.out.starts_with(prompt), text.out);
  CHECK(folder.heed({"generate", "r", "--length", "5"}).code == 0);
  std::filesystem::rename(folder / "text.away", folder / "text");
  folder.ok({"evaluate", "r"});
}

TEST_CASE("vocabulary.json: a damaged tokenizer, or that of another run, is rejected") {
  const TextFolder folder;
  folder.ok({"train", "c.toml", "--run", "r"});
  const std::string file = folder / "r/vocabulary.json";
  const Json original = folder.json("r/vocabulary.json");
  const std::string model = bytes_of_base64(original.at("sentencepiece").string());
  CHECK(model == read_file(folder / "bpe.model", "model"));
  const auto rejects = [&](Json value, const std::string& part) {
    Json changed = original;
    changed.set("sentencepiece", std::move(value));
    write_file(file, changed.text());
    check_rejected(folder.heed({"generate", "r"}), 2, {"r/vocabulary.json: ", part});
  };
  rejects(base64(model.substr(0, 1000)), "");
  rejects("?", "not a text in base64");
  rejects("", "not a model of SentencePiece");
  rejects(3, "expected a string");
  rejects(base64(read_file(sources_of_tests / "fixtures/subwords_unigram.model", "model")),
          "the first tokens must be the pieces of the tokenizer");

  // The same pieces with other scores: the size of the vocabulary that the trainer was asked for.
  std::string other = model;
  const size_t spec = other.rfind("\x20\x90\x03");  // field 4 of trainer_spec: 400
  REQUIRE(spec != other.npos);
  other[spec + 1] = '\x91';
  rejects(base64(other), "'source' is not the vocabulary that the weights of");

  Json removed = original;
  removed.remove("sentencepiece");
  write_file(file, removed.text());
  check_rejected(folder.heed({"generate", "r"}), 2, {"'sentencepiece' is missing"});
}

namespace {

// A run A of a text of lower case, and data with other characters.
struct FineTuning : Workspace {
  FineTuning() {
    std::string text, other;
    for (int i = 0; i < 300; ++i) {
      text += std::string(1, static_cast<char>('a' + i * i % 11)) + (i % 5 ? "" : "\n");
      other += std::string(i % 3 ? "ab" : "zÄ") + (i % 7 ? " " : "e\n");
    }
    write("a.txt", text);
    write("b.txt", other);
    write("a.toml",
          "[train]\nsteps = 4\nbatch_size = 4\nsamples = 0\n[model]\nlayers = 1\ndim = 16\n"
          "heads = 2\nkind = 'language_model'\n[optim]\nlr = 1e-12\n[data]\nkind = 'text'\n"
          "path = 'a.txt'\ncontext = 16\n");
    succeeded(train("A", {}));
  }
  ProgramOutput train(const std::string& run, const std::vector<std::string>& settings) const {
    std::vector<std::string> arguments = {"train", "a.toml", "--run", run};
    for (const std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back(setting);
    }
    return heed(arguments);
  }
  std::vector<std::string> tokens(const std::string& run) const {
    return json(run + "/vocabulary.json").at("symbols").strings();
  }
  // Returns the rows of the token embedding.
  std::vector<std::vector<float>> rows(const std::string& run) const {
    const SafetensorsFile file(path + "/" + run + "/checkpoints/best/model.safetensors");
    const NamedArray& array = *file.find("embedding.token.weight");
    std::vector<float> values(static_cast<size_t>(array.bytes()) / sizeof(float));
    file.read(array, values.data());
    std::vector<std::vector<float>> rows;
    for (auto row = values.begin(); row != values.end(); row += array.dims[1])
      rows.emplace_back(row, row + array.dims[1]);
    return rows;
  }
};

// Returns whether two rows differ by no more than a few steps at a rate of 1e-12.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return std::abs(x - y) < 1e-6F; });
}

}  // namespace

TEST_CASE("fine-tuning: tokens that the vocabulary lacks are refused, unknown or added") {
  const FineTuning folder;
  const std::vector<std::string> load = {"train.load=A", "data.path=b.txt"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), load.begin(), load.end());
    return more;
  };
  check_rejected(folder.train("B", load), 2,
                 {"/A: 7 tokens; it lacks 3 of the training data", "\" \"", "\"z\"", "\"Ä\"",
                  "set train.new_tokens to \"unknown\""});
  CHECK_FALSE(exists(folder / "B"));

  const ProgramOutput unknown = succeeded(folder.train("U", with({"train.new_tokens=unknown"})));
  CHECK_CONTAINS(unknown.err, "read as <unk>");
  std::vector<std::string> expected = folder.tokens("A");
  expected.emplace_back("<unk>");
  CHECK(folder.tokens("U") == expected);

  const ProgramOutput added = succeeded(folder.train("B", with({"train.new_tokens=add"})));
  CHECK_CONTAINS(added.err, "embedding.token.weight: 7 of 10 rows loaded by their token");
  expected.pop_back();
  for (const char* token : {" ", "z", "Ä"}) expected.emplace_back(token);
  CHECK(folder.tokens("B") == expected);
  const auto before = folder.rows("A"), after = folder.rows("B");
  for (size_t i = 0; i < before.size(); ++i) CHECK(same(before[i], after[i]));

  // Nothing of A is needed afterwards.
  std::filesystem::rename(folder / "A", folder / "away");
  for (const char* run : {"U", "B"}) {
    CHECK(folder.heed({"evaluate", run}).code == 0);
    folder.ok({"train", "--resume", "--run", run, "--set", "train.steps=6"});
  }
}

TEST_CASE("fine-tuning: rows of vocabularies in another order are mapped by token") {
  const FineTuning folder;
  std::vector<std::string> reversed = folder.tokens("A");
  std::reverse(reversed.begin(), reversed.end());
  const Json vocabulary = Json::object().set("level", "character").set("symbols", reversed);
  write_file(folder / "reversed.json", vocabulary.text());
  const ProgramOutput output =
      succeeded(folder.train("B", {"train.load=A", "data.vocabulary=reversed.json"}));
  CHECK(folder.tokens("B") == reversed);
  const auto before = folder.rows("A"), after = folder.rows("B");
  for (size_t i = 0; i < before.size(); ++i) CHECK(same(before[i], after[before.size() - 1 - i]));
}

TEST_CASE("data.vocabulary: a text is not prompted with <bos>, though its vocabulary has it") {
  const FineTuning folder;
  write_file(folder / "lines.toml",
             "[train]\nsteps = 2\nsamples = 0\n[model]\nlayers = 1\ndim = 16\nheads = 2\nkind = "
             "'language_model'\n[data]\nkind = 'lines'\npath = 'a.txt'\nval_fraction = 0\n");
  folder.ok({"train", "lines.toml", "--run", "L"});
  REQUIRE(folder.tokens("L").back() == "<eos>");
  const ProgramOutput trained =
      succeeded(folder.train("T", {"data.vocabulary=L", "train.new_tokens=add"}));
  const auto codec = SavedRun::open(folder / "T").vocabulary().target;
  CHECK(codec->vocabulary().token(default_prompt(*codec)[0]) == "\n");
  CHECK(codec->prompt("ab").size() == 2);
  const std::string losses = folder.ok({"evaluate", "T", "--input", "-", "--json"}, "ab\n");
  CHECK(Json::parse(losses, "row").at("tokens").strings() == std::vector<std::string>{"a", "b"});
  const ProgramOutput lines = folder.heed({"evaluate", "L", "--input", "-", "--json"}, "ab\n");
  CHECK(Json::parse(lines.out, "row").at("tokens").strings().back() == "<eos>");
}

TEST_CASE("data.vocabulary: files that are no vocabulary of the level are rejected") {
  const FineTuning folder;
  const auto rejects = [&](const std::string& text, const std::vector<std::string>& parts) {
    write_file(folder / "v.json", text);
    check_rejected(folder.train("B", {"data.vocabulary=v.json"}), 2, parts);
    CHECK_FALSE(exists(folder / "B"));
  };
  rejects("", {"v.json"});
  rejects("[]", {"v.json"});
  rejects(R"({"level": "character", "symbols": ["a", "b", "a"]})", {"\"a\" is repeated"});
  rejects(R"({"level": "word", "symbols": ["a"]})",
          {"data.level is \"character\"", "v.json has the level \"word\""});
  rejects(R"({"features": 3, "labels": ["a"]})", {"v.json has no tokens"});
  rejects(R"({"level": "character", "symbols": ["a"]})", {"v.json: 1 tokens; it lacks 6"});
  check_rejected(folder.train("B", {"data.vocabulary=none"}), 2, {"none"});
}

TEST_CASE("bits per byte: counts the bytes of the text at every level") {
  const FineTuning folder;
  for (const char* level : {"character", "byte", "subword", "word"}) {
    std::vector<std::string> settings = {"data.level=" + std::string(level), "train.steps=1",
                                         "data.context=4"};
    if (level == std::string("subword")) settings.emplace_back("data.max_vocabulary=280");
    const ProgramOutput output = succeeded(folder.train(level, settings));
    CHECK_CONTAINS(output.out, "bits per byte");
    const Json val =
        Json::parse(read_file(folder.path + "/" + level + "/result.json", "f"), "").at("val");
    const double bits =
        val.at("loss").number() * static_cast<double>(val.at("targets").integer()) / std::log(2.0);
    const double bytes = bits / val.at("bits_per_byte").number();
    CHECK(std::abs(bytes - std::round(bytes)) < 1e-6);
    CHECK(bytes < 37);  // a tenth of the text, without its first token
    CHECK(bytes > 28);
  }
}
