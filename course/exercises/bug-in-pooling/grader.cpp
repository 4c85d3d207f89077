#include "course/grader/grader.h"

#include <cmath>
#include <limits>

namespace heed::course {

[[gnu::weak]] int wrong_line();
[[gnu::weak]] Tensor pooled_logits(const Tensor& x, const Ids& length, const Tensor& query,
                                   const Tensor& head);

namespace {

constexpr int pooling_line = 6;

}  // namespace

void grade_bug_in_pooling(Grader& g, decltype(&wrong_line) line_of,
                          decltype(&pooled_logits) answer) {
  const int line = line_of();
  const int64_t batch = g.size(3, 4), time = g.size(4, 6), width = g.size(2, 4),
                classes = g.size(2, 3);
  Ids length = Ids::empty({batch});
  for (int64_t b = 0; b < batch; ++b)
    length.mutable_data()[b] = static_cast<int32_t>(b == 0 ? time : g.size(2, time - 1));
  const auto definition = [=](Arrays in, const Index& i) {
    const Array &x = in[0], &query = in[1], &head = in[2];
    const auto e = [&](int64_t t) {
      const double dot = sum_over(width, [&](int64_t d) {
        return query(Index{{d}, 1}) * x(Index{{i[0], t, d}, 3});
      });
      return std::exp(dot / std::sqrt(static_cast<double>(width)));
    };
    return sum_over(length[i[0]],
                    [&](int64_t t) {
                      return e(t) * sum_over(width, [&](int64_t d) {
                               return head(Index{{i[1], d}, 2}) * x(Index{{i[0], t, d}, 3});
                             });
                    }) /
           sum_over(length[i[0]], e);
  };
  // One check more if the line is found: the same logits have another sentence then.
  if (line == pooling_line) g.expect(true, "");
  g.check({.name = fmt::format("logits of x {}", Shape{batch, time, width}),
           .inputs = {{batch, time, width}, {width}, {classes, width}},
           .result = {batch, classes},
           .op = [=](Tensors in) { return answer(in[0], length, in[1], in[2]); },
           .definition = definition,
           .arguments = {"x", "query", "head"}});
  g.expect_line(line, pooling_line);
}

namespace {
namespace bug_in_pooling_answers {

// Pools the positions t < length + more. They are hidden from the scores, or from the weights.
template <int more, bool scaled = true, bool from_weights = false>
Tensor pooled(const Tensor& x, const Ids& length, const Tensor& query, const Tensor& head) {
  const int64_t batch = x.dim(0), time = x.dim(1), width = x.dim(2);
  const Tensor scores = matmul(x, query.reshape({width, 1})).reshape({batch, time}) /
                        (scaled ? std::sqrt(static_cast<double>(width)) : 1);
  Ids hidden = Ids::full({batch, time}, 0);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < time; ++t) hidden.mutable_data()[b * time + t] = t >= length[b] + more;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor p = from_weights ? masked_fill(softmax(scores), hidden, 0)
                                : softmax(masked_fill(scores, hidden, -infinity));
  return linear(matmul(p.reshape({batch, 1, time}), x).reshape({batch, width}), head);
}

constexpr int all = 100;
int found() { return pooling_line; }
int not_found() { return 0; }

const Exercise bug_in_pooling_exercise(
    "bug_in_pooling", grade_bug_in_pooling, {wrong_line, pooled_logits},
    {{"", {found, pooled<0>}},
     {"An example reads more than its own positions. Examples without padding are right.",
      {not_found, pooled<1>}},
     {"Line 6 is the wrong one. Now repair it.", {found, pooled<1>}},
     {"Now the last position of an example is hidden as well.", {not_found, pooled<-1>}},
     {"Now the last position of an example is hidden as well.", {found, pooled<-1>}},
     {"Now all positions count, the padding as well.", {not_found, pooled<all>}},
     {"Now all positions count, the padding as well.", {found, pooled<all>}},
     {"Padding gets no weight, but it is counted in the sum of the softmax.",
      {not_found, pooled<0, true, true>}},
     {"Padding gets no weight, but it is counted in the sum of the softmax.",
      {found, pooled<0, true, true>}},
     {"The scores are not divided by √D any more: that line was right.",
      {not_found, pooled<0, false>}},
     {"The scores are not divided by √D any more: that line was right.",
      {found, pooled<0, false>}}});

}  // namespace bug_in_pooling_answers
}  // namespace
}  // namespace heed::course
