// Subject: find the subject of the verb, at a random distance.
//
// A sentence has as many words as data.lengths allows: data.nouns nouns, all in different cases,
// one verb, and fillers, in random order. A verb governs a case. Its subject is the noun in that
// case, and the label is that noun. There are data.symbols = S nouns, S cases and S verbs (verb v3
// governs case c3), and 8 fillers. A noun in a case is one word: noun n in case c has id c · S + n.
// The ids of the verbs follow, then those of the fillers. With 4 symbols and 3 nouns:
//
//   f1 n0c2 f7 f7 n3c0 v2 f3 n0c1 f0            label n0, the noun in case c2
//   v1 n2c1 f0 f2 n2c3 f5 f5 f1 n1c0            label n2
//
// Held out: the sentence.
//
// Only its case distinguishes the subject from the other nouns, and neither subject nor verb has a
// fixed position. Attention computes its weights from the words: the verb looks for a noun in its
// case. A convolution sees no verb beyond the reach of its kernels. A dense layer over time weights
// positions, whatever their words. A model that knows the nouns but not their cases reaches a
// little over 1 / data.nouns. Guessing gives 1/S.
#include <numeric>

#include "core/check.h"
#include "data/tasks/task.h"

namespace heed {

constexpr int64_t fillers = 8;

static Task subject_task(const DataOptions& options, Lengths lengths) {
  Task task;
  task.labels = numbered(options.symbols, "n");
  std::vector<std::string> all_words;
  for (const std::string& in_case : numbered(options.symbols, "c"))
    for (const std::string& noun : task.labels) all_words.push_back(noun + in_case);
  for (const auto& [prefix, count] : {std::pair("v", options.symbols), std::pair("f", fillers)})
    for (std::string& word : numbered(count, prefix)) all_words.push_back(std::move(word));
  task.source = task.target =
      task_codec(Level::word, std::move(all_words), ModelKind::classifier, /*one_length=*/false);
  task.longest_input = lengths.most;
  task.draw = [lengths, symbols = static_cast<int32_t>(options.symbols),
               nouns = static_cast<size_t>(options.nouns)](Random& random, Example& example,
                                                           Content& content) {
    thread_local std::vector<int32_t> cases;  // working space
    std::vector<int32_t>& words = example.input;
    words.resize(static_cast<size_t>(any_length(random, lengths)));
    cases.resize(static_cast<size_t>(symbols));
    std::iota(cases.begin(), cases.end(), 0);
    shuffle(random, cases, nouns);
    // The subject, the other nouns, the verb and the fillers, then all in random order.
    const int32_t verbs = symbols * symbols;
    for (size_t i = 0; i < nouns; ++i) words[i] = cases[i] * symbols + any_below(random, symbols);
    example.target.assign(1, words[0] % symbols);
    words[nouns] = verbs + cases[0];
    for (size_t i = nouns + 1; i < words.size(); ++i)
      words[i] = verbs + symbols + any_below(random, fillers);
    shuffle(random, words);
    content = words;
  };
  return task;
}

static void check_words(const DataOptions& options) {
  check_shortest(options, options.nouns + 1, "a sentence holds `nouns` nouns and a verb");
  check_input(options.nouns <= options.symbols,
              "`nouns` = {} must not exceed the number of cases, `symbols` = {}", options.nouns,
              options.symbols);
  check_input(options.symbols <= max_symbols,
              "`symbols` = {} nouns in as many cases are too many words: use at most {}",
              options.symbols, max_symbols);
}

const DataKind data_kinds::subject = {.name = "subject",
                                      .keys = {"lengths", "symbols", "nouns"},
                                      .framings = {ModelKind::classifier},
                                      .check = check_words,
                                      .task = subject_task};

}  // namespace heed
