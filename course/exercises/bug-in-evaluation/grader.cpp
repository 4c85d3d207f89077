#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>

namespace heed::course {

[[gnu::weak]] int wrong_line();
[[gnu::weak]] double evaluated_loss(const Tensor& logits, const Ids& targets, int64_t batch);

namespace {

constexpr int evaluation_line = 10;

}  // namespace

void grade_bug_in_evaluation(Grader& g, decltype(&wrong_line) line_of,
                             decltype(&evaluated_loss) answer) {
  const int line = line_of();
  const int64_t rows = 9, classes = g.size(3, 5);
  const Tensor logits = g.tensor({rows, classes}, -2, 2);
  Ids targets = g.ids({rows}, classes);
  // One of the first two rows is ignored, a batch of two is ignored whole, and so is the last row.
  for (const int64_t n : {g.size(0, 1), int64_t{4}, int64_t{5}, rows - 1})
    targets.mutable_data()[n] = ignored;

  double sum = 0, count = 0;
  for (int64_t n = 0; n < rows; ++n) {
    if (targets[n] == ignored) continue;
    const real* const row = logits.data() + n * classes;
    sum +=
        std::log(sum_over(classes, [&](int64_t c) { return std::exp(row[c]); })) - row[targets[n]];
    ++count;
  }
  constexpr int64_t sizes[] = {2, 4, 1, 9, 20};
  std::vector<double> got;
  for (const int64_t size : sizes) got.push_back(answer(logits, targets, size));
  // One check more if the line is found: the same loss has another sentence then.
  if (line == evaluation_line) g.expect(true, "");
  g.check(Numbers{.what = [&](size_t i) { return fmt::format("loss in batches of {}", sizes[i]); },
                  .got = got,
                  .expected = std::vector<double>(std::size(sizes), sum / count),
                  .context = fmt::format("{} rows, of which {} have a target", rows, count)});
  g.expect_line(line, evaluation_line);
}

namespace {
namespace bug_in_evaluation_answers {

enum class Weight { targets, rows, one };

// The loss of the rows before `end`, with this weight of a batch.
template <Weight weight, bool drops_last = false, bool sums = false, bool counts_ignored = false>
double evaluated(const Tensor& logits, const Ids& targets, int64_t batch) {
  double total = 0, weights = 0;
  for (int64_t first = 0; first < logits.dim(0); first += batch) {
    const int64_t end = std::min(first + batch, logits.dim(0));
    if (drops_last && end - first < batch) break;
    double loss = 0, count = 0;
    for (int64_t n = first; n < end; ++n) {
      const Tensor row = slice(logits, 0, n, n + 1);
      loss += cross_entropy(row, Ids::from({1}, {targets[n]}), Reduction::sum).item();
      count += counts_ignored || targets[n] != ignored;
    }
    const double own = weight == Weight::targets ? count
                       : weight == Weight::one   ? 1
                                                 : static_cast<double>(end - first);
    total += count > 0 ? own * loss / count : 0;
    weights += own;
  }
  return sums ? total : total / weights;
}

int found() { return evaluation_line; }
int not_found() { return 0; }

const Exercise bug_in_evaluation_exercise(
    "bug_in_evaluation", grade_bug_in_evaluation, {wrong_line, evaluated_loss},
    {{"", {found, evaluated<Weight::targets>}},
     {"A batch weighs as much as it has rows. It must weigh as much as it has targets.",
      {not_found, evaluated<Weight::rows>}},
     {"Line 10 is the wrong one. Now repair it.", {found, evaluated<Weight::rows>}},
     {"Now every batch weighs the same, whatever it contains.",
      {not_found, evaluated<Weight::one>}},
     {"Now every batch weighs the same, whatever it contains.", {found, evaluated<Weight::one>}},
     {"Now the rows of an incomplete last batch are left out.",
      {not_found, evaluated<Weight::targets, true>}},
     {"Now the rows of an incomplete last batch are left out.",
      {found, evaluated<Weight::targets, true>}},
     {"Now this is the sum over all targets, not their mean.",
      {not_found, evaluated<Weight::targets, false, true>}},
     {"Now this is the sum over all targets, not their mean.",
      {found, evaluated<Weight::targets, false, true>}},
     {"Now the sum is divided by the number of all rows. Those with an ignored target do not "
      "count.",
      {not_found, evaluated<Weight::targets, false, false, true>}},
     {"Now the sum is divided by the number of all rows. Those with an ignored target do not "
      "count.",
      {found, evaluated<Weight::targets, false, false, true>}}});

}  // namespace bug_in_evaluation_answers
}  // namespace
}  // namespace heed::course
