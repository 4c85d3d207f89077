// heed data, and runs whose data are elsewhere.
#include <filesystem>
#include <sstream>

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "data/kind.h"
#include "program.h"

using namespace heed;

namespace {

// Writes a TSV of `count` pairs of numbers in words and digits.
void write_pairs(const std::string& path, int count) {
  const char* const words[] = {"null", "eins", "zwei", "drei"};
  std::string text;
  for (int i = 0; i < count; ++i) {
    const int a = i % 4, b = i / 4 % 4, c = i / 16 % 4;
    text += std::string(words[a]) + " " + words[b] + " " + words[c] + "\t" + std::to_string(a) +
            std::to_string(b) + std::to_string(c) + "\n";
  }
  write_file(path, text);
}

constexpr const char* pairs_config =
    "[train]\nsteps = 4\nbatch_size = 4\n[model]\nlayers = 1\ndim = 16\nheads = 2\n"
    "[data]\nkind = 'pairs'\npath = 'pairs.tsv'\n";

}  // namespace

TEST_CASE("data: prints splits, vocabulary, unknown tokens, lengths and examples") {
  const TemporaryFolder folder;
  write_pairs(folder / "pairs.tsv", 64);
  write_file(folder / "val.tsv", "fünf eins\t51\n");
  write_file(folder / "pairs.toml", pairs_config);
  const ProgramOutput output =
      succeeded(heed_in(folder.path, {"data", "pairs.toml", "--set", "data.val_path=val.tsv",
                                      "--set", "data.test_fraction=0"}));
  CHECK(output.out ==
        "train: 64 examples\n"
        "val: 1 examples\n"
        "vocabularies of 12 and 7\n"
        "unknown tokens of source: train 0 %, val 33 %\n"
        "unknown tokens of target: train 0 %, val 50 %\n"
        "length of source: 14\n"
        "length of target: 3\n"
        "example 1: n u l l ␣ n u l l ␣ n u l l → 0 0 0\n"
        "example 32: d r e i ␣ d r e i ␣ e i n s → 3 3 1\n"
        "example 64: d r e i ␣ d r e i ␣ d r e i → 3 3 3\n");
}

TEST_CASE("data: a split is written as lines of JSON, each kind in its form") {
  const TemporaryFolder folder;
  const auto lines_of = [&](const std::string& config, const std::string& split) {
    write_file(folder / "c.toml", config);
    heed_ok(folder.path, {"data", "c.toml", "--split", split, "--write", "w.jsonl"});
    std::vector<Json> lines;
    std::istringstream text(read_file(folder / "w.jsonl", "examples"));
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line, "line"));
    return lines;
  };
  write_pairs(folder / "pairs.tsv", 64);
  const auto pairs =
      lines_of(std::string(pairs_config) + "val_fraction = 0\ntest_fraction = 0\n", "train");
  REQUIRE(pairs.size() == 64);
  CHECK(pairs[1].text() == R"({"source":"eins null null","target":"100"})");
  write_file(folder / "mail.tsv", "buy now\tspam\nhello you\tham\n");
  const std::string data = "val_fraction = 0\ntest_fraction = 0\n";
  const auto mail = lines_of(
      "[model]\nkind = 'classifier'\n[data]\nkind = 'labelled'\npath = 'mail.tsv'\n" + data,
      "train");
  CHECK(mail[0].text() == R"({"input":"buy now","target":"spam"})");
  write_file(folder / "names.txt", "ab\nba\n");
  const auto names = lines_of(
      "[model]\nkind = 'language_model'\n[data]\nkind = 'lines'\npath = 'names.txt'\n" + data,
      "train");
  CHECK(names[0].text() == R"({"input":["<bos>","a","b"],"target":["a","b","<eos>"]})");
  const auto copies = lines_of(
      "[model]\nkind = 'language_model'\n[data]\nkind = 'copy'\nlengths = [2, 3]\n", "val");
  CHECK(copies[0].at("source").string() == copies[0].at("target").string());
  const auto shapes = lines_of("[model]\nkind = 'classifier'\n[data]\nkind = 'shapes'\n", "val");
  CHECK(shapes[0].at("input").elements().size() ==
        static_cast<size_t>(shapes[0].at("grid").elements()[0].integer() *
                            shapes[0].at("grid").elements()[1].integer()));
  const auto graphs =
      lines_of("[model]\nkind = 'classifier'\n[data]\nkind = 'graph'\nlengths = [3, 9]\n", "val");
  const auto nodes = std::ssize(graphs[0].at("nodes").elements());
  for (const Json& edge : graphs[0].at("edges").elements())
    CHECK(edge.elements()[0].integer() < nodes);
  const std::string whole =
      R"({"nodes":[[1.0],[2.0]],"edges":[[0,1,0.5,4.0]],"global":[0.5,2.0],"target":"x"})";
  write_file(folder / "wholes.jsonl",
             whole + "\n" + R"({"nodes": [[3]], "edges": [], "global": [1, 2], "target": "y"})");
  const auto wholes = lines_of(
      "[model]\nkind = 'classifier'\n[data]\nkind = 'examples'\npath = 'wholes.jsonl'\n" + data,
      "train");
  CHECK(wholes[0].text() == whole);
  const std::string number = R"({"input":[[1.0],[2.0]],"target":0.5,"reference":[0.25]})";
  write_file(folder / "numbers.jsonl", number + "\n" + number + "\n");
  const auto numbers = lines_of(
      "[model]\nkind = 'classifier'\n[data]\nkind = 'examples'\npath = 'numbers.jsonl'\n" + data,
      "train");
  CHECK(numbers[0].text() == number);
  check_rejected(heed_in(folder.path, {"data", "c.toml", "--split", "none", "--write", "x.jsonl"}),
                 2, {"no split 'none'"});
  check_rejected(heed_in(folder.path, {"data", "c.toml", "--write", "x.txt"}), 2, {".jsonl"});
  check_rejected(heed_in(folder.path, {"data", "c.toml", "--split", "val"}), 2,
                 {"--split is for --write"});
  CHECK_FALSE(exists(folder / "x.jsonl"));
}

