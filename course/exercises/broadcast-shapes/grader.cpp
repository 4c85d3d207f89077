#include "course/grader/grader.h"

#include <algorithm>

#include "course/grader/training.h"
#include "nn/forms/positional.h"

namespace heed::course {

void grade_broadcast_shapes(Grader& g, Shape (*broadcast)(const char* operation, const Shape& a,
                                                          const Shape& b)) {
  using Lengths = std::vector<int64_t>;
  using Rule = std::function<std::optional<Lengths>(const Lengths& a, const Lengths& b)>;
  using Join = std::function<std::optional<int64_t>(int64_t x, int64_t y)>;

  // Joins the lengths of aligned axes; `at_first`: aligned at the first axis instead of the last.
  const auto aligned = [](Join join, bool at_first = false) -> Rule {
    return [=](Lengths a, Lengths b) -> std::optional<Lengths> {
      const size_t rank = std::max(a.size(), b.size());
      for (Lengths* s : {&a, &b}) s->insert(at_first ? s->end() : s->begin(), rank - s->size(), 1);
      Lengths result;
      for (size_t i = 0; i < rank; ++i) {
        const std::optional<int64_t> length = join(a[i], b[i]);
        if (!length) return std::nullopt;
        result.push_back(*length);
      }
      return result;
    };
  };
  const Join join = [](int64_t x, int64_t y) -> std::optional<int64_t> {
    if (x != y && x != 1 && y != 1) return std::nullopt;
    return x == 1 ? y : x;
  };
  const Join larger = [=](int64_t x, int64_t y) -> std::optional<int64_t> {
    if (!join(x, y)) return std::nullopt;
    return std::max(x, y);
  };
  const Rule right = aligned(join);
  const std::pair<Rule, const char*> mistakes[] = {
      {[](const Lengths& a, const Lengths&) { return a; }, "This is the shape of a, always."},
      {[](const Lengths&, const Lengths& b) { return b; }, "This is the shape of b, always."},
      {aligned(join, true), "The shapes are aligned at their first axis. Align them at the last."},
      {aligned([](int64_t x, int64_t y) -> std::optional<int64_t> { return x == 1 ? y : x; }),
       "Two lengths that differ, neither of them 1, must throw an Error."},
      {aligned([](int64_t x, int64_t y) -> std::optional<int64_t> { return std::max(x, y); }),
       "Two lengths that differ, neither of them 1, must throw an Error: this takes the larger."},
      {aligned(larger),
       "This is the larger of the two lengths. For 1 and 0 the result is 0: a length of 1 gives "
       "way to any other."},
      {[=](const Lengths& a, const Lengths& b) {
         return a.size() == b.size() ? right(a, b) : std::nullopt;
       },
       "A missing axis counts as 1: shapes of different rank also broadcast."},
      {[](const Lengths& a, const Lengths& b) { return a == b ? std::optional(a) : std::nullopt; },
       "Shapes that differ may broadcast: a length of 1 is repeated."},
      {aligned([](int64_t x, int64_t y) -> std::optional<int64_t> {
         return x == y || y == 1 ? std::optional(x) : std::nullopt;
       }),
       "Only b is repeated. Both shapes may have axes of length 1, or lack some."},
      {aligned([](int64_t x, int64_t y) -> std::optional<int64_t> {
         return x == y || x == 1 ? std::optional(y) : std::nullopt;
       }),
       "Only a is repeated. Both shapes may have axes of length 1, or lack some."}};

  const int64_t n = g.size(2, 4), m = n + g.size(1, 3), k = m + g.size(1, 3);
  const std::pair<Lengths, Lengths> cases[] = {
      {{n, m}, {n, m}},      {{n, m}, {m}},    {{m}, {n, m}},    {{n, 1}, {m}},
      {{1, n}, {m, 1}},      {{}, {n}},        {{n}, {}},        {{}, {}},
      {{n, m}, {n}},         {{n, m}, {m, n}}, {{k, n}, {m, n}}, {{n, 1, k}, {m, 1}},
      {{m, 1}, {n, m, k}},   {{n, 1}, {1, 0}}, {{0}, {1}},       {{n, 0}, {n}},
      {{n}, {1, 1, m, 1, n}}};

  const auto text = [](const std::optional<Lengths>& shape) {
    return shape ? fmt::format("{}", Shape(*shape)) : std::string("an Error");
  };
  std::vector<std::string> got;
  for (const auto& [a, b] : cases) {
    try {
      got.push_back(fmt::format("{}", broadcast("add", Shape(a), Shape(b))));
    } catch (const Error& error) {
      got.emplace_back("an Error");
      g.expect(std::string(error.what()).starts_with("add"),
               fmt::format("broadcast of {} and {}: the error is '{}'", Shape(a), Shape(b),
                           error.what()),
               "The error must begin with the name of the operation, here 'add'.");
    }
  }
  const auto follows = [&](const Rule& rule) {
    return std::equal(got.begin(), got.end(), std::begin(cases),
                      [&](const auto& answer, const auto& pair) {
                        return answer == text(rule(pair.first, pair.second));
                      });
  };
  std::string sentence;
  for (const auto& [rule, words] : mistakes)
    if (sentence.empty() && follows(rule)) sentence = words;
  for (size_t i = 0; i < got.size(); ++i) {
    const auto& [a, b] = cases[i];
    g.expect(got[i] == text(right(a, b)),
             fmt::format("broadcast of {} and {}: got {}, expected {}", Shape(a), Shape(b), got[i],
                         text(right(a, b))),
             sentence);
  }
}
HEED_GRADE(broadcast_shapes, broadcast);
HEED_TRAIN(broadcast_shapes, positional_encodings::relative);

}  // namespace heed::course
