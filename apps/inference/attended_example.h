// What `heed attend` shows a model: a text that was typed, or an example of its data.
#pragma once

#include <optional>
#include <string>

#include "apps/config/experiment.h"
#include "apps/inference/attention_map.h"
#include "apps/inference/vocabulary_file.h"

namespace heed {

// The input that the options of `heed attend` ask for.
struct ExampleRequest {
  std::optional<std::string> input;  // the text, a file that holds it, or "-" for standard input
  std::optional<int64_t> example;    // instead of the text: example N of the run's data, from 0
  std::string split;                 // of the example; "" for test, or val where there is no test
  std::optional<std::string> target;
};

// One example, as the model reads it.
struct AttendedExample {
  Inputs inputs;
  PositionLabels labels;
  std::string source, target;  // in words: what was read, and what it led to
};

// `corpus` is the run's data where an example is wanted, else that of `saved`. The answer of a
// model that writes is its own, found greedily, unless one is given. Throws InputError for what
// cannot be read: it names the option.
AttendedExample attended_example(const ExampleRequest& request, const Experiment& experiment,
                                 const SavedVocabulary& saved, const Corpus& corpus,
                                 const Model& model);

}  // namespace heed
