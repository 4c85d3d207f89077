// The commands other than train: output and errors.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/commands/command_line.h"
#include "apps/config/config.h"
#include "apps/config/experiment.h"
#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/support/numbers.h"
#include "apps/support/version.h"
#include "apps/training/run_record.h"
#include "core/processors.h"
#include "core/safetensors.h"
#include "program.h"
#include "state_file.h"

using namespace heed;

namespace {

// Trains small models: three language models, an encoder-decoder and a classifier.
struct TrainedRuns : Workspace {
  TrainedRuns() {
    std::string words, pairs, labelled;
    for (int i = 0; i < 60; ++i) {
      const std::string a(1, static_cast<char>('a' + i % 7)), b(1, static_cast<char>('a' + i % 5));
      const std::string word = a + b + a + std::string(static_cast<size_t>(i % 3), 'z');
      words += word + "\n";
      pairs += a + " " + b + " " + a + "\t" + b + " " + a + "\n";
      labelled += word + (i % 2 ? "\todd\n" : "\teven\n");
    }
    write("words.txt", words);
    write("pairs.tsv", pairs);
    write("labelled.tsv", labelled);
    write("text.txt", words + words + words);
    train("words", "language_model", "kind = 'lines'\npath = 'words.txt'\n");
    train("pairs", "seq2seq", "kind = 'pairs'\nlevel = 'word'\npath = 'pairs.tsv'\n");
    train("labels", "classifier", "kind = 'labelled'\npath = 'labelled.tsv'\n");
    train("text", "language_model", "kind = 'text'\npath = 'text.txt'\ncontext = 8\n");
    train("sums", "language_model", "kind = 'addition'\ndigits = 1\n");
  }
  void train(const std::string& name, const std::string& model, const std::string& data) const {
    Workspace::train(
        name,
        "[train]\nsteps = 40\nbatch_size = 8\n[optim]\nlr = 0.01\n[model]\nlayers = 1\n"
        "dim = 16\nheads = 2\nkind = '" +
            model + "'\n[data]\n" + data);
  }
};

const TrainedRuns& trained_runs() {
  static const TrainedRuns all;
  return all;
}

int64_t line_count(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

TEST_CASE("a text has no exact match: examples have no complete target") {
  for (const std::string run : {"text", "words"}) {
    for (const std::string& text :
         {read_file(trained_runs() / (run + "/result.json"), "result"),
          read_file(trained_runs() / (run + "/metrics.jsonl"), "metrics"),
          trained_runs().heed({"evaluate", run}).out,
          trained_runs().heed({"evaluate", run, "--json"}).out,
          has_command("compare") ? trained_runs().heed({"compare", run}).out : "loss"}) {
      CHECK_CONTAINS(text, "loss");
      CHECK(text.find("exact") == text.npos);
    }
  }
  CHECK_CONTAINS(read_file(trained_runs() / "sums/result.json", "result"), "exact_match");
}

TEST_CASE("evaluate: prints the scores of a split as a table or JSON") {
  const Json result = trained_runs().json("pairs/result.json");
  const ProgramOutput output = succeeded(trained_runs().heed({"evaluate", "pairs", "--json"}));
  const Json scores = Json::parse(output.out, "out");
  CHECK(scores.at("split").string() == "test");
  for (const char* name : {"loss", "perplexity", "token_accuracy", "exact_match", "bleu", "chrf"})
    CHECK(scores.at(name).number() == result.at("test").at(name).number());
  CHECK_CONTAINS(trained_runs().heed({"evaluate", "pairs"}).out,
                 "test: BLEU means nothing, no output has four words; see chrF2");
  CHECK_CONTAINS(trained_runs().heed({"evaluate", "text"}).out, "val  ");
  CHECK_CONTAINS(trained_runs().heed({"evaluate", "pairs", "--checkpoint", "latest"}).out,
                 "step 40");
  CHECK(trained_runs().heed({"evaluate", "pairs", "--checkpoint", "40"}).code == 0);
  check_rejected(trained_runs().heed({"evaluate", "pairs", "--split", "x"}), 2,
                 {"no split 'x'; the splits are test, train, val"});
  check_rejected(trained_runs().heed({"evaluate", "pairs", "--checkpoint", "41"}), 2,
                 {"no checkpoint '41'; there are best, latest, 40"});
  check_rejected(trained_runs().heed({"evaluate", "nothing"}), 2, {"nothing: no such run"});
  check_rejected(trained_runs().heed({"evaluate", "."}), 2, {"it has no config.toml"});
}

TEST_CASE("evaluate: beam, predictions, errors by length and confusion") {
  const TrainedRuns& runs = trained_runs();
  const auto scores_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"evaluate", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string output = runs.ok(arguments);
    return Json::parse(output, "out");
  };
  const Json pairs = scores_of({"pairs", "--beam", "3", "--predictions", "predictions.jsonl"});
  std::istringstream lines(read_file(runs / "predictions.jsonl", "predictions"));
  int64_t examples = 0, correct = 0;
  for (std::string line; std::getline(lines, line); ++examples) {
    const Json row = Json::parse(line, "line");
    CHECK(!row.at("source").string().empty());
    correct += row.at("predicted").string() == row.at("expected").string();
  }
  CHECK(examples == pairs.at("examples").integer());
  CHECK(pairs.at("exact_match").number() ==
        doctest::Approx(static_cast<double>(correct) / static_cast<double>(examples)));
  int64_t counted = 0, errors = 0;
  for (const Json& row : pairs.at("errors_by_length").elements()) {
    CHECK(row.at("length").integer() == 3);
    counted += row.at("examples").integer();
    errors += row.at("errors").integer();
  }
  CHECK(counted == examples);
  CHECK(errors == examples - correct);
  const Json labels = scores_of({"labels"});
  CHECK(labels.at("confusion").at("labels").strings() == std::vector<std::string>{"even", "odd"});
  int64_t all = 0, diagonal = 0;
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      const auto row = static_cast<size_t>(i), column = static_cast<size_t>(j);
      const int64_t count =
          labels.at("confusion").at("counts").elements()[row].elements()[column].integer();
      all += count;
      diagonal += i == j ? count : 0;
    }
  CHECK(all == labels.at("examples").integer());
  CHECK(static_cast<double>(diagonal) / static_cast<double>(all) ==
        doctest::Approx(labels.at("exact_match").number()));
  check_rejected(runs.heed({"evaluate", "words", "--unknown", "skip"}), 2,
                 {"--unknown is for --input"});
  check_rejected(runs.heed({"evaluate", "labels", "--beam", "2"}), 2,
                 {"--beam is for encoder-decoders"});
  check_rejected(runs.heed({"evaluate", "pairs", "--predictions", "no/x"}), 2, {"no/x"});
}

