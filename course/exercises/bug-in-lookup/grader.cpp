#include "course/grader/grader.h"

#include "core/autograd.h"

namespace heed::course {

[[gnu::weak]] int wrong_line();
[[gnu::weak]] Tensor lookup(const Tensor& weight, const Ids& ids);

namespace {

constexpr int lookup_line = 11;

// The gradient of weight[i] is the sum of dy over the occurrences n for which counts(n).
template <class Counts>
GradientFormula lookup_gradient(const Ids& ids, Counts counts) {
  return [=](Arrays, const Array& dy, const Index& i) {
    return sum_over(ids.size(),
                    [&](int64_t n) { return ids[n] == i[0] && counts(n) ? dy(i.with(0, n)) : 0; });
  };
}

}  // namespace

void grade_bug_in_lookup(Grader& g, int (*wrong_line)(),
                         Tensor (*lookup)(const Tensor& weight, const Ids& ids)) {
  const int line = wrong_line();
  const int64_t rows = g.size(3, 5), width = g.size(2, 4), count = g.size(5, 7);
  Ids ids = g.ids({count}, rows - 1);  // the last row is never looked up
  ids.mutable_data()[0] = ids.mutable_data()[2] = ids.mutable_data()[count - 1] = 1;
  const auto occurs = [ids](int64_t n, int64_t first, int64_t last) {
    for (int64_t m = first; m < last; ++m)
      if (ids[m] == ids[n]) return true;
    return false;
  };
  g.check(
      {.name = fmt::format("lookup of {} tokens in {}", count, Shape{rows, width}),
       .inputs = {{rows, width}},
       .result = {count, width},
       .op = [=](Tensors x) { return lookup(x[0], ids); },
       .definition = [=](Arrays x, const Index& i) { return x[0](i.with(0, ids[i[0]])); },
       .arguments = {"weight"}},
      {wrong_gradient(
           "weight",
           line == lookup_line ? "Line 11 it is. Now repair it."
                               : "The gradients of tokens that occur once are right. Of a token "
                                 "that occurs several times only the last one counts.",
           lookup_gradient(ids, [=](int64_t n) { return !occurs(n, n + 1, ids.size()); })),
       wrong_gradient("weight", "Now the first occurrence of a token counts, and no other.",
                      lookup_gradient(ids, [=](int64_t n) { return !occurs(n, 0, n); }))});
  g.expect(line != 0, "wrong_line() returns 0",
           "The operation is right now. Which line did you change?");
  g.expect(line == lookup_line, fmt::format("wrong_line() returns {}", line),
           "The operation is right now, but it was another line that was wrong.");
}
HEED_GRADE(bug_in_lookup, wrong_line, lookup);

}  // namespace heed::course
