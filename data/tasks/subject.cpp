// Subject: find the subject of the verb, at a random distance.
//
// In a sentence of as many words as data.lengths allows stand data.nouns nouns, each in a case of
// its own, one verb, and fillers everywhere else, all at random places. A verb governs a case: its
// subject is the noun in that case, and the label is that noun. There are data.symbols = S nouns, S
// cases and S verbs, verb v3 for case c3, and 8 fillers. A noun in a case is one word, noun n in
// case c has id c · S + n; then come the verbs, then the fillers. With 4 symbols and 3 nouns:
//
//   f1 n0c2 f7 f7 n3c0 v2 f3 n0c1 f0            label n0, the one in case c2
//   v1 n2c1 f0 f2 n2c3 f5 f5 f1 n1c0            label n2
//
// Held out is the sentence.
//
// Only its case tells the subject from the other nouns, and neither it nor the verb has a place of
// its own. Attention makes its weights from the words: the verb looks for a noun in its case. A
// convolution sees no verb that is further off than its kernels reach; a dense layer over time
// weighs places, whatever stands there. Who knows which nouns there are, but not their cases,
// reaches a little over 1 / data.nouns; chance is 1/S.
#include <numeric>

#include "data/tasks/drawn.h"

namespace heed {

namespace {

constexpr int64_t fillers = 8;

class Sentences {
 public:
  Sentences(Lengths lengths, int64_t symbols, int64_t nouns)
      : lengths_(lengths), symbols_(static_cast<int32_t>(symbols)), nouns_(nouns) {}

  void operator()(Random& random, Example& example, Content& content) {
    const auto nouns = static_cast<size_t>(nouns_);
    std::vector<int32_t>& words = example.input;
    words.resize(static_cast<size_t>(any_length(random, lengths_)));
    cases_.resize(static_cast<size_t>(symbols_));
    std::iota(cases_.begin(), cases_.end(), 0);
    shuffle(random, cases_, nouns);
    // The subject, the other nouns, the verb, fillers: then all change places.
    const int32_t verbs = symbols_ * symbols_;
    for (size_t i = 0; i < nouns; ++i)
      words[i] = cases_[i] * symbols_ + any_below(random, symbols_);
    example.target.assign(1, words[0] % symbols_);
    words[nouns] = verbs + cases_[0];
    for (size_t i = nouns + 1; i < words.size(); ++i)
      words[i] = verbs + symbols_ + any_below(random, fillers);
    shuffle(random, words);
    content = words;
  }

 private:
  Lengths lengths_;
  int32_t symbols_;
  int64_t nouns_;
  std::vector<int32_t> cases_;  // working space
};

}  // namespace

DrawnTask subject_task(const DataOptions& options, Lengths lengths) {
  const std::vector<std::string> nouns = numbered("n", options.symbols);
  std::vector<std::string> words;
  for (const std::string& in_case : numbered("c", options.symbols))
    for (const std::string& noun : nouns) words.push_back(noun + in_case);
  for (const auto& [prefix, count] : {std::pair("v", options.symbols), std::pair("f", fillers)})
    for (std::string& word : numbered(prefix, count)) words.push_back(std::move(word));
  DrawnTask task;
  task.source = task.target =
      task_codec(Level::word, std::move(words), Framing::classifier, /*one_length=*/false);
  task.labels = nouns;
  task.longest_input = lengths.most;
  task.draw = Sentences(lengths, options.symbols, options.nouns);
  return task;
}

}  // namespace heed
