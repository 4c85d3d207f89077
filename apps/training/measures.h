// train.measures: writes numbers about the inside of a model into metrics.jsonl while it trains.
//
// The framework defines no measure itself. Rooms add them with their commands
// (apps/commands/room.h), and train.measures names those to compute. Measures read the first 128
// examples of the validation split (without one: of the training split), with the weights that a
// checkpoint of the step would have. Each row also has the loss and the accuracy on the first
// train.measure_examples of the training split:
//
//   {"step": 500, "train": {"loss": …, "token_accuracy": …}, "heads": {…}, "seconds": …}
//
// Training gives the same bits with and without measures.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/training/listeners.h"

namespace heed {

inline constexpr int64_t measured_examples = 128;

using NumbersByPath = std::vector<std::pair<std::string, double>>;

struct Measure {
  const char* name;  // in train.measures, and of the member of a row
  // The kinds of its numbers that no split has, by the last word of their paths: "induction" of
  // "heads.1.0.induction".
  std::span<const Score> kinds;
  // Returns numbers about a model on these examples by their paths, such as "1.0.induction", which
  // become objects of objects. Leaves out what the model cannot have. Throws InputError for a model
  // that the measure is not for.
  NumbersByPath (*numbers)(const Model& model, const Experiment& experiment, const Corpus& corpus,
                           const Dataset& examples);
};
class TrainingLoop;
using Measures = std::span<const Measure* const>;

// Returns the measures that the experiment asks for. Throws InputError for a name that is not among
// `known`, and for a measure that is not for this model, which it computes on one example.
std::vector<const Measure*> chosen_measures(const Model& model, const Experiment& experiment,
                                            const Corpus& corpus, Measures known);
// Adds the listener that writes the rows, if the experiment asks for measures. Throws as
// chosen_measures().
void add_measures(TrainingLoop& loop, Measures known);

// Returns a warning if a measure took more than a tenth of the time, else "". Both in seconds.
std::string warning_of_cost(const std::string& measure, double taken, double elapsed,
                            int64_t every);

}  // namespace heed
