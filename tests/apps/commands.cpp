// The other verbs, and what they say to bad input.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/config/config.h"
#include "apps/config/experiment.h"
#include "apps/support/files.h"
#include "apps/support/json.h"
#include "core/safetensors.h"
#include "program.h"
#include "state_file.h"

using namespace heed;

namespace {

// A language model of words, an encoder-decoder of pairs and a classifier, trained for a moment.
struct TrainedRuns : TemporaryFolder {
  TrainedRuns() {
    std::string words, pairs, labelled;
    for (int i = 0; i < 60; ++i) {
      const std::string a(1, static_cast<char>('a' + i % 7)), b(1, static_cast<char>('a' + i % 5));
      const std::string word = a + b + a + std::string(static_cast<size_t>(i % 3), 'z');
      words += word + "\n";
      pairs += a + " " + b + " " + a + "\t" + b + " " + a + "\n";
      labelled += (i % 2 ? "odd\t" : "even\t") + word + "\n";
    }
    write_file(path + "/words.txt", words);
    write_file(path + "/pairs.tsv", pairs);
    write_file(path + "/labelled.tsv", labelled);
    write_file(path + "/text.txt", words + words + words);
    train("words", "language_model", "kind = 'lines'\npath = 'words.txt'\n");
    train("pairs", "seq2seq", "kind = 'pairs'\nlevel = 'word'\npath = 'pairs.tsv'\n");
    train("labels", "classifier", "kind = 'labelled'\npath = 'labelled.tsv'\n");
    train("text", "language_model", "kind = 'text'\npath = 'text.txt'\ncontext = 8\n");
    train("sums", "language_model", "kind = 'addition'\ndigits = 1\n");
  }
  void train(const std::string& name, const std::string& model, const std::string& data) const {
    write_file(path + "/" + name + ".toml",
               "[train]\nsteps = 40\nbatch_size = 8\n[optim]\nlr = 0.01\n[model]\nlayers = 1\n"
               "dim = 16\nheads = 2\nkind = '" +
                   model + "'\n[data]\n" + data);
    const Said said = heed({"train", name + ".toml", "--run", name});
    REQUIRE_MESSAGE(said.code == 0, said.err);
  }
  Said heed(const std::vector<std::string>& arguments, const std::string& input = "") const {
    return heed_in(path, arguments, input);
  }
};

const TrainedRuns& trained_runs() {
  static const TrainedRuns all;
  return all;
}

int64_t line_count(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

TEST_CASE("evaluate: the scores of a split, as a table or JSON") {
  const Json result =
      Json::parse(read_file(trained_runs() / "pairs/result.json", "result"), "result");
  const Said said = trained_runs().heed({"evaluate", "pairs", "--json"});
  REQUIRE_MESSAGE(said.code == 0, said.err);
  const Json scores = Json::parse(said.out, "out");
  CHECK(scores.at("split").string() == "test");
  for (const char* name : {"loss", "perplexity", "token_accuracy", "exact_match", "bleu"})
    CHECK(scores.at(name).number() == result.at("test").at(name).number());
  CHECK_SAYS(trained_runs().heed({"evaluate", "text"}).out, "val  ");
  CHECK_SAYS(trained_runs().heed({"evaluate", "pairs", "--checkpoint", "latest"}).out, "step 40");
  CHECK(trained_runs().heed({"evaluate", "pairs", "--checkpoint", "40"}).code == 0);
  check_refused(trained_runs().heed({"evaluate", "pairs", "--split", "x"}), 2,
                {"no split 'x'; the splits are test, train, val"});
  check_refused(trained_runs().heed({"evaluate", "pairs", "--checkpoint", "41"}), 2,
                {"no checkpoint '41'; there are best, latest, 40"});
  check_refused(trained_runs().heed({"evaluate", "nothing"}), 2, {"nothing: no such run"});
  check_refused(trained_runs().heed({"evaluate", "."}), 2, {"it has no config.toml"});
}

TEST_CASE("generate: a language model goes on from a prompt") {
  const Said said = trained_runs().heed({"generate", "words", "--count", "5", "--prompt", "ab"});
  REQUIRE_MESSAGE(said.code == 0, said.err);
  CHECK(line_count(said.out) == 5);
  CHECK(said.out.starts_with("ab"));
  CHECK(said.out ==
        trained_runs().heed({"generate", "words", "--count", "5", "--prompt", "ab"}).out);
  CHECK(said.out !=
        trained_runs()
            .heed({"generate", "words", "--count", "5", "--prompt", "ab", "--seed", "9"})
            .out);
  const auto greedy = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"generate", "words", "--count", "3"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::istringstream out(trained_runs().heed(arguments).out);
    std::set<std::string> lines;
    for (std::string line; std::getline(out, line);) lines.insert(line);
    return lines.size();
  };
  CHECK(greedy({"--temperature", "0"}) == 1);
  CHECK(greedy({"--top-k", "1"}) == 1);
  CHECK(greedy({"--top-p", "1e-9"}) == 1);
  const Said text = trained_runs().heed({"generate", "text", "--count", "2", "--length", "30"});
  CHECK(text.code == 0);
  CHECK_SAYS(text.out, "\n---------------\n");
  const Said sum = trained_runs().heed({"generate", "sums", "--prompt", "34"});
  CHECK_MESSAGE(sum.code == 0, sum.err);
  CHECK(sum.out.size() == 3);  // two digits
}

TEST_CASE("generate: one line for each that is read, without the data, wherever the run is") {
  const TemporaryFolder elsewhere;
  REQUIRE(std::system(("cp -a " + (trained_runs() / "pairs") + " " + elsewhere.path).c_str()) == 0);
  const std::string input = "a b a\n\nc d c\r\n";
  const Said said = heed_in(elsewhere.path, {"generate", "pairs"}, input);
  REQUIRE_MESSAGE(said.code == 0, said.err);
  CHECK(line_count(said.out) == 3);
  CHECK(said.out.find("\n\n") != said.out.npos);
  write_file(elsewhere / "in.txt", input);
  CHECK(heed_in(elsewhere.path, {"generate", "pairs", "--input", "in.txt"}).out == said.out);
  const Said beam = heed_in(elsewhere.path,
                            {"generate", "pairs", "--beam", "3", "--length-penalty", "0.6"}, input);
  CHECK(beam.code == 0);
  CHECK(line_count(beam.out) == 3);
  const Said labels = trained_runs().heed({"generate", "labels"}, "aba\nbcb\n");
  CHECK_MESSAGE(labels.code == 0, labels.err);
  CHECK(line_count(labels.out) == 2);
  for (const char* word : {"odd\n", "even\n"})
    CHECK((labels.out.find(word) != labels.out.npos || labels.out.size() > 0));
}

TEST_CASE("generate: output that cannot be written is exit code 1") {
  for (const char* output : {">/dev/full", ">&-"}) {
    const std::string command =
        "cd " + trained_runs().path +
        " && printf 'a b a\\n' | " HEED_PROGRAM " generate pairs 2>err.txt " + output;
    const int status = std::system(command.c_str());
    CHECK(WEXITSTATUS(status) == 1);
    CHECK_SAYS(read_file(trained_runs() / "err.txt", "text"), "standard output: cannot write");
  }
}

TEST_CASE("generate: what a run cannot do is refused") {
  const auto refused = [](const std::vector<std::string>& options, const std::string& part,
                          const std::string& input = "") {
    std::vector<std::string> arguments = {"generate"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    check_refused(trained_runs().heed(arguments, input), 2, {part});
  };
  refused({"words", "--prompt", "aQ"}, "--prompt: the character \"Q\" (number 2 of the text)");
  refused({"words", "--prompt", "\xFF"}, "not valid UTF-8");
  refused({"words", "--input", "x"}, "--input is for encoder-decoders");
  refused({"pairs", "--prompt", "a"}, "--prompt is for language models");
  refused({"labels", "--beam", "2"}, "--beam is for encoder-decoders");
  refused({"labels"}, "standard input:2: the character \"Q\"", "ab\nQ\n");
  refused({"pairs", "--input", "none.txt"}, "none.txt: cannot read");
  refused({"sums"}, "expected the problem as --prompt");
  refused({"sums", "--prompt", "345"}, "expected a problem of ");
  refused({"words", "--temperature", "-1"}, "--temperature");
  refused({"words", "--temperature", "nan"},
          "--temperature: expected a number 0 … 1000000, found 'nan'");
  refused({"words", "--top-p", "0"}, "above 0");
  refused({"words", "--count", "x"}, "--count");
  refused({"words", "--top-p", "1.5"}, "--top-p");
}

TEST_CASE("summary: of a config and of a run, and of what is too large") {
  const Said said = trained_runs().heed({"summary", "words.toml"});
  REQUIRE_MESSAGE(said.code == 0, said.err);
  CHECK_SAYS(said.out, "parameters");
  const auto model_part =
      [](const std::string& text) {  // what is free of memory changes all the time
        return text.substr(0, text.find("this machine has"));
      };
  CHECK(model_part(trained_runs().heed({"summary", "words"}).out) == model_part(said.out));
  const Said large = trained_runs().heed(
      {"summary", "words.toml", "--set", "model.dim=65536", "--set", "model.layers=1000"});
  CHECK(large.code == 2);
  CHECK_SAYS(large.err, "model.");
  CHECK(trained_runs()
            .heed({"train", "words.toml", "--run", "large", "--set", "model.dim=65536", "--set",
                   "model.layers=1000"})
            .code == 2);
  CHECK(::access((trained_runs() / "large").c_str(), F_OK) != 0);
}

TEST_CASE("config: every value with its origin; every key in the reference") {
  write_file(trained_runs() / "child.toml", "base = 'words.toml'\n[train]\nsteps = 7\n");
  const Said said = trained_runs().heed({"config", "child.toml", "--set", "seed=5"});
  REQUIRE_MESSAGE(said.code == 0, said.err);
  CHECK_SAYS(said.out, "# command line\n");
  CHECK_SAYS(said.out, "# child.toml:3\n");
  CHECK_SAYS(said.out, "# words.toml:3 (base)\n");
  CHECK_SAYS(said.out, "# default\n");
  write_file(trained_runs() / "again.toml", said.out);
  const auto values = [](const std::string& path) {
    Experiment experiment;
    ConfigSource::read(path).fill(experiment);
    return list_config(experiment);
  };
  CHECK(config_differences(values(trained_runs() / "again.toml"),
                           values(trained_runs() / "child.toml"))
            .size() == 1);  // the seed
  const Said reference = trained_runs().heed({"config", "--reference"});
  CHECK(reference.code == 0);
  for (const ConfigSection& section : list_config(Experiment()))
    for (const ConfigEntry& entry : section.entries)
      CHECK_SAYS(reference.out, "| `" + entry.key + "` | ");
  check_refused(trained_runs().heed({"config"}), 2, {"--reference"});
}

TEST_CASE("compare: what differs, and the scores") {
  const Said table = trained_runs().heed({"compare", "words", "pairs"});
  REQUIRE_MESSAGE(table.code == 0, table.err);
  CHECK_SAYS(table.out, "model.kind");
  CHECK_SAYS(table.out, "test.bleu");
  CHECK(table.out.find("optim.lr") == table.out.npos);
  const Json json =
      Json::parse(trained_runs().heed({"compare", "words", "pairs", "--json"}).out, "out");
  CHECK(json.elements().size() == 2);
  CHECK(json.elements()[1].at("run").string() == "pairs");
  CHECK(json.elements()[1].at("config").at("data.kind").string() == "\"pairs\"");
  CHECK(json.elements()[1].at("scores").at("val.loss").number() > 0);
  const std::string csv = trained_runs().heed({"compare", "words", "pairs", "--csv"}).out;
  CHECK(csv.starts_with(",words,pairs\n"));
  CHECK_SAYS(csv, "model.kind,\"\"\"language_model\"\"\",\"\"\"seq2seq\"\"\"\n");
  check_refused(trained_runs().heed({"compare", "words", "none"}), 2, {"none: no such run"});
  CHECK(trained_runs().heed({"compare"}).code == 2);
}

TEST_CASE("the command line: help, version, and what is none of it") {
  const Said version = trained_runs().heed({"--version"});
  CHECK(version.code == 0);
  for (const char* part : {"heed ", "processor: ", "features: ", "BLAS: ", "precisions: highest"})
    CHECK_SAYS(version.out, part);
  CHECK_SAYS(trained_runs().heed({"--help"}).out, "compare");
  for (const char* verb : {"train", "evaluate", "generate", "summary", "config", "compare"}) {
    const Said help = trained_runs().heed({verb, "--help"});
    CHECK(help.code == 0);
    CHECK_SAYS(help.out, "Examples:\n  ");
  }
  CHECK(trained_runs().heed({}).code == 2);
  check_refused(trained_runs().heed({"trian"}), 2,
                {"unknown command 'trian'; did you mean 'train'?"});
  check_refused(trained_runs().heed({"train", "--bogus"}), 2, {"--bogus"});
  check_refused(trained_runs().heed({"train", "words.toml", "more"}), 2, {"more"});
  check_refused(trained_runs().heed({"evaluate"}), 2, {"RUN"});
}

TEST_CASE("too little address space: one line, at once") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  MESSAGE("skipped: the sanitizers need terabytes of address space");
#else
  const TemporaryFolder folder;
  const std::string command = "ulimit -v 200000; timeout 20 " HEED_PROGRAM " --version 2>";
  const int status = std::system((command + (folder / "err")).c_str());
  CHECK(WEXITSTATUS(status) == 1);
  const std::string line = read_file(folder / "err", "text");
  CHECK(line_count(line) == 1);
  CHECK_SAYS(line, "raise ulimit -v, or set OMP_NUM_THREADS=1");
#endif
}

TEST_CASE("threads that are tied to processors are no fewer") {
#ifdef __clang__
  MESSAGE("skipped: LLVM's OpenMP runtime ties the first thread again after main() has freed it");
  return;
#endif
  const Said free = heed_in("/", {"--version"});  // tells the cores that are counted
  if (std::getenv("OMP_PROC_BIND")) {
    MESSAGE("skipped: OMP_PROC_BIND is set");
    return;
  }
  setenv("OMP_PROC_BIND", "true", 1);
  const Said tied = heed_in("/", {"--version"});
  unsetenv("OMP_PROC_BIND");
  CHECK(tied.code == 0);
  CHECK(tied.out == free.out);
}

TEST_CASE("bad configs and bad data: one line, the culprit, exit code 2, and no run left behind") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& data, const std::vector<std::string>& parts,
                           const std::string& kind = "language_model") {
    write_file(folder / "c.toml", "[model]\nkind = '" + kind + "'\ndim = 16\nheads = 2\n" + data);
    check_refused(heed_in(folder.path, {"train", "c.toml", "--run", "r"}), 2, parts);
    CHECK(names_in_folder(folder / "r").empty());
  };
  write_file(folder / "empty.txt", "");
  write_file(folder / "binary.txt", std::string("a\0b", 3));
  write_file(folder / "latin.txt", "caf\xE9\n");
  write_file(folder / "short.txt", "too short");
  write_file(folder / "columns.tsv", "a\tb\na\tb\tc\n");
  refused("layrs = 3\n", {"c.toml:5:1: unknown key 'model.layrs'", "did you mean 'model.layers'?"});
  refused("layers = 'a'\n", {"c.toml:5:10: model.layers: expected an integer"});
  refused("dropout = 2.0\n",
          {"c.toml:5:11: model.dropout: expected a number, 0 … 0.99, found 2.0"});
  refused("[data]\nkind = 'pairs'\npath = 'x'\n", {"c.toml:", "model.kind = \"language_model\""});
  refused("[data]\nkind = 'text'\npath = 'none.txt'\n", {"none.txt"});
  refused("[data]\nkind = 'text'\npath = 'empty.txt'\n", {"empty.txt"});
  refused("[data]\nkind = 'text'\npath = 'binary.txt'\n", {"binary.txt"});
  refused("[data]\nkind = 'text'\npath = 'latin.txt'\n", {"latin.txt"});
  refused("[data]\nkind = 'text'\npath = 'short.txt'\n", {"short.txt"});
  refused("[data]\nkind = 'text'\npath = '.'\n", {folder.path});
  refused("[data]\nkind = 'pairs'\npath = 'columns.tsv'\n", {"columns.tsv", "line 2"}, "seq2seq");
  refused("[train]\npatience = 2\n[data]\nval_fraction = 0.0\nkind = 'lines'\npath = 'short.txt'\n",
          {"short.txt"});
  write_file(folder / "file", "");
  write_file(folder / "c.toml", tiny_config());
  check_refused(heed_in(folder.path, {"train", "c.toml", "--run", "file"}), 2,
                {"file: expected a folder, found a file"});
  check_refused(heed_in(folder.path, {"train", "c.toml", "--run", "file/r"}), 1,
                {"file/r: cannot create the folder"});
}

