// apps/training/binding: weights are only used with the settings and the vocabulary of their
// training.
#include "apps/training/binding.h"

#include <doctest/doctest.h>

#include "apps/inference/vocabulary_file.h"
#include "apps/support/digest.h"
#include "apps/support/version.h"
#include "core/safetensors.h"
#include "program.h"
#include "state_file.h"

using namespace heed;

namespace {

constexpr const char* window = "[model.attention]\nwindow = 16\n";

// Trains the runs r (an encoder-decoder), sums (a language model) and words (a classifier).
struct BindingRuns : Workspace {
  BindingRuns() {
    write("labelled.tsv", labelled());
    train("r", tiny_config(window));
    const std::string head = "[train]\nsteps = 4\nbatch_size = 8\n[model]\nlayers = 1\ndim = 16\n";
    train("sums", head + "kind = 'language_model'\n[data]\nkind = 'addition'\ndigits = 1\n");
    train("words", head +
                       "kind = 'classifier'\n[data]\nkind = 'labelled'\npath = "
                       "'labelled.tsv'\n");
  }
  static std::string labelled() {
    std::string lines;
    for (int i = 0; i < 60; ++i)
      lines +=
          std::string(1 + i % 7, static_cast<char>('a' + i % 5)) + (i % 2 ? "\todd\n" : "\teven\n");
    return lines;
  }
};

// A copy of the trained runs, for tests that modify it.
struct Copy : Workspace {
  Copy() {
    static const BindingRuns runs;
    copy_from(runs);
  }
  // Returns the command lines that read weights.
  std::vector<std::vector<std::string>> commands(const std::string& run) const {
    const std::string input = run == "words" ? "ab" : "1 2";
    std::vector<std::vector<std::string>> all = {
        {"evaluate", run}, {"train", "--resume", run}, {"attend", run, "--text", input}};
    all.push_back({"generate", run});
    if (run == "sums") all.back().insert(all.back().end(), {"--prompt", "34"});
    return all;
  }
  void all_reject(const std::string& run, const std::vector<std::string>& parts) const {
    const std::string before = digest(run + "/config.toml") + digest(run + "/vocabulary.json");
    for (const auto& command : commands(run)) {
      CAPTURE(command[0]);
      ProgramOutput output = heed(command);
      // A processor that does not support a precision says so first.
      if (output.err.starts_with("warning: precision"))
        output.err.erase(0, output.err.find('\n') + 1);
      check_rejected(output, 2, parts);
    }
    CHECK(before == digest(run + "/config.toml") + digest(run + "/vocabulary.json"));
  }
  void all_accept(const std::string& run) const {
    for (const auto& command : commands(run)) {
      const ProgramOutput output = heed(command, "ab\n1\n");
      CHECK_MESSAGE(
          (output.code == 0 || output.err.find("not in the vocabulary") != output.err.npos),
          command[0], ": ", output.err);
    }
  }
};

}  // namespace

TEST_CASE("binding: commands reject a changed model setting and show both values") {
  const Copy runs;
  runs.replace("r/config.toml", "\nwindow = 16 ", "\nwindow = 8 ");
  runs.all_reject("r", {"r/config.toml:", "model.attention.window is 8 in the config",
                        "the weights of r/checkpoints/step-30 were trained with 16"});
  runs.replace("r/config.toml", "\nwindow = 8 ", "\n");  // a missing key has its default value
  runs.all_reject("r", {"model.attention.window is 0", "trained with 16"});
  runs.replace("sums/config.toml", "precision = \"highest\"", "precision = \"high\"");
  runs.all_reject("sums", {"precision is \"high\"", "trained with \"highest\""});
}

TEST_CASE("binding: settings that do not affect the model may change") {
  const Copy runs;
  runs.replace("r/config.toml", "\nlr = 0.01", "\nlr = 0.02");
  runs.replace("r/config.toml", "\nsteps = 30 ", "\nsteps = 32 ");
  runs.replace("r/config.toml", "\nthreads = 0 ", "\nthreads = 1 ");
  runs.all_accept("r");
}

TEST_CASE("binding: a file of weights names the version and the settings of its model") {
  const Copy runs;
  const auto metadata = [&](const std::string& run) {
    return SafetensorsFile(runs / (run + "/checkpoints/latest/model.safetensors")).metadata();
  };
  const auto train = [&](const std::string& run, const std::string& setting) {
    runs.ok({"train", "r.toml", "--run", run, "--set", setting});
  };
  CHECK(metadata("r").at("heed") == program_version);
  CHECK(metadata("r").at("model_sha256").size() == 64);
  train("threads", "threads=2");
  CHECK(metadata("threads") == metadata("r"));
  train("window", "model.attention.window=8");
  CHECK(metadata("window").at("model_sha256") != metadata("r").at("model_sha256"));
}