TEST_CASE("data: labels, words, generated tasks, images without tokens") {
  const TemporaryFolder folder;
  write_file(folder / "mail.tsv", "buy now\tspam\nhello you all\tham\nnow\tspam\n");
  write_file(folder / "mail.toml",
             "[model]\nkind = 'classifier'\n[data]\nkind = 'labelled'\npath = 'mail.tsv'\n"
             "level = 'word'\nval_fraction = 0\ntest_fraction = 0\n");
  const std::string mail = heed_in(folder.path, {"data", "mail.toml"}).out;
  CHECK_CONTAINS(mail, "labels: ham 33 %, spam 67 %\n");
  CHECK_CONTAINS(mail, "length of text: 1 ███ 3, median 2\n");
  CHECK_CONTAINS(mail, "example 2: hello you all → ham\n");
  write_file(folder / "sort.toml", tiny_config());
  const ProgramOutput copy = succeeded(heed_in(folder.path, {"data", "sort.toml"}));
  CHECK_CONTAINS(copy.out, "length of target: 2 ");
  write_file(folder / "shapes.toml", "[model]\nkind = 'classifier'\n[data]\nkind = 'shapes'\n");
  CHECK_CONTAINS(heed_in(folder.path, {"data", "shapes.toml"}).out, "[64 vectors] → ");
}

TEST_CASE("data: shows what cannot be seen in labels and tokens") {
  const TemporaryFolder folder;
  write_file(folder / "l.tsv", "a\tspam\u00a0\nb\tspam\nc\tspam \n");
  write_file(folder / "l.toml",
             "[model]\nkind = 'classifier'\n[data]\nkind = 'labelled'\npath = 'l.tsv'\n"
             "val_fraction = 0\ntest_fraction = 0\n");
  const std::string labels = heed_ok(folder.path, {"data", "l.toml"});
  CHECK_CONTAINS(labels, "labels: spam 33 %, \"spam \" 33 %, spam\\u00a0 33 %\n");
  CHECK_CONTAINS(labels, "example 1: a → spam\\u00a0\n");
  write_file(folder / "joined.txt", "\ufeffab\n\ufeffcd\n");
  CHECK_CONTAINS(
      heed_ok(folder.path, {"data", "l.toml", "--set", "model.kind=language_model", "--set",
                            "data.kind=lines", "--set", "data.path=joined.txt"}),
      "example 1: a b\nexample 2: \\ufeff c d\n");
}