TEST_CASE("evaluate: predictions have the index and the score of each example") {
  const TrainedRuns& runs = trained_runs();
  for (const std::string run : {"pairs", "labels", "sums"}) {
    const std::string output = runs.ok({"evaluate", run, "--predictions", "p.jsonl", "--json"});
    const Json scores = Json::parse(output, "out");
    std::istringstream lines(read_file(runs / "p.jsonl", "predictions"));
    int64_t index = 0, correct = 0;
    double loss = 0;
    for (std::string line; std::getline(lines, line); ++index) {
      const Json row = Json::parse(line, "line");
      CHECK(row.at("index").integer() == index);
      CHECK(row.at("correct").flag() ==
            (row.at("predicted").string() == row.at("expected").string()));
      correct += row.at("correct").flag();
      loss += row.at("loss").number();
    }
    CHECK(scores.at("exact_match").number() ==
          doctest::Approx(static_cast<double>(correct) / static_cast<double>(index)));
    // All targets of these data have the same length, but for the sums.
    if (run != "sums")
      CHECK(loss / static_cast<double>(index) ==
            doctest::Approx(scores.at("loss").number()).epsilon(1e-4));
  }
}

TEST_CASE("evaluate: pairs and labelled lines are scored line by line") {
  const TrainedRuns& runs = trained_runs();
  // The test split as a file, by the predictions of the run.
  runs.ok({"evaluate", "pairs", "--predictions", "p.jsonl"});
  std::istringstream lines(read_file(runs / "p.jsonl", "predictions"));
  std::string input, right;
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line, "line");
    input += row.at("source").string() + "\t" + row.at("expected").string() + "\n";
    right += fmt::format("{}\t{}\t{}\t{}\n", four_digits(row.at("loss").number()),
                         row.at("correct").flag() ? "right" : "wrong", row.at("source").string(),
                         row.at("expected").string());
  }
  const ProgramOutput output = succeeded(runs.heed({"evaluate", "pairs", "--input", "-"}, input));
  CHECK(output.out == right);
  const ProgramOutput labels = runs.heed({"evaluate", "labels", "--input", "-", "--json"},
                                         "aba\todd\n\neven\naba\naba\tbad\nabaz\teven\n");
  CHECK(labels.code == 2);
  CHECK_CONTAINS(labels.err,
                 "standard input:3: expected a text and its label with a tab between, "
                 "found 1 column");
  CHECK_CONTAINS(labels.err,
                 "standard input:5: the label \"bad\" does not occur in training, which "
                 "has 2 labels, \"even\" to \"odd\"");
  CHECK_CONTAINS(labels.out, R"({"line":1,"input":"aba","expected":"odd","predicted":)");
  CHECK_CONTAINS(labels.out, R"({"line":2,"input":""})");
  CHECK_CONTAINS(labels.out, R"({"line":6,"input":"abaz","expected":"even","predicted":)");
  check_rejected(runs.heed({"evaluate", "sums", "--input", "-"}, ""), 2,
                 {"--input is for language models of texts or lines"});
  check_rejected(runs.heed({"evaluate", "pairs", "--input", "-", "--by", "a"}, ""), 2,
                 {"leave out --split, --predictions, --by, --positions"});
}

