// The museum: mistakes that compile. Each folder of course/museum is an exhibit:
//
//   exhibit.md       its text: what is wrong, what you see, how you find it
//   change.patch     the mistake as a diff of .cpp files, for git apply; some have none
//   experiment.toml  what is trained and shown, without the mistake and with it
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/fields.h"
#include "course/tutor/catalogue.h"

namespace heed {

// What an exhibit must show: a number, or a text.
struct Expectation {
  // The number: the last one of metrics.jsonl or that of result.json, by its path ("val.loss",
  // "test.exact_match"), or the first after a text in what is printed.
  std::string value, after;
  // A text that is printed only without the mistake, or only with it.
  std::string right_text, wrong_text;
  // The number's range without the mistake, and with it.
  double right_min = -std::numeric_limits<double>::infinity();
  double right_max = std::numeric_limits<double>::infinity();
  double wrong_min = right_min, wrong_max = right_max;
  bool is_number() const { return right_text.empty() && wrong_text.empty(); }
  void fields(Fields& f);
};

// experiment.toml, for example:
//
//   train = "configs/sort.toml"
//   set = ["train.steps=300"]
//   [[expect]]
//   value = "val.loss"
//   right_max = 0.1
//   wrong_min = 0.5
struct MuseumExperiment {
  std::string train;                   // config, relative to the sources; empty: nothing is trained
  std::vector<std::string> set;        // its --set
  std::vector<std::string> set_wrong;  // more of them, with the mistake
  std::vector<std::string> curves{"loss"};  // numbers of metrics.jsonl that are shown by step
  // Lines for a shell, run in a folder that has heed, configs, docs and, if something was trained,
  // run. What they print is shown.
  std::vector<std::string> show;
  std::vector<Expectation> expect;
  void fields(Fields& f);
};

struct Exhibit : CourseItem {
  std::string text() const;   // exhibit.md without its heading
  std::string patch() const;  // "" if there is none
  // The files that the patch changes: "nn/attention.cpp".
  std::vector<std::string> changed_files() const;
  // Throws InputError, with the line, if the file is not valid.
  MuseumExperiment experiment() const;
};

std::vector<Exhibit> museum_exhibits(const Workshop& workshop);

}  // namespace heed
