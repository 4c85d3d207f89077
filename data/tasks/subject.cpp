// Subject: find the subject of the verb, at a random distance.
//
// In a sentence of as many words as data.lengths allows stand data.nouns nouns, each behind a
// marker of its own, one verb, and fillers everywhere else; phrases and fillers are in random
// order. The verb agrees with one of the markers: verb v3 with marker m3. Its subject is the noun
// behind that marker, and the label is that noun. There are data.symbols markers, verbs and nouns
// each, and 8 fillers, numbered in the order of markers, verbs, nouns and fillers. With 4 symbols
// and 3 nouns, 12 words:
//
//   f1 m2 n0 f7 f7 m0 n3 v2 f3 m1 n0 f0         label n0: behind m2, which v2 agrees with
//   v1 m1 n2 f0 f2 m3 n2 f5 f5 f1 m0 n1         label n2
//
// Held out is the sentence.
//
// Nothing but the marker tells the subject from the other nouns, and neither it nor the verb has a
// place of its own. Attention solves it with weights made from the words: a noun looks at the
// marker before it, then the verb at the noun with its marker. A convolution sees as far as its
// kernels reach and no verb that is further off; a dense layer over time weighs places, not what
// stands there. Who guesses among the nouns of the sentence reaches a little over 1 / data.nouns,
// who guesses among all 1/S.
#include <algorithm>

#include "data/tasks/drawn.h"

namespace heed {

namespace {

constexpr int64_t fillers = 8;

class Sentences {
 public:
  Sentences(Lengths lengths, int64_t symbols, int64_t nouns)
      : lengths_(lengths), symbols_(symbols), nouns_(nouns) {}

  void operator()(Random& random, Example& example, Content& content) {
    const int64_t length = any_length(random, lengths_);
    // Phrase 0 … nouns - 1 is a marker and its noun, phrase `nouns` the verb, the rest fillers.
    order_.resize(static_cast<size_t>(length - nouns_));
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<int32_t>(i);
    shuffle(random, order_);
    markers_.resize(static_cast<size_t>(symbols_));
    for (size_t i = 0; i < markers_.size(); ++i) markers_[i] = static_cast<int32_t>(i);
    shuffle(random, markers_, static_cast<size_t>(nouns_));
    const int32_t subject = any_below(random, nouns_);
    const auto symbols = static_cast<int32_t>(symbols_);
    example.input.clear();
    for (const int32_t phrase : order_) {
      if (phrase < nouns_) {
        const int32_t noun = any_below(random, symbols_);
        if (phrase == subject) example.target.assign(1, noun);
        example.input.push_back(markers_[static_cast<size_t>(phrase)]);
        example.input.push_back(2 * symbols + noun);
      } else if (phrase == nouns_) {
        example.input.push_back(symbols + markers_[static_cast<size_t>(subject)]);
      } else {
        example.input.push_back(3 * symbols + any_below(random, fillers));
      }
    }
    content = example.input;
  }

 private:
  Lengths lengths_;
  int64_t symbols_, nouns_;
  std::vector<int32_t> order_, markers_;  // working space
};

}  // namespace

DrawnTask subject_task(const DataOptions& options, Lengths lengths) {
  const int64_t symbols = options.symbols;
  std::vector<std::string> words = numbered("m", symbols);
  for (const std::vector<std::string>& more :
       {numbered("v", symbols), numbered("n", symbols), numbered("f", fillers)})
    words.insert(words.end(), more.begin(), more.end());
  DrawnTask task;
  task.source = task.target =
      task_codec(Level::word, std::move(words), Framing::classifier, /*one_length=*/false);
  task.labels = numbered("n", symbols);
  task.longest_input = lengths.most;
  task.draw = Sentences(lengths, symbols, options.nouns);
  return task;
}

}  // namespace heed
