// Tasks that draw whole examples from a random stream.
//
// A task draws one example at a time, without noise, and its *content*: a few integers that say
// what the example shows, whatever the noise and the order of its parts. The hash of the content
// selects the split, so that training never shows a held-out content under other noise or in
// another order. Each task is a file of its own, whose head gives the encoding, what it takes to
// solve it, and the accuracy of guessing. Tasks from sequences to sequences have a simpler form:
// data/tasks/sequence_task.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "data/corpus.h"
#include "data/features.h"
#include "data/tasks/sequence_task.h"

namespace heed {

using Content = std::vector<int32_t>;

struct Task {
  ExampleFormat format;
  std::vector<int64_t> grid;                        // as in Corpus
  std::shared_ptr<const TextCodec> source, target;  // as in Corpus; may be null
  std::vector<std::string> labels;                  // classifier: names of the classes, by id
  int64_t longest_source = 0, longest_input = 0;    // maximum number of positions of an example
  int64_t max_edges = 0;                            // maximum number of edges
  double noise = 0;  // standard deviation of the noise added to every feature

  // Overwrites the parts of an example that this task uses, and its content. The result depends
  // only on the random stream.
  std::function<void(Random&, Example&, Content&)> draw;
};

// The maximum of data.symbols where every symbol adds features or several words.
inline constexpr int64_t max_symbols = 1000;

// Generates the data of a task. Fills everything but `framing`, `seed` and the fingerprint.
Corpus load_task(const DataOptions& options, ModelKind framing, uint64_t seed);

// The codec of task_vocabulary() (data/framing.h).
std::shared_ptr<const TextCodec> task_codec(Level level, std::vector<std::string> tokens,
                                            ModelKind framing, bool one_length);

// Throws InputError, with the reason, if data.lengths starts below `least`.
void check_shortest(const DataOptions& options, int64_t least, const char* reason);

// The kind of a task whose source is numbers below data.symbols, as many as data.lengths allows.
template <SequenceTask (*task)(int64_t symbols, Lengths lengths)>
DataKind number_kind(const char* name) {
  return {.name = name,
          .keys = {"lengths", "symbols"},
          .framings = {ModelKind::language_model, ModelKind::seq2seq},
          .sequence_task = [](const DataOptions& options, Lengths lengths) {
            return task(options.symbols, lengths);
          }};
}

// Moves `count` random values to the front, in random order (Fisher and Yates). Without a count,
// shuffles all values.
template <class Value>
void shuffle(Random& random, std::vector<Value>& values, size_t count) {
  for (size_t i = 0; i < count; ++i)
    std::swap(values[i], values[i + random.below(values.size() - i)]);
}
template <class Value>
void shuffle(Random& random, std::vector<Value>& values) {
  shuffle(random, values, values.size());
}

}  // namespace heed
