#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>

namespace heed::course {

[[gnu::weak]] int wrong_line();
[[gnu::weak]] Tensor pooled_logits(const Tensor& x, const Ids& length, const Tensor& query,
                                   const Tensor& head);

namespace {

constexpr int pooling_line = 6;

// The logits where example b pools its first last(b) positions, with scores times `scale`.
template <class Last>
Definition pooled_up_to(Last last, bool normalised, bool scaled = true) {
  return [=](Arrays in, const Index& i) {
    const Array &x = in[0], &query = in[1], &head = in[2];
    const int64_t time = x.shape[1], width = x.shape[2];
    const auto score = [&](int64_t t) {
      const double dot = sum_over(width, [&](int64_t d) {
        return query({{d}, 1}) * x({{i[0], t, d}, 3});
      });
      return scaled ? dot / std::sqrt(static_cast<double>(width)) : dot;
    };
    const auto e = [&](int64_t t) { return std::exp(score(t)); };
    const int64_t end = std::clamp<int64_t>(last(i[0]), 0, time);
    const double total = sum_over(normalised ? end : time, e);
    return sum_over(end, [&](int64_t t) {
      return e(t) / total * sum_over(width, [&](int64_t d) {
               return head({{i[1], d}, 2}) * x({{i[0], t, d}, 3});
             });
    });
  };
}

}  // namespace

void grade_bug_in_pooling(Grader& g, int (*wrong_line)(),
                          Tensor (*pooled_logits)(const Tensor& x, const Ids& length,
                                                  const Tensor& query, const Tensor& head)) {
  const int line = wrong_line();
  const int64_t batch = g.size(3, 4), time = g.size(4, 6), width = g.size(2, 4),
                classes = g.size(2, 3);
  Ids length = Ids::empty({batch});
  for (int64_t b = 0; b < batch; ++b)
    length.mutable_data()[b] = static_cast<int32_t>(b == 0 ? time : g.size(2, time - 1));
  const auto up_to = [length](int64_t more) { return [=](int64_t b) { return length[b] + more; }; };
  g.check({.name = fmt::format("logits of x {}", Shape{batch, time, width}),
           .inputs = {{batch, time, width}, {width}, {classes, width}},
           .result = {batch, classes},
           .op = [=](Tensors in) { return pooled_logits(in[0], length, in[1], in[2]); },
           .definition = pooled_up_to(up_to(0), true),
           .arguments = {"x", "query", "head"}},
          {wrong_value(line == pooling_line
                           ? "Line 6 it is. Now repair it."
                           : "An example reads more than its own positions. Examples without "
                             "padding are right.",
                       pooled_up_to(up_to(1), true)),
           wrong_value("Now the last position of an example is hidden, too.",
                       pooled_up_to(up_to(-1), true)),
           wrong_value("Now all positions count, the padding as well.",
                       pooled_up_to([=](int64_t) { return time; }, true)),
           wrong_value("Padding gets no weight, but it is counted in the sum of the softmax.",
                       pooled_up_to(up_to(0), false)),
           wrong_value("The scores are not divided by √D any more: that line was right.",
                       pooled_up_to(up_to(0), true, false))});
  g.expect(line != 0, "wrong_line() returns 0",
           "The function is right now. Which line did you change?");
  g.expect(line == pooling_line, fmt::format("wrong_line() returns {}", line),
           "The function is right now, but it was another line that was wrong.");
}
HEED_GRADE(bug_in_pooling, wrong_line, pooled_logits);

}  // namespace heed::course
