#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/joined.h"
#include "course/exercises/beam-search/model.h"

namespace heed::course {

[[gnu::weak]] std::vector<int> find_text(const NextLogProbabilities& next,
                                         const BeamOptions& options);

namespace {

// A beam search, and how it may go wrong.
struct BeamSearch {
  bool complete_take_slots = false, own_best_child = false, last_token_only = false;
  bool first_complete = false, no_cut_off = false, greedy_goes_on = false;
  bool no_penalty = false, end_not_counted = false, plain_length = false, with_end = false;

  struct Text {
    std::vector<int> tokens;
    double log_p = 0, rank = 0;  // by which extensions are ordered
  };

  double score(const Text& text, bool complete, const BeamOptions& o) const {
    const auto length =
        static_cast<double>(std::ssize(text.tokens) - (complete && end_not_counted ? 1 : 0));
    const double base = plain_length ? std::max(length, 1.0) : (5 + length) / 6;
    return text.log_p / std::pow(base, no_penalty ? 0 : o.length_penalty);
  }

  std::vector<Text> extensions(const std::vector<Text>& growing,
                               const NextLogProbabilities& next) const {
    std::vector<Text> all;
    for (const Text& text : growing) {
      const std::vector<double> log_p = next(text.tokens);
      const size_t first = all.size();
      for (size_t v = 0; v < log_p.size(); ++v) {
        Text extended = text;
        extended.tokens.push_back(static_cast<int>(v));
        extended.log_p += log_p[v];
        extended.rank = last_token_only ? log_p[v] : extended.log_p;
        all.push_back(std::move(extended));
      }
      if (!own_best_child || growing.size() == 1) continue;
      std::swap(all[first],
                *std::max_element(all.begin() + static_cast<ptrdiff_t>(first), all.end(), by_rank));
      all.resize(first + 1);
    }
    std::sort(all.begin(), all.end(), [](const Text& a, const Text& b) { return by_rank(b, a); });
    return all;
  }
  static bool by_rank(const Text& a, const Text& b) { return a.rank < b.rank; }

