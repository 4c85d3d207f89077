// The example that `heed attend` shows a model: a text that the user gives, or an example of its
// data.
#pragma once

#include <optional>
#include <string>

#include "apps/config/experiment.h"
#include "apps/inference/attention_map.h"
#include "apps/inference/vocabulary_file.h"

namespace heed {

// The options of `heed attend` that choose the example.
struct ExampleRequest {
  std::optional<std::string> text;
  const char* option = "--text";   // that has the text, for messages
  std::optional<int64_t> example;  // instead of the text: example N of the run's data, from 0
  std::string split;               // of the example; "" for test, or val if there is no test
  std::optional<std::string> target;
};

struct AttendedExample {
  Inputs inputs;
  PositionLabels labels;
  std::string source, target;  // as text
};

// A label for each position of one example.
PositionLabels labels_of(const Inputs& inputs, const Corpus& corpus);

// Builds the requested example. `corpus` is the run's data for an example of it, otherwise that of
// `saved`. Without a requested target the model generates its own, greedily. Throws InputError,
// naming the option, for a text or example that the model cannot read.
AttendedExample attended_example(const ExampleRequest& request, const Experiment& experiment,
                                 const Corpus& corpus, const Model& model);

}  // namespace heed
