// Runs an exhibit of the museum: the program is built with the mistake, both programs train and
// print, and what they show is compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "course/tutor/museum.h"
#include "course/tutor/workshop.h"
#include "lab/experiments/curves.h"

namespace heed {

// What one program does.
struct MuseumSide {
  std::string folder;              // that it ran in; its run is in run/
  std::string messages;            // of the training; its last line is the error, if it failed
  bool failed = false;             // the training
  Curves curves;                   // of metrics.jsonl
  Json result;                     // result.json; null if there is none
  std::vector<std::string> shown;  // what each line of the experiment's `show` prints

  // The number of an expectation; none if there is no such number.
  std::optional<double> number(const Expectation& expectation) const;
  // Returns whether a text is printed.
  bool prints(const std::string& text) const;
};

struct MuseumResult {
  MuseumExperiment experiment;
  MuseumSide right;
  std::optional<MuseumSide> wrong;  // none if the exhibit has no mistake to run
  double seconds = 0;

  // What is not as the exhibit says, one line each.
  std::vector<std::string> surprises() const;
  // Tables for a terminal: curves and numbers side by side, then what the lines print.
  std::string text() const;
  void add_to(Json& object) const;
};

// Leaves the programs' runs in BUILD/course/museum/NAME, in right and in wrong, with the changed
// program as wrong/heed. Throws Error if the change cannot be built or the training without it
// fails.
MuseumResult run_exhibit(const Workshop& workshop, const Exhibit& exhibit);

}  // namespace heed
