// Set: how many different symbols are in it? Their order means nothing.
//
// A set is a bag of numbers below data.symbols, as many as data.lengths allows, some of them more
// than once, in random order. A number is one symbol and its own id. The label is how many
// different ones there are, 1 … C, where C = min(shortest length, data.symbols): each is as likely
// at every length. With 10 symbols and lengths of 6 and more:
//
//   7 7 0 7 0 7             label 2
//   4 1 9 1 1 5 4           label 4
//
// Held out is the bag, in whatever order.
//
// The answer is invariant under permutations, as is attention whose query is learned: a query that
// looks for a symbol tells whether it is there, and how often does not matter. Chance is 1/C.
#include <algorithm>
#include <numeric>

#include "data/tasks/drawn.h"

namespace heed {

DrawnTask set_task(const DataOptions& options, Lengths lengths) {
  const int64_t symbols = options.symbols, classes = std::min(options.lengths[0], symbols);
  DrawnTask task;
  task.source = task.target =
      task_codec(Level::word, numbers(symbols), Framing::classifier, /*one_length=*/false);
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

}  // namespace heed