  std::vector<int> operator()(const NextLogProbabilities& next, const BeamOptions& o) const {
    std::vector<Text> growing(1), finished;
    std::vector<double> scores;
    const auto finish = [&](const Text& text, bool complete) {
      scores.push_back(score(text, complete, o));
      finished.push_back(text);
      if (complete && !with_end) finished.back().tokens.pop_back();
    };
    const auto best = [&] {
      const auto at = std::max_element(scores.begin(), scores.end()) - scores.begin();
      return finished.empty() ? std::vector<int>() : finished[static_cast<size_t>(at)].tokens;
    };
    for (int length = 0; length < o.max_length && !growing.empty(); ++length) {
      std::vector<Text> kept;
      int taken = 0;
      for (const Text& text : extensions(growing, next)) {
        if (taken == o.beam) break;
        const bool complete = text.tokens.back() == o.end;
        taken += !complete || complete_take_slots ? 1 : 0;
        if (!complete) kept.push_back(text);
        if (complete) finish(text, true);
        if (complete && (first_complete || (o.beam == 1 && !greedy_goes_on))) return best();
      }
      growing = std::move(kept);
    }
    for (const Text& text : growing)
      if (!no_cut_off) finish(text, false);
    return best();
  }
};

struct BeamMistake {
  BeamSearch search;
  int beam, max_length;  // and the penalty of examples that show it
  double penalty;
  const char* sentence;
};

const BeamMistake beam_mistakes[] = {
    {{.with_end = true}, 2, 3, 0, "The end token is in the result: return the text without it."},
    {{.no_penalty = true},
     2,
     4,
     3,
     "The length penalty is not used: the texts are compared by log p."},
    {{.end_not_counted = true}, 2, 3, 3, "The end token of a complete text counts in its length."},
    {{.plain_length = true},
     2,
     4,
     2,
     "log p is divided by nᵅ; the task divides by ((5 + n) / 6)ᵅ."},
    {{.no_cut_off = true},
     2,
     3,
     2,
     "Hypotheses that are cut off at max_length do not take part in the choice."},
    {{.greedy_goes_on = true},
     1,
     4,
     3,
     "With a beam of 1 the search continues after its first complete text: greedy search ends "
     "there."},
    {{.first_complete = true},
     2,
     4,
     2,
     "The first complete text is returned. Others may be completed later and have a higher score."},
    {{.complete_take_slots = true},
     2,
     4,
     4,
     "Complete texts take slots in the beam. They must not: `beam` other hypotheses grow."},
    {{.own_best_child = true},
     3,
     4,
     2,
     "Each hypothesis keeps its own best extension. All extensions must compete for the slots: "
     "some hypotheses get several, others none."},
    {{.last_token_only = true},
     3,
     4,
     3,
     "Extensions are ordered by the log p of their last token. Order them by the log p of the "
     "whole text, a sum."},
};

}  // namespace

void grade_beam_search(Grader& g, std::vector<int> (*find_text)(const NextLogProbabilities& next,
                                                                const BeamOptions& options)) {
  struct Example {
    NextLogProbabilities next;
    BeamOptions options;
  };
  const auto example = [&](int beam, int max_length, double penalty) -> Example {
    const auto tokens = static_cast<size_t>(g.size(3, 4)), end = static_cast<size_t>(g.size(0, 2));
    const auto seed = static_cast<uint64_t>(g.size(1, 1000000));
    const auto next = [=](const std::vector<int>& before) {
      uint64_t own = seed;  // each beginning has random numbers of its own
      for (const int token : before) own = 31 * own + static_cast<uint64_t>(token) + 1;
      Random random(own, Purpose::test);
      std::vector<double> p(tokens);
      for (double& x : p) x = std::exp(1.5 * random.normal());
      p[end] *= 3;
      const double total = std::accumulate(p.begin(), p.end(), 0.0);
      for (double& x : p) x = std::log(x / total);
      return p;
    };
    return {next, {beam, static_cast<int>(end), max_length, penalty}};
  };
  std::vector<Example> examples{example(1, 4, 0), example(2, 4, 0), example(3, 5, 1)};
  for (size_t m = 0; m < std::size(beam_mistakes); ++m) {
    // An example that shows it and, if possible, tells it from the mistake before.
    const BeamMistake& mistake = beam_mistakes[m];
    bool shown = false;
    for (int attempt = 0; attempt < 1000 && !shown; ++attempt) {
      const Example one = example(mistake.beam, mistake.max_length, mistake.penalty);
      const std::vector<int> wrong = mistake.search(one.next, one.options);
      shown =
          wrong != BeamSearch{}(one.next, one.options) &&
          (m == 0 || attempt > 500 || wrong != beam_mistakes[m - 1].search(one.next, one.options));
      if (shown) examples.push_back(one);
    }
    heed::check(shown, "no example shows: {}", mistake.sentence);
  }
  std::vector<std::vector<int>> got;
  for (const Example& e : examples) got.push_back(find_text(e.next, e.options));
  const auto agrees = [&](const BeamSearch& search) {
    for (size_t i = 0; i < examples.size(); ++i)
      if (got[i] != search(examples[i].next, examples[i].options)) return false;
    return true;
  };
  std::string sentence;
  for (const BeamMistake& mistake : beam_mistakes)
    if (sentence.empty() && agrees(mistake.search)) sentence = mistake.sentence;
  const auto all_are = [&](auto property) { return std::ranges::all_of(got, property); };
  if (all_are([](const std::vector<int>& text) { return text.empty(); }))
    sentence = "No text has a token: nothing is computed yet.";
  for (size_t i = 0; i < examples.size(); ++i) {
    const auto& [next, o] = examples[i];
    const std::vector<int> expected = BeamSearch{}(next, o);
    g.expect(got[i] == expected,
             fmt::format("text of a beam of {}, end {}, max_length {}, length_penalty {:.2f}: got "
                         "[{}], expected [{}]",
                         o.beam, o.end, o.max_length, o.length_penalty, joined(got[i]),
                         joined(expected)),
             sentence);
  }
}
HEED_GRADE(beam_search, find_text);

}  // namespace heed::course
