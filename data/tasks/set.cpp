// Set: how many different tokens does it hold? Their order means nothing.
//
// A set is a bag of numbers below data.symbols, as many as data.lengths allows, some of them more
// than once, in random order. A number is one token and its own id. The label is the number of
// different tokens, 1 … C, where C = min(shortest length, data.symbols). All labels are equally
// likely at every length. With 10 symbols and lengths of 6 and more:
//
//   7 7 0 7 0 7             label 2
//   4 1 9 1 1 5 4           label 4
//
// Held out: the bag, in any order.
//
// The label is invariant under permutations, as is attention with a learned query: a query that
// looks for one token tells whether it is there, and how often does not matter. Guessing gives 1/C.
#include <algorithm>
#include <numeric>

#include "data/tasks/task.h"

namespace heed {

static Task set_task(const DataOptions& options, Lengths lengths) {
  const int64_t symbols = options.symbols, classes = std::min(options.lengths[0], symbols);
  Task task;
  task.source = task.target =
      task_codec(Level::word, numbered(symbols), ModelKind::classifier, /*one_length=*/false);
  for (int64_t count = 1; count <= classes; ++count) task.labels.push_back(std::to_string(count));
  task.longest_input = lengths.most;
  task.draw = [=](Random& random, Example& example, Content& content) {
    const auto length = static_cast<size_t>(any_length(random, lengths));
    const int32_t label = any_below(random, classes);
    const auto different = static_cast<size_t>(label) + 1;
    content.resize(static_cast<size_t>(symbols));
    std::iota(content.begin(), content.end(), 0);
    shuffle(random, content, different);
    content.resize(different);
    while (content.size() < length)
      content.push_back(content[random.below(static_cast<uint64_t>(different))]);
    example.input.assign(content.begin(), content.end());
    shuffle(random, example.input);
    example.target.assign(1, label);
    std::sort(content.begin(), content.end());
  };
  return task;
}

const DataKind data_kinds::set = {
    .name = "set",
    .keys = {"lengths", "symbols"},
    .framings = {ModelKind::classifier},
    .check =
        [](const DataOptions& options) {
          check_shortest(options, 2, "all smaller sets have the same number of different tokens");
        },
    .task = set_task};

}  // namespace heed
