// Tasks whose examples are drawn whole: pictures, graphs, streams of sound, sets.
//
// A Task (data/tasks/task.h) is a row of independent symbols and the answer to it. What has more
// structure than that is drawn by a function that writes the example, still without noise, and its
// *content*: a few numbers that say what is shown, noise and order aside. The hash of the content
// decides which split it is for, so what is held out was never shown in training under other noise
// or in another order. Every such task has a file of its own whose head gives the encoding, what it
// takes to solve it, and what chance would reach.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "data/dataset.h"
#include "data/tasks/task.h"
#include "data/text_codec.h"

namespace heed {

using Content = std::vector<int32_t>;

struct DrawnTask {
  ExampleFormat format;
  std::vector<int64_t> grid;                        // as in Corpus
  std::shared_ptr<const TextCodec> source, target;  // those there are, as in Corpus
  std::vector<std::string> labels;                  // classifier: the classes, by id
  int64_t longest_source = 0, longest_input = 0;    // the most places an example can have
  double noise = 0;                                 // deviation of what is added to every feature
  // Overwrites what an example of this task holds, and the content. A function of the stream alone,
  // though it may keep working space.
  std::function<void(Random&, Example&, Content&)> draw;
};

DrawnTask shapes_task(const DataOptions& options);
DrawnTask video_task(const DataOptions& options);
DrawnTask graph_task(const DataOptions& options, Lengths lengths);
DrawnTask streams_task(const DataOptions& options, Lengths lengths);
DrawnTask set_task(const DataOptions& options, Lengths lengths);
DrawnTask subject_task(const DataOptions& options, Lengths lengths);
DrawnTask recall_task(const DataOptions& options, Lengths lengths);

// The task that options.kind names, with sizes within `lengths` where the task has a choice.
DrawnTask make_drawn_task(const DataOptions& options, Lengths lengths);

// "a0", "a1", … for the prefix "a".
std::vector<std::string> numbered(const char* prefix, int64_t count);

// In [0, count).
inline int32_t any_below(Random& random, int64_t count) {
  return static_cast<int32_t>(random.below(static_cast<uint64_t>(count)));
}

// Every length equally likely.
inline int64_t any_length(Random& random, Lengths lengths) {
  return lengths.least + any_below(random, lengths.most - lengths.least + 1);
}

// Puts `count` random ones of the values first, in random order (Fisher and Yates): all of them,
// unless told.
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