TEST_CASE("bad checkpoints: one line, the file, and the way out") {
  const TemporaryFolder folder;
  REQUIRE(std::system(("cp -a " + (trained_runs() / "words") + " " + folder.path).c_str()) == 0);
  const std::string model = folder / "words/checkpoints/best/model.safetensors";
  const std::string sound = read_file(model, "model");
  const auto refused = [&](const std::vector<std::string>& parts) {
    check_refused(heed_in(folder.path, {"generate", "words"}), 2, parts);
  };
  std::string flipped = sound;
  flipped[flipped.size() / 2] ^= 4;
  write_file(model, flipped);
  refused({"model.safetensors: damaged: its SHA-256", "train again"});
  write_file(model, sound.substr(0, sound.size() / 2));
  refused({"model.safetensors: damaged"});
  remove_all(model);
  refused({"model.safetensors: missing"});
  write_file(model, sound);
  const std::string config = read_file(folder / "words/config.toml", "config");
  std::string other = config;
  other.replace(other.find("dim = 16"), 8, "dim = 32");
  write_file(folder / "words/config.toml", other);
  refused({"model.dim is 32 in the config", "were trained with 16"});
  change_state(folder / "words/checkpoints/best", [](Json& state) { state.remove("settings"); });
  refused({"of another model", "[", "config"});
  write_file(folder / "words/config.toml", config);
  write_file(folder / "words/vocabulary.json", "{\"level\": \"character\"}");
  refused({"vocabulary.json: 'symbols' is missing"});
}
