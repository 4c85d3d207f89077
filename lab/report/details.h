// What a report shows of one run with its model and data: samples, errors, attention, time.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/inference/predictions.h"
#include "apps/support/json.h"
#include "apps/training/saved_run.h"
#include "core/check.h"
#include "lab/measure/profile.h"

namespace heed {

// How often each class or token was predicted where one was expected.
struct Confusion {
  struct Count {
    size_t expected, predicted;  // of the labels
    int64_t count;
  };
  std::vector<std::string> labels;
  std::vector<Count> counts;  // errors first, the most frequent of them at the head
};

// What the model writes for some examples of a split. A page shows the first ones, wrong ones
// before right ones. It saves all as CSV: those after the first ones are in the same order.
struct SampledSplit {
  std::string split;
  std::vector<Prediction> samples;
  int64_t wrong = -1, examples = 0;  // of the whole split; -1: nothing to compare with
  double first_error = 0;  // mean index of the first wrong token, from 1 on; 0: none is wrong

  static constexpr size_t most_shown = 8;
  std::span<const Prediction> shown() const {
    return std::span(samples).first(std::min(samples.size(), most_shown));
  }
};

// A part that failed is empty, with a sentence in the notes.
struct Details {
  std::vector<std::string> notes;
  int64_t step = 0;               // of the checkpoint
  std::string split;              // of attention, and the first of the samples
  std::vector<std::string> data;  // what was read
  double guess = 0;               // loss of guessing among all targets; 0: unknown
  int64_t choices = 0;            // the number of targets to guess among
  std::string model;              // its layers, parameters and costs, as `heed summary` prints them
  std::vector<SampledSplit> samples;
  std::optional<Confusion> confusion;  // of `split`
  // {"longest": of `split`, "rows": [{"length", "right", "of", "low", "high"}, …]}, or null
  Json lengths;
  Json attention;  // lab/report/attention_atlas.h; or null
  std::optional<Profile> profile;
};

// `split`: of samples, errors and attention; "" for test, or val if there is no test. Throws
// InputError if the data lack it.
Details details_of(const SavedRun& run, const std::string& split, bool profile);

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