TEST_CASE("binding: commands reject a changed vocabulary.json") {
  const Copy runs;
  const std::string original = runs.read("r/vocabulary.json");
  runs.replace("r/vocabulary.json", "\"1\"", "\"x\"");
  runs.replace("r/vocabulary.json", "\"2\"", "\"1\"");
  runs.replace("r/vocabulary.json", "\"x\"", "\"2\"");  // same size, other order
  runs.all_reject("r", {"r/vocabulary.json: 'source' is not the vocabulary that the weights of",
                        "remove it and write it again with train --resume"});
  write_file(runs / "r/vocabulary.json", original);
  runs.replace("r/vocabulary.json", "word", "character");
  runs.all_reject("r", {"'source' is not the vocabulary"});
  runs.replace("sums/vocabulary.json", "\"answer\": 2", "\"answer\": 1");
  runs.all_reject("sums", {"'answer' is 1", "it was 2"});
  runs.replace("words/vocabulary.json", "\"even\"", "\"x\"");
  runs.all_reject("words", {"'labels' is not the vocabulary"});
  runs.replace("words/vocabulary.json", "{", "{\"features\": 3,");
  runs.all_reject("words", {"vocabulary.json: "});

  remove_all(runs / "r/vocabulary.json");
  CHECK(runs.heed({"train", "--resume", "r"}).code == 0);
  CHECK(runs.read("r/vocabulary.json") == original);
  runs.replace("r/vocabulary.json", "\n", "  \n  ");  // white space does not matter
  runs.all_accept("r");
}

TEST_CASE("binding: a run from before data.label_column has the label first") {
  const Workspace folder;
  std::string lines;
  for (int i = 0; i < 60; ++i)
    lines += (i % 2 ? "odd\t" : "even\t") + std::string(1 + i % 7, static_cast<char>('a' + i % 5)) +
             "\n";
  folder.write("first.tsv", lines);
  folder.train("run",
               "[train]\nsteps = 4\nbatch_size = 8\n[model]\nlayers = 1\ndim = 16\nkind = "
               "'classifier'\n[data]\nkind = 'labelled'\npath = 'first.tsv'\nlabel_column = "
               "'first'\n");
  const std::string scores = folder.ok({"evaluate", "run", "--json"});
  folder.replace("run/config.toml", "\nlabel_column = \"first\"", "\n");
  CHECK(folder.ok({"evaluate", "run", "--json"}) == scores);
  const std::string row = "aab\todd\n";
  CHECK_CONTAINS(folder.heed({"evaluate", "run", "--input", "-"}, row).err,
                 "the character \"o\" is not in the vocabulary of 5 tokens");
  CHECK(folder.heed({"train", "--resume", "run", "--set", "train.steps=8"}).code == 0);
  CHECK_CONTAINS(folder.read("run/config.toml"), "\nlabel_column = \"first\"");
  folder.write("old.toml",
               "[model]\nkind = 'classifier'\n[data]\nkind = 'labelled'\npath = 'first.tsv'\n");
  check_rejected(folder.heed({"train", "old.toml", "--run", "other"}), 2,
                 {"first.tsv: the columns seem to be swapped", "data.label_column = \"first\""});
}

TEST_CASE("binding: settings missing from a checkpoint are not compared") {
  const Copy runs;
  change_state(runs / "r/checkpoints/step-30", [](Json& state) {
    Json settings = state.at("settings");
    settings.remove("model.attention.window");
    state.set("settings", settings);
  });
  runs.replace("r/config.toml", "\nwindow = 16 ", "\nwindow = 8 ");
  CHECK(runs.heed({"evaluate", "r"}).code == 0);
  runs.replace("r/config.toml", "\nheads = 2 ", "\nheads = 4 ");
  check_rejected(runs.heed({"evaluate", "r"}), 2, {"model.heads is 4", "trained with 2"});
  change_state(runs / "r/checkpoints/step-30", [](Json& state) { state.remove("settings"); });
  check_rejected(runs.heed({"evaluate", "r"}), 2, {"state.json: 'settings' is not an object"});
}

TEST_CASE("binding: metadata of model.safetensors has the vocabulary hash of token rows") {
  const Copy runs;
  const auto metadata = [&](const std::string& run) {
    const std::string best = runs / (run + "/checkpoints/best/");
    const SafetensorsFile file(best + "model.safetensors");
    const Json state = Json::parse(read_file(best + "state.json", "state"), "state");
    Metadata found = file.metadata();
    for (const char* name : {"heed", "model_sha256"}) CHECK(found.erase(name) == 1);
    return std::pair(found, state.at("vocabulary"));
  };
  const auto [tied, vocabulary] = metadata("r");
  CHECK(tied ==
        Metadata{
            {"vocabulary_sha256.embedding.token.weight", vocabulary.at("target").string()},
            {"vocabulary_sha256.source_embedding.token.weight", vocabulary.at("source").string()}});
  const auto [classifier, labels] = metadata("words");
  CHECK(classifier.at("vocabulary_sha256.embedding.token.weight") == labels.at("source").string());
  CHECK(classifier.at("vocabulary_sha256.head.weight") == labels.at("labels").string());
  CHECK(classifier.at("vocabulary_sha256.head.bias") == labels.at("labels").string());
  CHECK(labels.at("labels").string() == sha256("[\"even\",\"odd\"]"));
  CHECK(classifier.size() == 3);
}

