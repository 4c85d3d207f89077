// The museum of mistakes: the files of its exhibits, and what is compared in a run.
#include "course/tutor/museum.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "apps/config/load_config.h"
#include "apps/support/files.h"
#include "core/check.h"
#include "course/tutor/changed_program.h"
#include "course/tutor/museum_run.h"
#include "course/tutor/workshop.h"
#include "tests/apps/temporary.h"

namespace heed {
namespace {

constexpr int64_t max_changed_lines = 12;

int64_t changed_lines(const std::string& patch) {
  int64_t count = 0;
  for (size_t at = 0; at < patch.size(); at = patch.find('\n', at) + 1) {
    const std::string_view line = std::string_view(patch).substr(at, 4);
    if ((line[0] == '+' || line[0] == '-') && line != "+++ " && line != "--- ") ++count;
  }
  return count;
}

TEST_CASE("museum: every exhibit is a small change of .cpp files, with a text and an experiment") {
  const Workshop workshop = Workshop::find();
  const auto exhibits = museum_exhibits(workshop);
  CHECK(!exhibits.empty());
  const std::string chapter =
      read_file(in_folder(workshop.chapters(), "16_museum.md"), "chapter", 1 << 20);
  for (const Exhibit& exhibit : exhibits) {
    CAPTURE(exhibit.name);
    CHECK(chapter.find("`./heed course museum " + exhibit.name + "`") != std::string::npos);
    CHECK(!exhibit.title.empty());
    const std::string text = exhibit.text();
    for (const char* words : {"**What you see", "**How you find it", "**In heed"})
      CHECK_MESSAGE(text.find(words) != std::string::npos, words);

    const std::string patch = exhibit.patch();
    CHECK(changed_lines(patch) <= max_changed_lines);
    for (const std::string& file : exhibit.changed_files()) {
      CHECK(file.ends_with(".cpp"));
      CHECK(exists(in_folder(workshop.sources, file)));
    }
    CHECK(exhibit.changed_files().empty() == patch.empty());

    const MuseumExperiment experiment = exhibit.experiment();
    CHECK(!experiment.expect.empty());
    CHECK((!experiment.train.empty() || !experiment.show.empty()));
    if (experiment.train.empty()) continue;
    std::vector<std::string> assignments = experiment.set;
    load_config(in_folder(workshop.sources, experiment.train), assignments);
    assignments.insert(assignments.end(), experiment.set_wrong.begin(), experiment.set_wrong.end());
    load_config(in_folder(workshop.sources, experiment.train), assignments);
  }
}

// An exhibit with this experiment.
struct WrittenExhibit {
  TemporaryFolder folder;
  Exhibit exhibit;
  explicit WrittenExhibit(const std::string& experiment) {
    exhibit.folder = folder.path;
    write_file(in_folder(exhibit.folder, "experiment.toml"), experiment);
  }
};

TEST_CASE("museum: the files of an exhibit") {
  WrittenExhibit written(
      "train = \"configs/sort.toml\"\nset = [\"a=1\", \"b=2\"]\n"
      "[[expect]]\nvalue = \"val.loss\"\nright_max = 0.5\n[[expect]]\nwrong_text = \"nan\"\n");
  const MuseumExperiment experiment = written.exhibit.experiment();
  CHECK(experiment.train == "configs/sort.toml");
  CHECK(experiment.set == std::vector<std::string>{"a=1", "b=2"});
  CHECK(experiment.curves == std::vector<std::string>{"loss"});
  CHECK(experiment.expect.size() == 2);
  CHECK(experiment.expect[0].is_number());
  CHECK(experiment.expect[0].right_max == 0.5);
  CHECK(std::isinf(experiment.expect[0].wrong_min));
  CHECK(!experiment.expect[1].is_number());

  CHECK(written.exhibit.patch().empty());
  write_file(in_folder(written.exhibit.folder, "change.patch"),
             "--- a/x/a.cpp\n+++ b/x/a.cpp\n@@ -1 +1 @@\n-a\n+b\n--- a/b.cpp\n+++ b/b.cpp\n");
  CHECK(written.exhibit.changed_files() == std::vector<std::string>{"x/a.cpp", "b.cpp"});
  write_file(in_folder(written.exhibit.folder, "exhibit.md"), "# Title\n\nText\n");
  CHECK(written.exhibit.text() == "Text\n");
}

TEST_CASE("museum: a wrong experiment.toml is an error with its line") {
  const auto error_of = [](const std::string& text) {
    const WrittenExhibit written(text);
    return thrown<InputError>([&] { written.exhibit.experiment(); })
        .substr(written.exhibit.folder.size() + 1);
  };
  CHECK(error_of("trian = \"x\"\n").starts_with("experiment.toml:1:1: "));
  CHECK(error_of("[[expect]]\nvalue = \"x\"\nafter = \"y\"\n")
            .starts_with("experiment.toml:2: an [[expect]] needs one of"));
  CHECK(error_of("[[expect]]\nvalue = \"x\"\nright_max = \"y\"\n").find("right_max: expected") !=
        std::string::npos);
}

TEST_CASE("museum: a run says what is not as expected") {
  MuseumResult run;
  run.right.result = Json::parse(R"({"test": {"loss": 0.25}})", "result");
  run.right.curves.curves.push_back({"gradient_norm", {1, 2}, {3, 4}});
  run.right.shown = {"sum  7.5 of 9\n", "equal: nan\n"};
  run.wrong = run.right;
  run.wrong->messages = "error: the loss is not finite";

  const auto expected = [](const char* value, double right_max, double wrong_min) {
    Expectation e;
    e.value = value;
    e.right_max = right_max;
    e.wrong_min = wrong_min;
    return e;
  };
  Expectation sum;
  sum.after = "sum";
  CHECK(run.right.number(expected("test.loss", 1, 0)) == 0.25);
  CHECK(run.right.number(expected("gradient_norm", 1, 0)) == 4);
  CHECK(!run.right.number(expected("test", 1, 0)));
  CHECK(run.right.number(sum) == 7.5);
  sum.after = "equal:";
  CHECK(std::isnan(run.right.number(sum).value_or(0)));

  run.experiment.expect = {expected("test.loss", 0.3, 0.2)};
  CHECK(run.surprises().empty());
  run.experiment.expect = {expected("test.loss", 0.2, 0.3)};
  CHECK(run.surprises().size() == 2);
  CHECK(run.surprises()[0].starts_with("as it is, test.loss: expected -inf to 0.2, got 0.25"));
  run.experiment.expect = {expected("test.bleu", 0.2, 0.3)};
  CHECK(run.surprises().size() == 2);

  Json json = Json::object();
  run.add_to(json);
  CHECK(json.at("numbers").elements()[0].at("name").string() == "test.bleu");
  CHECK(json.at("numbers").elements()[0].at("right").is_null());
  CHECK(json.at("surprises").elements().size() == 2);

  Expectation text;
  text.wrong_text = "not finite";
  run.experiment.expect = {text};
  CHECK(run.surprises().empty());
  text.wrong_text = "of 9";
  run.experiment.expect = {text};
  CHECK(run.surprises().size() == 1);
}

TEST_CASE("museum: curves and outputs stand side by side") {
  MuseumResult run;
  run.experiment.show = {"heed this"};
  run.right.shown = {"one\nthree\n"};
  run.right.curves.curves.push_back({"loss", {10, 20}, {4, 1}});
  run.wrong = run.right;
  run.wrong->curves.curves[0] = {"loss", {10}, {2}};  // not finite at step 20
  run.wrong->shown = {"two\n"};
  run.wrong->failed = true;
  run.wrong->messages = "step 10\nerror: the loss is nan";
  const std::string text = run.text();
  for (const char* words :
       {"     10          4  ████████████████████████         2  ████████████\n", "not finite",
        "Training with the mistake fails: error: the loss is nan", "$ heed this",
        "one       two\nthree"})
    CHECK_CONTAINS(text, words);
}

TEST_CASE("museum: a change that does not fit is an error that says so") {
  const Workshop workshop = Workshop::find();
  const TemporaryFolder folder;
  const auto error_of = [&](const std::string& file) {
    try {
      build_changed_program(
          workshop,
          {"--- a/" + file + "\n+++ b/" + file + "\n@@ -1 +1 @@\n-nothing\n+new\n", {file}},
          folder.path);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const bool has_git = std::system("git --version >/dev/null 2>&1") == 0;
  CHECK_CONTAINS(error_of("core/check.cpp"),
                 has_git ? "the change does not fit the sources" : "git is not installed");
  CHECK_CONTAINS(error_of("core/check.h"), "only .cpp files");
  CHECK_CONTAINS(error_of("core/nothing.cpp"), "core/nothing.cpp");
}

}  // namespace
}  // namespace heed
