// What a report shows of one run with its model and data: samples, errors, attention, time.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "apps/inference/positions.h"
#include "apps/support/json.h"
#include "apps/training/saved_run.h"
#include "core/check.h"
#include "lab/measure/profile.h"

namespace heed {

// A part that failed is empty, with a sentence in the notes.
struct Details {
  std::vector<std::string> notes;
  int64_t step = 0;               // of the checkpoint
  std::string split;              // of attention, and the first of the samples
  std::vector<std::string> data;  // what was read
  double guess = 0;               // loss of guessing among all targets; 0: unknown
  int64_t choices = 0;            // the number of targets to guess among
  std::string model;              // its layers, parameters and costs, as `heed summary` prints them
  // [{"split", "wrong": or null if there is nothing to compare with, "examples", "first_error":
  // mean index of the first wrong token, from 1 on, 0 if none is, "shown": 8, "rows": [[input,
  // output, expected], …]}, …]. A page shows the first rows, wrong ones before right ones. It saves
  // all as CSV: those after the first ones are in the same order.
  Json samples = Json::array();
  // Of `split`, or null: the most frequent errors, [[expected, predicted, count], …], and, unless
  // there are too many labels, {"labels", "counts": the same of all, with indices of labels}.
  Json errors, confusion;
  // {"longest": of `split`, "rows": [{"length", "right", "of", "low", "high"}, …]}, or null
  Json lengths;
  // The loss by the position of the input, a chart (lab/report/charts.h) with a line for each
  // split; or null if there is one position only.
  Json positions;
  Json attention;  // lab/report/attention_atlas.h; or null
  std::optional<Profile> profile;
};

// What is shown of a split.
struct DetailsRequest {
  std::string split = "";  // of samples, errors and attention; "": test, or val if there is no test
  std::optional<PositionRange> positions = {};  // of the targets that count
  bool profile = true;
};
// Throws InputError if the data lack the split.
Details details_of(const SavedRun& run, const DetailsRequest& request);

// Calls f. If it fails, adds "what: the error" to the notes of a report.
template <class F>
void note_failure(std::vector<std::string>& notes, const char* what, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    notes.push_back(fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace heed