TEST_CASE("binding: vocabulary.json preserves the vocabulary identity of every task") {
  const TemporaryFolder folder;
  int checked = 0;
  for (const DataKind* kind : data_kinds::all)
    for (const ModelKind framing : kind->framings) {
      if (!kind->is_task()) continue;
      DataOptions options;
      options.kind = kind;
      if (kind == &data_kinds::graph) options.lengths = {8, 16};
      if (kind == &data_kinds::graph) options.edge_kinds = 2;
      if (kind == &data_kinds::set) options.lengths = {5, 9};
      if (kind == &data_kinds::recall) options.lengths = {2, 4};
      if (kind == &data_kinds::subject) options.lengths = {9, 12};
      if (kind == &data_kinds::streams) options.lengths = {1, 4};
      CAPTURE(kind->name);
      const Corpus corpus = load_corpus(options, framing, 1);
      write_file(folder / "vocabulary.json", vocabulary_text(corpus));
      const Corpus saved = read_vocabulary(folder / "vocabulary.json", framing);
      CHECK(vocabulary_identity(saved).text() == vocabulary_identity(corpus).text());
      CHECK(row_vocabularies(saved) == row_vocabularies(corpus));
      ++checked;
    }
  CHECK(checked >= 13);
}

TEST_CASE("train.load: loads rows by their token, or none of an unknown vocabulary") {
  const Copy runs;
  // 4 words, <bos>, <eos>, <unk>: as many tokens as in r (5 symbols, <bos>, <eos>).
  std::string pairs;
  for (int i = 0; i < 60; ++i)
    for (const char* end : {"\t", "\n"})
      pairs += std::string(1, static_cast<char>('a' + i % 4)) + " " +
               static_cast<char>('a' + i / 4 % 4) + end;
  write_file(runs / "pairs.tsv", pairs);
  write_file(runs / "pairs.toml",
             "[train]\nsteps = 2\n[model]\nlayers = 1\ndim = 16\nheads = 2\n[data]\nkind = "
             "'pairs'\npath = 'pairs.tsv'\nlevel = 'word'\nshare_vocabulary = true\n");
  const auto train = [&](const std::string& config, const std::vector<std::string>& settings) {
    std::vector<std::string> arguments = {"train", config, "--run", "n"};
    for (const std::string& setting : settings)
      arguments.insert(arguments.end(), {"--set", setting});
    remove_all(runs / "n");
    return runs.heed(arguments);
  };
  const auto loads = [&](const std::string& config, const std::vector<std::string>& settings) {
    const ProgramOutput output = succeeded(train(config, settings));
    CHECK(output.err.find("warning") == output.err.npos);
  };
  const std::string body = "train.load_names=[\"encoder.*\", \"decoder.*\"]";
  const std::string file = "r/checkpoints/best/model.safetensors";
  for (const std::string& from : {std::string("r"), file}) {
    loads("r.toml", {"train.load=" + from});
    loads("pairs.toml", {"train.load=" + from, body});
    check_rejected(train("pairs.toml", {"train.load=" + from}), 2,
                   from == "r"
                       ? std::vector<std::string>{"r: 7 tokens; it lacks 4 ",
                                                  "\"a\", \"b\", \"c\", \"d\"; set train.new"}
                       : std::vector<std::string>{
                             "train.load: ", "embedding.token.weight stand for other tokens",
                             "same vocabulary, or set train.load_names"});
  }

  // Weights that another program wrote have no vocabulary metadata. The vocabulary.json of the run
  // is used.
  const auto weights = runs / "r/checkpoints/best/model.safetensors";
  {
    const SafetensorsFile stated(weights);
    std::vector<std::vector<float>> values;
    std::vector<NamedArray> arrays;
    for (const NamedArray& array : stated.arrays()) {
      values.emplace_back(static_cast<size_t>(array.bytes() / 4));
      stated.read(array, values.back().data());
      arrays.push_back({array.name, array.dtype, array.dims, values.back().data()});
    }
    write_safetensors(runs / "bare.safetensors", arrays);
  }
  write_file(weights, read_file(runs / "bare.safetensors", "weights"));
  change_state(runs / "r/checkpoints/best", [&](Json& state) {
    Json digests = state.at("sha256");
    digests.set("model.safetensors", sha256_of_file(weights));
    state.set("sha256", digests);
  });
  loads("r.toml", {"train.load=r"});
  check_rejected(train("pairs.toml", {"train.load=r"}), 2, {"it lacks 4 of the training data"});
  const ProgramOutput unknown = succeeded(train("pairs.toml", {"train.load=bare.safetensors"}));
  CHECK_CONTAINS(unknown.err,
                 "does not say which tokens the rows of embedding.token.weight stand for");

  // Weights that state another vocabulary than the run in whose folder they lie.
  write_file(weights, read_file(runs / "n/checkpoints/latest/model.safetensors", "weights"));
  change_state(runs / "r/checkpoints/best", [&](Json& state) {
    Json digests = state.at("sha256");
    digests.set("model.safetensors", sha256_of_file(weights));
    state.set("sha256", digests);
  });
  check_rejected(train("r.toml", {"train.load=r"}), 2, {"stand for other tokens"});
}
