#include "course/grader/grader.h"

#include <algorithm>

#include "core/autograd.h"

namespace heed::course {

[[gnu::weak]] int wrong_line();
[[gnu::weak]] Tensor lookup(const Tensor& weight, const Ids& ids);

namespace {

constexpr int lookup_line = 11;

}  // namespace

void grade_bug_in_lookup(Grader& g, decltype(&wrong_line) line_of, decltype(&lookup) answer) {
  const int line = line_of();
  const int64_t rows = g.size(3, 5), width = g.size(2, 4), count = g.size(5, 7);
  Ids ids = g.ids({count}, rows - 1);  // the last row is never looked up
  ids.mutable_data()[0] = ids.mutable_data()[2] = ids.mutable_data()[count - 1] = 1;
  // One check more if the line is found: the same gradient has another sentence then.
  if (line == lookup_line) g.expect(true, "");
  g.check({.name = fmt::format("lookup of {} tokens in {}", count, Shape{rows, width}),
           .inputs = {{rows, width}},
           .result = {count, width},
           .op = [=](Tensors x) { return answer(x[0], ids); },
           .definition = [=](Arrays x, const Index& i) { return x[0](i.with(0, ids[i[0]])); },
           .arguments = {"weight"}});
  g.expect_line(line, lookup_line);
}

namespace {
namespace bug_in_lookup_answers {

// Of each token only the first or the last occurrence counts.
template <bool first>
Tensor once(const Tensor& weight, const Ids& ids) {
  return record("lookup", embedding(weight, ids).detach(), {weight},
                [=, size = weight.size(), width = weight.dim(1)](Backward& g) {
                  const Destination dw = slot_to_add_to(g.into(0), size);
                  const int32_t *const begin = ids.data(), *const end = begin + ids.size();
                  for (const int32_t* id = begin; id < end; ++id) {
                    const bool again = first ? std::find(begin, id, *id) != id
                                             : std::find(id + 1, end, *id) != end;
                    for (int64_t d = 0; d < width && !again; ++d)
                      dw.data[*id * width + d] += g.dy()[(id - begin) * width + d];
                  }
                });
}

int found() { return lookup_line; }
int not_found() { return 0; }

const Exercise bug_in_lookup_exercise(
    "bug_in_lookup", grade_bug_in_lookup, {wrong_line, lookup},
    {{"The gradients of tokens that occur once are right. If a token occurs several times, only "
      "its last occurrence counts.",
      {not_found, once<false>}},
     {"Line 11 is the wrong one. Now repair it.", {found, once<false>}},
     {"Now the first occurrence of a token counts, and no other.", {not_found, once<true>}},
     {"Now the first occurrence of a token counts, and no other.", {found, once<true>}}});

}  // namespace bug_in_lookup_answers
}  // namespace
}  // namespace heed::course