TEST_CASE("evaluate: kinds of examples are those that a regular expression names, or lengths") {
  const TrainedRuns& runs = trained_runs();
  const auto kinds_of = [&](const std::string& run, const std::string& by) {
    const std::string output = runs.ok({"evaluate", run, "--by", by, "--json", "--split", "train"});
    const Json scores = Json::parse(output, "out");
    int64_t examples = 0;
    double correct = 0;
    for (const Json& kind : scores.at("by").elements()) {
      examples += kind.at("examples").integer();
      correct +=
          kind.at("exact_match").number() * static_cast<double>(kind.at("examples").integer());
    }
    CHECK(examples == scores.at("examples").integer());
    CHECK(correct / static_cast<double>(examples) ==
          doctest::Approx(scores.at("exact_match").number()));
    std::vector<std::string> names;
    for (const Json& kind : scores.at("by").elements()) names.push_back(kind.at("kind").string());
    return names;
  };
  CHECK(kinds_of("labels", "z+") == std::vector<std::string>{"z", "zz", "no match"});
  CHECK(kinds_of("pairs", "^([ab]) ") == std::vector<std::string>{"a", "b", "no match"});
  CHECK(kinds_of("labels", "length") == std::vector<std::string>{"3", "4", "5"});
  CHECK_CONTAINS(runs.heed({"evaluate", "labels", "--by", "z+"}).out, "kind      examples");
  check_rejected(runs.heed({"evaluate", "labels", "--by", "Q"}), 2,
                 {"--by \"Q\": matches no source; the first is \""});
  check_rejected(
      runs.heed({"evaluate", "labels", "--by", "("}), 2,
      {"--by \"(\": expected length, position, the name of a group or a regular expression: "});
  for (const std::string& large :
       {"z" + std::string(30, '+'), std::string("(z{999}){9,999}"), std::string(20'000, '(')})
    check_rejected(runs.heed({"evaluate", "labels", "--by", large}), 2,
                   {"--by \"", "the regular expression is too large"});
  CHECK(kinds_of("labels", "(z{1,9})+") == std::vector<std::string>{"z", "zz", "no match"});
}

TEST_CASE("evaluate: kinds and predictions without an expected output have losses") {
  const TrainedRuns& runs = trained_runs();
  for (const std::string run : {"words", "text"}) {
    CAPTURE(run);
    const Json scores = Json::parse(
        runs.ok({"evaluate", run, "--by", "(z+)", "--predictions", "p.jsonl", "--json"}), "scores");
    int64_t examples = 0;
    for (const Json& kind : scores.at("by").elements()) {
      examples += kind.at("examples").integer();
      CHECK(kind.at("loss").number() > 0);
      CHECK(!kind.find("exact_match"));
    }
    CHECK(examples == scores.at("examples").integer());
    std::istringstream lines(read_file(runs / "p.jsonl", "predictions"));
    int64_t index = 0, with_z = 0;
    for (std::string line; std::getline(lines, line); ++index) {
      const Json row = Json::parse(line, "line");
      CHECK(row.at("index").integer() == index);
      CHECK(row.at("loss").number() > 0);
      CHECK(!row.find("predicted"));
      with_z += row.at("source").string().find('z') != std::string::npos;
    }
    CHECK(index == examples);
    int64_t matched = 0;
    for (const Json& kind : scores.at("by").elements())
      matched += kind.at("kind").string() == "no match" ? 0 : kind.at("examples").integer();
    CHECK(matched == with_z);
  }
  const Json lines = Json::parse(
      runs.ok({"evaluate", "words", "--by", "length", "--split", "train", "--json"}), "");
  std::string lengths;
  for (const Json& kind : lines.at("by").elements()) lengths += kind.at("kind").string() + " ";
  CHECK(lengths == "3 4 5 ");  // without <bos> and <eos>
  const std::string table = runs.ok({"evaluate", "words", "--by", "length"});
  CHECK_CONTAINS(table, "kind  examples  ");
  CHECK(table.find("exact") == table.npos);
}

TEST_CASE("evaluate: loss by position, a range of positions, and every target of an example") {
  const TrainedRuns& runs = trained_runs();
  const auto json = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"evaluate", "pairs", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Json::parse(runs.ok(arguments), "out");
  };
  const Json by = json({"--by", "position", "--predictions", "p.jsonl"});
  std::map<int64_t, std::pair<double, int64_t>> losses;  // by position, of the file
  std::istringstream lines(read_file(runs / "p.jsonl", "predictions"));
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line, "row");
    bool correct = true;
    for (const Json& target : row.at("targets").elements()) {
      auto& [sum, count] = losses[target.at("position").integer()];
      sum -= std::log(target.at("probability").number());
      ++count;
      correct = correct && target.at("predicted").string() == target.at("expected").string();
    }
    CHECK(correct == row.at("correct").flag());
  }
  REQUIRE(losses.size() > 1);
  CHECK(by.at("by").elements().size() == losses.size());
  for (const Json& kind : by.at("by").elements()) {
    const int64_t position = std::stoll(kind.at("kind").string());
    const auto& [sum, count] = losses.at(position);
    CHECK(kind.at("examples").integer() == count);
    CHECK(kind.at("loss").number() ==
          doctest::Approx(sum / static_cast<double>(count)).epsilon(1e-4));
    const Json range = json({"--positions", fmt::format("{0}:{0}", position)});
    CHECK(range.at("targets").integer() == count);
    CHECK(range.at("loss").number() == doctest::Approx(kind.at("loss").number()).epsilon(1e-5));
    CHECK(range.at("token_accuracy").number() == kind.at("token_accuracy").number());
  }
  CHECK(json({"--positions", "0:1000"}).at("loss").number() == by.at("loss").number());
  CHECK_CONTAINS(runs.ok({"evaluate", "pairs", "--by", "position"}), "token accuracy");
  check_rejected(runs.heed({"evaluate", "pairs", "--positions", "500:600"}), 2,
                 {"--positions 500:600: no target is at these positions"});
  check_rejected(runs.heed({"evaluate", "pairs", "--positions", "3:2"}), 2,
                 {"--positions \"3:2\": expected the first and the last position"});
  check_rejected(runs.heed({"evaluate", "pairs", "--positions", "0:2", "--beam", "2"}), 2,
                 {"--positions and --beam: choose one"});
}

TEST_CASE("evaluate: a language model scores lines") {
  const TrainedRuns& runs = trained_runs();
  const ProgramOutput text = runs.heed({"evaluate", "words", "--input", "-"}, "aba\nQ\n\nbab\n");
  CHECK(text.code == 2);
  CHECK_CONTAINS(text.err, "error: standard input:2: the character \"Q\"");
  CHECK(line_count(text.out) == 4);
  CHECK_CONTAINS(text.out, "\taba\n\n");
  CHECK_CONTAINS(text.out, "\tbab\n");
  write_file(runs / "lines.txt", "aba\n");
  const ProgramOutput json =
      succeeded(runs.heed({"evaluate", "words", "--input", "lines.txt", "--json"}));
  const Json row = Json::parse(json.out, "out");
  CHECK(row.at("tokens").strings() == std::vector<std::string>{"a", "b", "a", "<eos>"});
  double sum = 0;
  for (const Json& loss : row.at("losses").elements()) sum += loss.number();
  CHECK(row.at("loss").number() == doctest::Approx(sum / 4).epsilon(1e-5));
  for (size_t i = 0; i < 4; ++i) {
    const auto number = [&](const char* name) { return row.at(name).elements().at(i).number(); };
    CHECK(number("probabilities") == doctest::Approx(std::exp(-number("losses"))).epsilon(1e-5));
    if (row.at("predicted").strings().at(i) == row.at("tokens").strings().at(i))
      CHECK(number("predicted_probabilities") == number("probabilities"));
    else
      CHECK(number("predicted_probabilities") > number("probabilities"));
  }
  CHECK(std::stod(text.out) == doctest::Approx(sum / 4).epsilon(1e-3));
  CHECK(!row.find("stride"));  // it reads any length
  check_rejected(runs.heed({"evaluate", "sums", "--input", "lines.txt"}), 2,
                 {"--input is for language models"});
  check_rejected(runs.heed({"evaluate", "words", "--input", "lines.txt", "--split", "val"}), 2,
                 {"--split"});
  check_rejected(runs.heed({"evaluate", "words", "--input", "none"}), 2, {"none: cannot read"});
}

TEST_CASE("evaluate: a line longer than the context is scored in windows, and the output says so") {
  const TrainedRuns& runs = trained_runs();  // the context of "text" is 8 tokens
  const std::string line = "abazcbczabazcbcz";
  const auto row_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"evaluate", "text", "--input", "-", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Json::parse(runs.ok(arguments, line + "\n"), "out");
  };
  const Json by_one = row_of({"--stride", "1"});
  REQUIRE(by_one.at("losses").elements().size() == 16);
  CHECK(by_one.at("context").integer() == 8);
  CHECK(by_one.at("stride").integer() == 1);
  const Json half = row_of({});
  CHECK(half.at("stride").integer() == 4);
  CHECK(half.text() == row_of({"--stride", "4"}).text());
  const Json apart = row_of({"--stride", "8"});
  for (size_t i = 0; i < 16; ++i) {
    const double loss = by_one.at("losses").elements()[i].number();
    if (i < 8) CHECK(half.at("losses").elements()[i].number() == doctest::Approx(loss));
    if (i < 8) CHECK(apart.at("losses").elements()[i].number() == doctest::Approx(loss));
  }
  // The table of positions is the limit of a model that learned them.
  const Workspace names;
  names.write("names.txt", "ruka\nkalomiru\n");
  names.train("lm",
              "[train]\nsteps = 2\nbatch_size = 2\n[model]\nkind = 'language_model'\nlayers = 1\n"
              "dim = 16\nheads = 2\n[model.positional]\nkind = 'learned'\nmax_length = 24\n[data]\n"
              "kind = 'lines'\npath = 'names.txt'\nval_fraction = 0\ntest_fraction = 0\n");
  const std::string learned =
      names.ok({"evaluate", "lm", "--input", "-", "--json"}, "kalomirukalomirukalomirukalomiru\n");
  CHECK(Json::parse(learned, "out").at("losses").elements().size() == 33);
  CHECK(Json::parse(learned, "out").at("context").integer() == 24);
  CHECK(Json::parse(learned, "out").at("stride").integer() == 12);

  CHECK(by_one.at("loss").number() != half.at("loss").number());
  CHECK(apart.at("loss").number() != half.at("loss").number());

  const ProgramOutput text = succeeded(
      runs.heed({"evaluate", "text", "--input", "-"}, "ab\n" + line + "\n" + line + "\n"));
  CHECK_CONTAINS(text.err,
                 "lines of more than 8 tokens are scored in windows of 8: each later token has at "
                 "least 5 tokens before it (--stride 4)");
  CHECK(line_count(text.err) == 1);
  CHECK(runs.heed({"evaluate", "text", "--input", "-"}, "abazcbcz\n").err.empty());
  const auto rejected = [&](const std::vector<std::string>& arguments, const std::string& part) {
    check_rejected(runs.heed(arguments, line + "\n"), 2, {part});
  };
  rejected({"evaluate", "text", "--input", "-", "--stride", "9"},
           "--stride: expected 1 to 8, the context of the model, found 9");
  rejected({"evaluate", "text", "--input", "-", "--stride", "0"}, "--stride");
  rejected({"evaluate", "text", "--stride", "2"}, "--stride is for --input");
  rejected({"evaluate", "words", "--input", "-", "--stride", "2"}, "--stride: this model has no");
  rejected({"evaluate", "pairs", "--input", "-", "--stride", "2"},
           "--stride is for language models");
}

