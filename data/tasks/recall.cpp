// Recall: which value came with this key? Associative recall, what induction heads are for (Ba et
// al. 2016, "Using fast weights to attend to the recent past", section 4.1; Olsson et al. 2022,
// "In-context learning and induction heads").
//
// The question is n pairs of a key and its value, n as data.lengths allows, then one of the keys
// once more; the answer is its value. There are data.symbols keys and as many values, keys numbered
// first; no key comes twice, values may. With 4 symbols:
//
//   question                        answer
//   k2 v0 k0 v3 k1 v3 k0            v3
//   k3 v1 k2 v0 k3                  v1
//
// A language model needs no special symbol, as the last key is where the answer, one symbol, comes:
// it reads the question and learns the answer there.
//
// Held out is the question.
//
// It takes two layers of attention: a value looks at the key before it, then the key at the end for
// the value that saw the same key. Who guesses among the values of the question reaches a little
// over 1/n, who guesses among all 1/S.
#include <numeric>

#include "data/framing.h"
#include "data/tasks/drawn.h"

namespace heed {

namespace {

class Recalls {
 public:
  Recalls(Lengths pairs, int64_t symbols, Layout layout)
      : pairs_(pairs), symbols_(symbols), layout_(layout) {}

  void operator()(Random& random, Example& example, Content& question) {
    const int64_t pairs = any_length(random, pairs_), asked = any_below(random, pairs);
    keys_.resize(static_cast<size_t>(symbols_));
    std::iota(keys_.begin(), keys_.end(), 0);
    shuffle(random, keys_, static_cast<size_t>(pairs));
    question.clear();
    for (size_t i = 0; i < static_cast<size_t>(pairs); ++i) {
      question.push_back(keys_[i]);
      question.push_back(static_cast<int32_t>(symbols_) + any_below(random, symbols_));
    }
    const int32_t answer = question[static_cast<size_t>(2 * asked + 1)];
    question.push_back(keys_[static_cast<size_t>(asked)]);
    layout_.lay_out(question, {&answer, 1}, example);
  }

 private:
  Lengths pairs_;
  int64_t symbols_;
  Layout layout_;
  std::vector<int32_t> keys_;  // working space
};

}  // namespace

DrawnTask recall_task(const DataOptions& options, Lengths lengths) {
  std::vector<std::string> symbols = numbered("k", options.symbols);
  const std::vector<std::string> values = numbered("v", options.symbols);
  symbols.insert(symbols.end(), values.begin(), values.end());
  DrawnTask task;
  task.source = task.target =
      task_codec(Level::word, std::move(symbols), Framing::language_model, /*one_length=*/true);
  task.longest_input = 2 * lengths.most + 1;
  task.draw =
      Recalls(lengths, options.symbols, Layout(Framing::language_model, task.target->vocabulary()));
  return task;
}

}  // namespace heed