TEST_CASE("train of pairs logs the report; a run whose data have moved says what it needs") {
  const TemporaryFolder folder;
  write_pairs(folder / "pairs.tsv", 64);
  write_file(folder / "pairs.toml", pairs_config);
  heed_ok(folder.path, {"train", "pairs.toml", "--run", "run"});
  CHECK_CONTAINS(read_file(folder / "run/train.log", "log"), "data: example 1: n u l l ␣");
  const std::string scores = heed_in(folder.path, {"evaluate", "run"}).out;

  make_folders(folder / "elsewhere");
  rename_in_folder(folder / "pairs.tsv", folder / "elsewhere/pairs.tsv");
  check_rejected(heed_in(folder.path, {"evaluate", "run"}), 2,
                 {"run/config.toml:", "data.path: there is no such file: ",
                  "/pairs.tsv; if it has "
                  "moved, name it with --set data.path=FILE"});
  const auto with_path = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--set", "data.path=elsewhere/pairs.tsv"});
    return heed_ok(folder.path, arguments);
  };
  CHECK(with_path({"evaluate", "run"}) == scores);
  with_path({"summary", "run"});
  if (has_command("profile")) with_path({"profile", "run", "--steps", "1"});
  with_path({"attend", "run", "--example", "0"});
  with_path({"train", "--resume", "--run", "run"});
  check_rejected(heed_in(folder.path, {"evaluate", "run", "--set", "data.path=pairs.toml"}), 2,
                 {"pairs.toml: line 1 has 1 column"});
}

TEST_CASE("data.keep: a run carries its data, and resumes and evaluates anywhere") {
  const TemporaryFolder folder, elsewhere;
  write_pairs(folder / "pairs.tsv", 64);
  write_pairs(folder / "val.tsv", 8);
  write_file(folder / "pairs.toml", std::string(pairs_config) + "val_path = 'val.tsv'\n");
  const auto heed = [&](const std::string& where, const std::vector<std::string>& arguments) {
    const std::string output = heed_ok(where, arguments);
    return output;
  };
  heed(folder.path, {"train", "pairs.toml", "--run", "plain"});
  heed(folder.path, {"train", "pairs.toml", "--run", "run", "--set", "data.keep=true"});
  CHECK(names_in_folder(folder / "run/data") ==
        std::vector<std::string>{"1-path-pairs.tsv", "2-val_path-val.tsv"});
  CHECK_CONTAINS(read_file(folder / "run/config.toml", "config"),
                 "path = \"data/1-path-pairs.tsv\"");
  CHECK(read_file(folder / "run/checkpoints/latest/model.safetensors", "weights") ==
        read_file(folder / "plain/checkpoints/latest/model.safetensors", "weights"));
  REQUIRE(std::rename((folder / "run").c_str(), (elsewhere / "run").c_str()) == 0);
  remove_all(folder / "pairs.tsv");
  heed(elsewhere.path, {"evaluate", "run"});
  heed(elsewhere.path, {"train", "--resume", "--run", "run", "--set", "train.steps=6"});
  heed(elsewhere.path, {"evaluate", "run"});
  CHECK(names_in_folder(elsewhere / "run/data").size() == 2);
  check_rejected(
      heed_in(folder.path, {"config", "pairs.toml", "--set", "data.kind=copy", "--set",
                            "data.path=", "--set", "data.val_path=", "--set", "data.keep=true"}),
      2, {"data.keep is not used by data.kind = \"copy\""});
}

// A block "```text NAME" of the page is a file. A block "```console" has commands and their output.
TEST_CASE("docs/data.md: each command prints what the page shows, and each kind has its section") {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  const std::string text = read_file((root / "docs/data.md").string(), "page");
  for (const DataKind* kind : data_kinds::all)
    CHECK_CONTAINS(text, "`" + std::string(kind->name) + "`");
  const TemporaryFolder folder;
  std::istringstream page(text);
  std::string file, contents, command, expected;
  const bool has_python = shell_in(folder.path, "python3 --version").code == 0;
  if (!has_python) MESSAGE("skipped: the commands on stream.toml, which starts python3");
  const auto run_command = [&] {
    if (!has_python && command.find(" stream") != command.npos) command = expected = "";
    if (command.empty()) return;
    CAPTURE(command);
    std::string output =
        shell_in(folder.path, "exec 2>&1; heed() { \"$HEED\" \"$@\"; }; " + command).out;
    const std::string from = folder.path + "/", to = "/home/you/";
    for (size_t at = 0; (at = output.find(from, at)) != output.npos; at += to.size())
      output.replace(at, from.size(), to);
    CHECK(output == expected);
    command = expected = "";
  };
  int commands = 0;
  for (std::string line, block; std::getline(page, line);) {
    if (line == "```") {
      if (block == "file") write_file(folder / file, contents);
      run_command();
      block = contents = "";
    } else if (line.starts_with("```text ")) {
      block = "file";
      file = line.substr(8);
    } else if (line == "```console") {
      block = "console";
    } else if (block == "file") {
      contents += line + "\n";
    } else if (block == "console" && line.starts_with("$ ")) {
      run_command();
      command = line.substr(2);
      ++commands;
    } else if (block == "console") {
      expected += line + "\n";
    }
  }
  CHECK(commands >= 15);
}