TEST_CASE("a byte order mark is no part of --input, as it is none of data.path") {
  const TrainedRuns& runs = trained_runs();
  const std::string mark = "\xEF\xBB\xBF";
  for (const auto& [run, line] : {std::pair<std::string, std::string>("pairs", "a b\tb a\n"),
                                  {"labels", "aba\todd\n"},
                                  {"words", "aba\n"}}) {
    write_file(runs / "marked.txt", mark + line);
    const std::string plain = runs.ok({"evaluate", run, "--input", "-"}, line);
    CHECK(runs.ok({"evaluate", run, "--input", "-"}, mark + line) == plain);
    CHECK(runs.ok({"evaluate", run, "--input", "marked.txt"}) == plain);
  }
  CHECK(runs.ok({"generate", "pairs"}, mark + "a b\r\n") ==
        runs.ok({"generate", "pairs"}, "a b\n"));
  check_rejected(runs.heed({"generate", "words", "--input", "-"},
                           "\xFF\xFE"
                           "a"),
                 2, {"standard input: UTF-16, not UTF-8: convert it with iconv"});
}

TEST_CASE("generate: a language model continues a prompt") {
  const std::string output =
      trained_runs().ok({"generate", "words", "--count", "5", "--prompt", "ab"});
  CHECK(line_count(output) == 5);
  CHECK(output.starts_with("ab"));
  CHECK(output == trained_runs().heed({"generate", "words", "--count", "5", "--prompt", "ab"}).out);
  CHECK(output != trained_runs()
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
  const ProgramOutput text =
      succeeded(trained_runs().heed({"generate", "text", "--count", "2", "--length", "30"}));
  CHECK_CONTAINS(text.out, "\n---------------\n");
  const ProgramOutput sum = succeeded(trained_runs().heed({"generate", "sums", "--prompt", "34"}));
  CHECK(sum.out.size() == 3);  // two digits
}

TEST_CASE("generate: prints one output line for each input line, without the training data") {
  const TemporaryFolder elsewhere;
  REQUIRE(std::system(("cp -a " + (trained_runs() / "pairs") + " " + elsewhere.path).c_str()) == 0);
  const std::string input = "a b a\n\nc d c\r\n";
  const std::string output = heed_ok(elsewhere.path, {"generate", "pairs"}, input);
  CHECK(line_count(output) == 3);
  CHECK(output.find("\n\n") != output.npos);
  write_file(elsewhere / "in.txt", input);
  CHECK(heed_in(elsewhere.path, {"generate", "pairs", "--input", "in.txt"}).out == output);
  const ProgramOutput beam = succeeded(heed_in(
      elsewhere.path, {"generate", "pairs", "--beam", "3", "--length-penalty", "0.6"}, input));
  CHECK(line_count(beam.out) == 3);
  const ProgramOutput labels = succeeded(trained_runs().heed({"generate", "labels"}, "aba\nbcb\n"));
  CHECK(line_count(labels.out) == 2);
  for (const char* word : {"odd\n", "even\n"})
    CHECK((labels.out.find(word) != labels.out.npos || labels.out.size() > 0));
}

TEST_CASE("generate: lines that cannot be read are reported, and the others answered") {
  const ProgramOutput output = trained_runs().heed({"generate", "labels"}, "ab\nQ\nb\xFF\naba\n");
  CHECK(output.code == 2);
  std::istringstream lines(output.out);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  REQUIRE(all.size() == 4);
  CHECK(!all[0].empty());
  CHECK(all[1].empty());
  CHECK(all[2].empty());
  CHECK(!all[3].empty());
  CHECK(line_count(output.err) == 2);
  CHECK_CONTAINS(output.err, "error: standard input:2: the character \"Q\"");
  CHECK_CONTAINS(output.err, "error: standard input:3: the text \"b\\xff\"");
  const ProgramOutput two =
      trained_runs().heed({"generate", "pairs", "--n-best", "2"}, "\xFF\na b a\n");
  CHECK(two.code == 2);
  CHECK(two.out.starts_with("\n\n"));
  CHECK(line_count(two.out) == 4);
  const ProgramOutput skipped =
      succeeded(trained_runs().heed({"generate", "labels", "--unknown", "skip"}, "aQb\nQQ\n"));
  CHECK(skipped.out == all[0] + "\n\n");
  CHECK(skipped.err == "warning: --unknown skip: left out 3 tokens\n");
  const ProgramOutput json = trained_runs().heed({"generate", "labels", "--json"}, "ab\nQ\n");
  CHECK(json.code == 2);
  const size_t second = json.out.find('\n') + 1;
  const Json first = Json::parse(json.out.substr(0, second), "out");
  CHECK(first.at("probabilities").members()[0].first == all[0]);
  CHECK(first.at("probabilities").members()[0].second.number() >= 0.5);
  CHECK_CONTAINS(Json::parse(json.out.substr(second), "out").at("error").string(), "\"Q\"");
  // 10 MB in one line.
  const ProgramOutput large =
      trained_runs().heed({"generate", "labels"}, std::string(10'000'000, 'a') + "\nab\n");
  CHECK(large.code == 2);
  CHECK(large.out == "\n" + all[0] + "\n");
  CHECK_CONTAINS(large.err, "standard input:1: expected at most 1048576 bytes");
}

TEST_CASE("generate: a language model continues each line of a file as it continues a prompt") {
  const auto generate = [](const std::vector<std::string>& more, const std::string& input = "") {
    std::vector<std::string> arguments = {"generate"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return trained_runs().heed(arguments, input);
  };
  const std::string first = generate({"words", "--prompt", "ab", "--count", "2"}).out;
  const std::string second = generate({"words", "--count", "2"}).out;
  const ProgramOutput lines = generate({"words", "--input", "-", "--count", "2"}, "ab\nQ\n\nab\n");
  CHECK(lines.code == 2);
  CHECK(lines.out == first + "\n\n" + second + first);
  CHECK_CONTAINS(lines.err, "standard input:2: the character \"Q\"");
  const ProgramOutput sums = generate({"sums", "--input", "-"}, "34\n345\n45\n");
  CHECK(sums.code == 2);
  CHECK(sums.out ==
        generate({"sums", "--prompt", "34"}).out + "\n" + generate({"sums", "--prompt", "45"}).out);
  CHECK_CONTAINS(sums.err, "standard input:2: expected a problem of ");
  const ProgramOutput text = generate({"text", "--input", "-", "--length", "5"}, "ab\nba\n");
  CHECK(text.out == generate({"text", "--prompt", "ab", "--length", "5"}).out +
                        "---------------\n" +
                        generate({"text", "--prompt", "ba", "--length", "5"}).out);
  const ProgramOutput json = generate({"words", "--input", "-", "--json"}, "ab\n");
  CHECK(Json::parse(json.out, "out").at("outputs").elements()[0].at("text").string() + "\n" ==
        generate({"words", "--prompt", "ab"}).out);
}

TEST_CASE("generate: a pipe is answered line by line") {
  const ProgramOutput output = succeeded(shell_in(trained_runs().path, R"(
    coproc "$HEED" generate labels
    for word in ab aba; do
      echo $word >&${COPROC[1]}
      read -t 20 -r answer <&${COPROC[0]} && echo "$word $answer"
    done
    pid=$COPROC_PID; exec {COPROC[1]}>&-; wait $pid)"));
  CHECK(line_count(output.out) == 2);
  CHECK_CONTAINS(output.out, "\naba ");
}

TEST_CASE("generate: scores, the n best, and rules") {
  const auto lines_of = [](const std::vector<std::string>& arguments, const std::string& input) {
    std::vector<std::string> all = {"generate"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const std::string output = trained_runs().ok(all, input);
    std::istringstream text(output);
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  };
  const auto pairs = lines_of({"pairs", "--n-best", "3", "--scores"}, "a b a\n");
  REQUIRE(pairs.size() == 3);
  CHECK(std::stod(pairs[0]) >= std::stod(pairs[1]));
  CHECK(std::stod(pairs[1]) >= std::stod(pairs[2]));
  const Json object =
      Json::parse(lines_of({"pairs", "--n-best", "3", "--json"}, "a b a\n").at(0), "out");
  const std::vector<Json>& outputs = object.at("outputs").elements();
  REQUIRE(outputs.size() == 3);
  CHECK(object.at("line").integer() == 1);
  CHECK(pairs[0].ends_with("\t" + outputs[0].at("text").string()));
  double sum = 0;
  for (const Json& each : outputs[0].at("log_probabilities").elements()) sum += each.number();
  CHECK(outputs[0].at("log_probability").number() == doctest::Approx(sum).epsilon(1e-5));
  CHECK(outputs[0].at("tokens").elements().size() ==
        outputs[0].at("log_probabilities").elements().size());
  CHECK(outputs[0].at("tokens").strings().back() == "<eos>");
  const auto classes = lines_of({"labels", "--n-best", "3", "--scores"}, "ab\n");
  REQUIRE(classes.size() == 3);
  CHECK(std::stod(classes[0]) + std::stod(classes[1]) == doctest::Approx(1).epsilon(1e-3));
  CHECK(classes[2].empty());
  const auto words =
      lines_of({"words", "--count", "20", "--forbid", "ab", "--forbid", "<eos>", "--forbid",
                "<bos>", "--length", "9", "--no-repeat-ngram", "2", "--temperature", "3"},
               "");
  CHECK(words.size() == 20);
  for (const std::string& word : words) {
    CHECK(word.size() == 9);
    CHECK(word.find_first_of("ab") == word.npos);
    for (size_t i = 0; i + 2 <= word.size(); ++i) CHECK(word.find(word.substr(i, 2)) == i);
  }
  const auto best = lines_of({"words", "--n-best", "3", "--beam", "5", "--scores"}, "");
  REQUIRE(best.size() == 3);
  CHECK(std::stod(best[0]) >= std::stod(best[2]));
  CHECK(lines_of({"words", "--input", "-", "--n-best", "3", "--beam", "5", "--scores"}, "\n") ==
        best);
  CHECK(lines_of({"words", "--beam", "1"}, "") == lines_of({"words", "--temperature", "0"}, ""));
  const Json sample = Json::parse(lines_of({"words", "--prompt", "ab", "--json"}, "").at(0), "out");
  CHECK(sample.at("text").string().starts_with("ab"));
  CHECK(sample.at("log_probability").number() < 0);
}

TEST_CASE("generate: exits with 1 if the output cannot be written, in silence if nobody reads it") {
  const ProgramOutput closed =
      shell_in(trained_runs().path,
               "yes 'a b a' | head -100000 | { \"$HEED\" generate pairs; echo $? >&2; } "
               "| head -1");
  CHECK(line_count(closed.out) == 1);
  CHECK(closed.err == "141\n");
  const ProgramOutput short_output =
      shell_in(trained_runs().path,
               "mkfifo pipe; exec 3<>pipe 4>pipe 3<&-; rm pipe; \"$HEED\" --version >&4; echo $?");
  CHECK(short_output.err == "");
  CHECK(short_output.out == "141\n");
  for (const char* output : {">/dev/full", ">&-"}) {
    const std::string command =
        "cd " + trained_runs().path +
        " && printf 'a b a\\n' | " HEED_PROGRAM " generate pairs 2>err.txt " + output;
    const int status = std::system(command.c_str());
    CHECK(WEXITSTATUS(status) == 1);
    CHECK_CONTAINS(read_file(trained_runs() / "err.txt", "text"), "standard output: cannot write");
  }
}

TEST_CASE("generate: rejects options that do not fit the model") {
  const auto rejects = [](const std::vector<std::string>& options, const std::string& part,
                          const std::string& input = "") {
    std::vector<std::string> arguments = {"generate"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    check_rejected(trained_runs().heed(arguments, input), 2, {part});
  };
  rejects({"words", "--prompt", "aQ"}, "--prompt: the character \"Q\" (number 2 of the text)");
  rejects({"words", "--prompt", "\xFF"}, "not valid UTF-8");
  rejects({"words", "--input", "x"}, "x: cannot read");
  rejects({"words", "--input", "x", "--prompt", "a"}, "--prompt and --input: expected one of them");
  rejects({"pairs", "--prompt", "a"}, "--prompt is for language models");
  rejects({"labels", "--beam", "2"}, "--beam is for models that generate");
  rejects({"labels", "--forbid", "a"}, "--forbid is for models that generate");
  rejects({"words", "--forbid", "Q"}, "--forbid: the character \"Q\"");
  rejects({"words", "--forbid", ""}, "--forbid: expected a text");
  rejects({"words", "--n-best", "2", "--top-k", "3"}, "--top-k is for samples");
  rejects({"words", "--length-penalty", "1"}, "--length-penalty is for a beam search");
  rejects({"pairs", "--n-best", "3", "--beam", "2"}, "needs a --beam of at least 3");
  rejects({"words", "--unknown", "x"}, "--unknown: expected error or skip, found 'x'");
  rejects({"words", "--no-repeat-ngram", "nan"}, "--no-repeat-ngram");
  rejects({"text", "--prompt", "Q", "--unknown", "skip"}, "--prompt: none of its tokens");
  rejects({"pairs", "--input", "none.txt"}, "none.txt: cannot read");
  rejects({"sums"}, "expected the problem as --prompt");
  rejects({"sums", "--prompt", "345"}, "expected a problem of ");
  rejects({"words", "--temperature", "-1"}, "--temperature");
  rejects({"words", "--temperature", "nan"},
          "--temperature: expected a number 0 … 1000000, found 'nan'");
  rejects({"words", "--top-p", "0"}, "above 0");
  rejects({"words", "--count", "x"}, "--count");
  rejects({"words", "--top-p", "1.5"}, "--top-p");
}

TEST_CASE("summary: accepts a config or a run, rejects models that are too large") {
  const std::string output = trained_runs().ok({"summary", "words.toml"});
  CHECK_CONTAINS(output, "parameters");
  // Without the available memory, which changes.
  const auto model_part = [](const std::string& text) {
    return text.substr(0, text.find("this machine has"));
  };
  CHECK(model_part(trained_runs().heed({"summary", "words"}).out) == model_part(output));
  const ProgramOutput large = trained_runs().heed(
      {"summary", "words.toml", "--set", "model.dim=65536", "--set", "model.layers=1000"});
  CHECK(large.code == 2);
  CHECK_CONTAINS(large.err, "model.");
  CHECK(trained_runs()
            .heed({"train", "words.toml", "--run", "large", "--set", "model.dim=65536", "--set",
                   "model.layers=1000"})
            .code == 2);
  CHECK(::access((trained_runs() / "large").c_str(), F_OK) != 0);
}

TEST_CASE("config: prints every value with its origin, and every key in the reference") {
  write_file(trained_runs() / "child.toml", "base = 'words.toml'\n[train]\nsteps = 7\n");
  const std::string output = trained_runs().ok({"config", "child.toml", "--set", "seed=5"});
  CHECK_CONTAINS(output, "# command line\n");
  CHECK_CONTAINS(output, "# child.toml:3\n");
  CHECK_CONTAINS(output, "# words.toml:3 (base)\n");
  CHECK_CONTAINS(output, "# default\n");
  write_file(trained_runs() / "again.toml", output);
  const auto values = [](const std::string& path) {
    Experiment experiment;
    ConfigSource::read(path).fill(experiment);
    return list_config(experiment);
  };
  CHECK(config_differences(values(trained_runs() / "again.toml"),
                           values(trained_runs() / "child.toml"))
            .size() == 1);  // the seed
  const ProgramOutput reference = succeeded(trained_runs().heed({"config", "--reference"}));
  for (const ConfigEntry& entry : list_config(Experiment()))
    CHECK_CONTAINS(reference.out, "| `" + entry.key + "` | ");
  check_rejected(trained_runs().heed({"config"}), 2, {"--reference"});
}

TEST_CASE("compare: prints differing keys and scores") {
  if (!has_command("compare")) return;
  const std::string table = trained_runs().ok({"compare", "words", "pairs"});
  CHECK_CONTAINS(table, "model.kind");
  CHECK_CONTAINS(table, "test.bleu");
  CHECK(table.find("optim.lr") == table.npos);
  const Json json =
      Json::parse(trained_runs().heed({"compare", "words", "pairs", "--json"}).out, "out");
  CHECK(json.elements().size() == 2);
  CHECK(json.elements()[1].at("run").string() == "pairs");
  CHECK(json.elements()[1].at("config").at("data.kind").string() == "pairs");
  CHECK(json.elements()[1].at("scores").at("val.loss").number() > 0);
  const std::string csv = trained_runs().heed({"compare", "words", "pairs", "--csv"}).out;
  CHECK(csv.starts_with(",words,pairs\n"));
  CHECK_CONTAINS(csv, "model.kind,language_model,seq2seq\n");
  check_rejected(trained_runs().heed({"compare", "words", "none"}), 2, {"none: no such run"});
  CHECK(trained_runs().heed({"compare"}).code == 2);
}

TEST_CASE("command line: help, version, unknown commands and options") {
  const ProgramOutput version = succeeded(trained_runs().heed({"--version"}));
  for (const char* part :
       {"kernels: ", "processor: ", "features: ", "BLAS: ", "precisions: highest"})
    CHECK_CONTAINS(version.out, part);
  const std::string first = fmt::format("heed {}", program_version);
  const std::string line = version.out.substr(0, version.out.find('\n'));
  CHECK((line == first || line.starts_with(first + ", commit ")));
  const std::string help_text = trained_runs().heed({"--help"}).out;
  CHECK_CONTAINS(help_text, "evaluate");
  CHECK(trained_runs().heed({"help"}).out == help_text);
  CHECK(trained_runs().heed({"help", "train"}).out == trained_runs().heed({"train", "--help"}).out);
  check_rejected(trained_runs().heed({"help", "trian"}), 2, {"did you mean 'train'?"});
  for (const char* verb : {"train", "evaluate", "generate", "summary", "config", "data"}) {
    const ProgramOutput help = succeeded(trained_runs().heed({verb, "--help"}));
    CHECK_CONTAINS(help.out, "Examples:\n  ");
  }
  CHECK(trained_runs().heed({}).code == 2);
  check_rejected(trained_runs().heed({"trian"}), 2,
                 {"unknown command 'trian'; did you mean 'train'?"});
  check_rejected(trained_runs().heed({"train", "--bogus"}), 2, {"--bogus"});
  check_rejected(trained_runs().heed({"train", "words.toml", "more"}), 2, {"more"});
  check_rejected(trained_runs().heed({"train", "--", "-x.toml", "--set", "a=b"}), 2,
                 {"unexpected arguments: --set a=b; see heed train --help"});
  check_rejected(trained_runs().heed({"train", "words.toml", "a\nb", "c"}), 2,
                 {"unexpected arguments: \"$(printf 'a\\012b')\" c; see"});
  check_rejected(trained_runs().heed({"evaluate"}), 2, {"RUN"});
}

TEST_CASE("command line: a command that the build left out") {
  const ProgramCommands program{commands_with({}), {{"sweep", "lab", "HEED_LAB"}}};
  char name[] = "heed", word[] = "sweep", option[] = "--help";
  char* arguments[] = {name, word, option, nullptr};
  CHECK_THROWS_WITH_AS(run_command_line(program, 3, arguments),
                       "heed was built without lab/, which has the command 'sweep'; to build it, "
                       "configure with cmake -DHEED_LAB=ON",
                       InputError);
  if (!has_command("sweep"))
    check_rejected(trained_runs().heed({"sweep", "x.toml"}), 2, {"heed was built without lab/"});
  if (!has_command("course"))
    check_rejected(trained_runs().heed({"course"}), 2, {"heed was built without course/"});
}

TEST_CASE("too little address space gives one error line and no hang") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  MESSAGE("skipped: the sanitizers need terabytes of address space");
#else
  const TemporaryFolder folder;
  const std::string command = "ulimit -v 200000; timeout 20 " HEED_PROGRAM " --version 2>";
  const int status = std::system((command + (folder / "err")).c_str());
  CHECK(WEXITSTATUS(status) == 1);
  const std::string line = read_file(folder / "err", "text");
  CHECK(line_count(line) == 1);
  CHECK_CONTAINS(line, "raise ulimit -v, or set OMP_NUM_THREADS=1");
#endif
}

TEST_CASE("OMP_NUM_THREADS sets the number of threads, unless the config sets it") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  setenv("OMP_NUM_THREADS", "3,1", 1);
  heed_ok(folder.path, {"train", "c.toml", "--run", "three"});
  heed_ok(folder.path, {"train", "c.toml", "--run", "two", "--set", "threads=2"});
#ifdef __clang__  // LLVM 14's OpenMP runtime reads an uninitialized number of threads after "none"
  unsetenv("OMP_NUM_THREADS");
#else
  setenv("OMP_NUM_THREADS", "none", 1);
#endif
  heed_ok(folder.path, {"train", "c.toml", "--run", "cores"});
  unsetenv("OMP_NUM_THREADS");
  const auto threads = [&](const char* run) {
    return sessions_of(RunFolder::open(folder / run)).elements()[0].at("threads").integer();
  };
  CHECK(threads("three") == 3);
  CHECK(threads("two") == 2);
  CHECK(threads("cores") == physical_cores());
  const auto weights = [&](const std::string& run) {
    return sha256_of_file(folder / (run + "/checkpoints/latest/model.safetensors"));
  };
  CHECK(weights("three") == weights("two"));
  CHECK(weights("three") == weights("cores"));
}

TEST_CASE("OMP_PROC_BIND does not change the number of threads") {
#ifdef __clang__
  MESSAGE("skipped: LLVM's OpenMP runtime binds the first thread again after main()");
  return;
#endif
#ifdef __SANITIZE_THREAD__
  MESSAGE("skipped: this build uses std::thread, and does not ask OpenMP for its processors");
  return;
#endif
  const ProgramOutput unbound = heed_in("/", {"--version"});  // prints the number of cores
  if (std::getenv("OMP_PROC_BIND")) {
    MESSAGE("skipped: OMP_PROC_BIND is set");
    return;
  }
  setenv("OMP_PROC_BIND", "true", 1);
  const ProgramOutput bound = heed_in("/", {"--version"});
  unsetenv("OMP_PROC_BIND");
  CHECK(bound.code == 0);
  CHECK(bound.out == unbound.out);
}

TEST_CASE("invalid configs and data give one error line with the cause, exit code 2 and no run") {
  const TemporaryFolder folder;
  const auto rejects = [&](const std::string& data, const std::vector<std::string>& parts,
                           const std::string& kind = "language_model") {
    write_file(folder / "c.toml", "[model]\nkind = '" + kind + "'\ndim = 16\nheads = 2\n" + data);
    check_rejected(heed_in(folder.path, {"train", "c.toml", "--run", "r"}), 2, parts);
    CHECK(names_in_folder(folder / "r").empty());
  };
  write_file(folder / "empty.txt", "");
  write_file(folder / "binary.txt", std::string("a\0b", 3));
  write_file(folder / "latin.txt", "caf\xE9\n");
  write_file(folder / "short.txt", "too short");
  write_file(folder / "columns.tsv", "a\tb\na\tb\tc\n");
  rejects("layrs = 3\n", {"c.toml:5:1: unknown key 'model.layrs'", "did you mean 'model.layers'?"});
  rejects("layers = 'a'\n", {"c.toml:5:10: model.layers: expected an integer"});
  rejects("dropout = 2.0\n",
          {"c.toml:5:11: model.dropout: expected a number, 0 … 0.99, found 2.0"});
  rejects("[data]\nkind = 'images'\npath = 'x'\n", {"c.toml:", "model.kind = \"language_model\""});
  rejects("[data]\nkind = 'text'\npath = 'none.txt'\n", {"none.txt"});
  rejects("[data]\nkind = 'text'\npath = 'empty.txt'\n", {"empty.txt"});
  rejects("[data]\nkind = 'text'\npath = 'binary.txt'\n", {"binary.txt"});
  rejects("[data]\nkind = 'text'\npath = 'latin.txt'\n", {"latin.txt"});
  rejects("[data]\nkind = 'text'\npath = 'short.txt'\n", {"short.txt"});
  rejects("[data]\nkind = 'text'\npath = '.'\n", {folder.path});
  rejects("[data]\nkind = 'pairs'\npath = 'columns.tsv'\n", {"columns.tsv", "line 2"}, "seq2seq");
  rejects("[train]\npatience = 2\n[data]\nval_fraction = 0.0\nkind = 'lines'\npath = 'short.txt'\n",
          {"short.txt"});
  write_file(folder / "file", "");
  write_file(folder / "c.toml", tiny_config());
  check_rejected(heed_in(folder.path, {"train", "c.toml", "--run", "file"}), 2,
                 {"file: expected a folder, found a file"});
  check_rejected(heed_in(folder.path, {"train", "c.toml", "--run", "file/r"}), 1,
                 {"file/r: cannot create the folder"});
}

TEST_CASE("invalid checkpoints give one error line with the file and a remedy") {
  const TemporaryFolder folder;
  REQUIRE(std::system(("cp -a " + (trained_runs() / "words") + " " + folder.path).c_str()) == 0);
  const std::string model = folder / "words/checkpoints/best/model.safetensors";
  const std::string original = read_file(model, "model");
  const auto rejects = [&](const std::vector<std::string>& parts) {
    check_rejected(heed_in(folder.path, {"generate", "words"}), 2, parts);
  };
  std::string flipped = original;
  flipped[flipped.size() / 2] ^= 4;
  write_file(model, flipped);
  rejects({"model.safetensors: damaged: its SHA-256", "train again"});
  write_file(model, original.substr(0, original.size() / 2));
  rejects({"model.safetensors: damaged"});
  remove_all(model);
  rejects({"model.safetensors: missing"});
  write_file(model, original);
  const std::string config = read_file(folder / "words/config.toml", "config");
  std::string other = config;
  other.replace(other.find("dim = 16"), 8, "dim = 32");
  write_file(folder / "words/config.toml", other);
  rejects({"model.dim is 32 in the config", "were trained with 16"});
  change_state(folder / "words/checkpoints/best",
               [](Json& state) { state.set("settings", Json::object()); });
  rejects({"of another model", "[", "config"});
  write_file(folder / "words/config.toml", config);
  write_file(folder / "words/vocabulary.json", "{\"level\": \"character\"}");
  rejects({"vocabulary.json: 'symbols' is missing"});
}
