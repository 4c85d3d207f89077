// The vocabulary of a run: subwords in vocabulary.json.
#include <filesystem>

#include "apps/inference/vocabulary_file.h"
#include "apps/support/base64.h"
#include "apps/support/files.h"
#include "program.h"

using namespace heed;

namespace {

const std::filesystem::path sources_of_tests =
    std::filesystem::path(__FILE__).parent_path().parent_path();

// A folder with a text, a tokenizer and a config of a language model.
struct TextFolder : TemporaryFolder {
  TextFolder() {
    std::filesystem::copy(sources_of_tests.parent_path() / "LICENSE", path + "/text");
    std::filesystem::copy(sources_of_tests / "fixtures/subwords_bpe.model", path + "/bpe.model");
    write_file(path + "/c.toml",
               "[train]\nsteps = 4\nbatch_size = 4\n[model]\nkind = 'language_model'\nlayers = 1\n"
               "dim = 16\nheads = 2\n[data]\nkind = 'text'\npath = 'text'\ncontext = 16\n"
               "level = 'subword'\ntokenizer = 'bpe.model'\n");
  }
  ProgramOutput heed(const std::vector<std::string>& arguments) const {
    return heed_in(path, arguments);
  }
  Json json(const std::string& file) const {
    return Json::parse(read_file(path + "/" + file, "file"), file);
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
  const ProgramOutput output = folder.heed({"train", "c.toml", "--run", "r"});
  REQUIRE_MESSAGE(output.code == 0, output.err);
  for (const char* file : {"text", "bpe.model"})
    std::filesystem::rename(folder / file, folder / (file + std::string(".away")));
  const std::string prompt = "Permission \u2581 \u00E9 ";
  const ProgramOutput text =
      folder.heed({"generate", "r", "--prompt", prompt, "--length", "5", "--temperature", "0"});
  CHECK_MESSAGE(text.code == 0, text.err);
  CHECK_MESSAGE(text.out.starts_with(prompt), text.out);
  CHECK(folder.heed({"generate", "r", "--length", "5"}).code == 0);
}

TEST_CASE("vocabulary.json: a damaged tokenizer, or that of another run, is rejected") {
  const TextFolder folder;
  REQUIRE(folder.heed({"train", "c.toml", "--run", "r"}).code == 0);
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
