// Recall: which value came with this key? Associative recall, the task of induction heads (Ba et
// al. 2016, "Using fast weights to attend to the recent past", section 4.1; Olsson et al. 2022,
// "In-context learning and induction heads").
//
// The prompt is n pairs of a key and its value, n within data.lengths, then one of the keys again.
// The target is its value. There are data.symbols keys and as many values, keys numbered first. All
// keys in a prompt are different, values may repeat. With 4 symbols:
//
//   prompt                          target
//   k2 v0 k0 v3 k1 v3 k0            v3
//   k3 v1 k2 v0 k3                  v1
//
// A language model needs no special token: the target, one token, follows the last key.
//
// Held out: the prompt.
//
// It takes two layers of attention: each value attends to the key before it, then the last key
// attends to the value that saw the same key. Guessing among the values of the prompt gives a
// little over 1/n, guessing among all values 1/S.
#include <numeric>

#include "core/check.h"
#include "data/framing.h"
#include "data/tasks/task.h"

namespace heed {

static Task recall_task(const DataOptions& options, Lengths lengths) {
  const int64_t symbols = options.symbols;
  std::vector<std::string> tokens = numbered(symbols, "k");
  const std::vector<std::string> values = numbered(symbols, "v");
  tokens.insert(tokens.end(), values.begin(), values.end());
  Task task;
  task.source = task.target =
      task_codec(Level::word, std::move(tokens), ModelKind::language_model, /*one_length=*/true);
  task.longest_input = 2 * lengths.most + 1;
  task.draw = [=, layout = Layout(ModelKind::language_model, task.target->vocabulary())](
                  Random& random, Example& example, Content& prompt) {
    thread_local std::vector<int32_t> keys;  // working space
    const int64_t pairs = any_length(random, lengths), queried = any_below(random, pairs);
    keys.resize(static_cast<size_t>(symbols));
    std::iota(keys.begin(), keys.end(), 0);
    shuffle(random, keys, static_cast<size_t>(pairs));
    prompt.clear();
    for (size_t i = 0; i < static_cast<size_t>(pairs); ++i) {
      prompt.push_back(keys[i]);
      prompt.push_back(static_cast<int32_t>(symbols) + any_below(random, symbols));
    }
    const int32_t target = prompt[static_cast<size_t>(2 * queried + 1)];
    prompt.push_back(keys[static_cast<size_t>(queried)]);
    layout.lay_out(prompt, {&target, 1}, example);
  };
  return task;
}

static void check_recall(const DataOptions& options) {
  const int64_t longest =
      options.longer_lengths.empty() ? options.lengths[1] : options.longer_lengths[1];
  check_input(longest <= options.symbols,
              "`lengths`: {} pairs need as many keys, and there are `symbols` = {}", longest,
              options.symbols);
}

const DataKind data_kinds::recall = {.name = "recall",
                                     .keys = {"lengths", "symbols"},
                                     .framings = {ModelKind::language_model},
                                     .check = check_recall,
                                     .task = recall_task};

}  // namespace heed
