#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed::course {

[[gnu::weak]] double learning_rate(int64_t step, double peak, int64_t warmup_steps, int64_t steps,
                                   double min_lr);

void grade_schedule(Grader& g, decltype(&learning_rate) answer) {
  const auto check = [&](double peak, int64_t warmup, int64_t steps, double least) {
    std::vector<double> got, expected;
    for (int64_t t = 1; t <= steps + (steps - warmup) / 2; ++t) {
      got.push_back(answer(t, peak, warmup, steps, least));
      const double progress =
          std::min(1.0, static_cast<double>(t - warmup) / static_cast<double>(steps - warmup));
      expected.push_back(t < warmup ? peak * static_cast<double>(t) / static_cast<double>(warmup)
                                    : least + (peak - least) *
                                                  (1 + std::cos(std::numbers::pi * progress)) / 2);
    }
    const bool finite =
        std::all_of(got.begin(), got.end(), [](double x) { return std::isfinite(x); });
    g.check(Numbers{.what = [](size_t i) { return fmt::format("rate of step {}", i + 1); },
                    .got = got,
                    .expected = expected,
                    .context = fmt::format("peak {:.3g}, warmup_steps {}, steps {}, min_lr {:.3g}",
                                           peak, warmup, steps, least),
                    .sentence = finite ? "" : "Not a number, or infinite: warmup_steps may be 0."});
  };
  const int64_t warmup = g.size(4, 8);
  check(g.number(0.5, 2), warmup, warmup + g.size(10, 20), g.number(0.1, 0.2));
  check(g.number(1e-4, 1e-3), 0, g.size(10, 20), 0);
}
namespace {
namespace schedule_answers {

// A warm-up and what comes after it. Each part may be replaced.
struct Run {
  double t, peak, warmup, steps, least;

  double rise() const { return peak * t / warmup; }
  double progress() const { return std::min(1.0, (t - warmup) / (steps - warmup)); }
  double fall(double of) const { return (1 + std::cos(std::numbers::pi * of)) / 2; }
  double after(double of) const { return least + (peak - least) * fall(of); }
  double rate() const { return t < warmup ? rise() : after(progress()); }
};

template <auto rate>
double always(int64_t step, double peak, int64_t warmup, int64_t steps, double least) {
  return rate(Run{static_cast<double>(step), peak, static_cast<double>(warmup),
                  static_cast<double>(steps), least});
}
template <auto rate>
double while_rising(int64_t step, double peak, int64_t warmup, int64_t steps, double least) {
  return always<[](const Run& r) { return r.t < r.warmup ? rate(r) : r.rate(); }>(
      step, peak, warmup, steps, least);
}
template <auto rate>
double while_falling(int64_t step, double peak, int64_t warmup, int64_t steps, double least) {
  return always<[](const Run& r) { return r.t < r.warmup ? r.rate() : rate(r); }>(
      step, peak, warmup, steps, least);
}

const Exercise schedule_exercise(
    "schedule", grade_schedule, {learning_rate},
    {{"", always<[](const Run& r) { return r.rate(); }>},
     {"The rate is 0 in every step: nothing is computed yet.",
      always<[](const Run&) { return 0.0; }>},
     {"This is the peak in every step.", always<[](const Run& r) { return r.peak; }>},
     {"The warm-up is missing.", always<[](const Run& r) { return r.after(r.progress()); }>},
     {"The warm-up is missing.", while_rising<[](const Run& r) { return r.peak; }>},
     {"The rate is 0 during the warm-up: an integer divided by a larger one is 0.",
      while_rising<[](const Run&) { return 0.0; }>},
     {"The warm-up begins with the rate 0: steps count from 1, and step 1 has peak / warmup_steps.",
      while_rising<[](const Run& r) { return r.peak * (r.t - 1) / r.warmup; }>},
     {"This is the rate of the step before: steps count from 1.", always<[](Run r) {
        --r.t;
        return r.rate();
      }>},
     {"The warm-up begins at min_lr. It begins at 0.",
      while_rising<[](const Run& r) { return r.least + (r.peak - r.least) * r.t / r.warmup; }>},
     {"After the warm-up the rate must fall: this is the peak.",
      while_falling<[](const Run& r) { return r.peak; }>},
     {"The progress is 0 until the end: an integer divided by a larger one is 0.",
      while_falling<[](const Run& r) { return r.after(r.t >= r.steps); }>},
     {"The cosine begins at step 0. It begins at the end of the warm-up, or the rate jumps.",
      while_falling<[](const Run& r) { return r.after(std::min(1.0, r.t / r.steps)); }>},
     {"The cosine takes `steps` steps. It has steps - warmup_steps of them.",
      while_falling<[](const Run& r) {
        return r.after(std::min(1.0, (r.t - r.warmup) / r.steps));
      }>},
     {"The division by 2 is missing: 1 + cos goes from 2 to 0.", while_falling<[](const Run& r) {
        return r.least + (r.peak - r.least) * 2 * r.fall(r.progress());
      }>},
     {"min_lr is not used: the rate ends at 0.",
      while_falling<[](const Run& r) { return r.peak * r.fall(r.progress()); }>},
     {"The rate begins at peak + min_lr: the cosine's factor is peak - min_lr.",
      while_falling<[](const Run& r) { return r.least + r.peak * r.fall(r.progress()); }>},
     {"This is the larger of min_lr and a cosine that ends at 0. The cosine itself ends at min_lr.",
      while_falling<[](const Run& r) { return std::max(r.least, r.peak * r.fall(r.progress())); }>},
     {"This falls in a straight line. It must follow a cosine.", while_falling<[](const Run& r) {
        return r.least + (r.peak - r.least) * (1 - r.progress());
      }>},
     {"The factor π is missing: the cosine goes through half a period.",
      while_falling<[](const Run& r) {
        return r.least + (r.peak - r.least) * (1 + std::cos(r.progress())) / 2;
      }>},
     {"This rises from min_lr to the peak. It must fall.",
      while_falling<[](const Run& r) { return r.after(1 - r.progress()); }>},
     {"After the last step the cosine rises again. The rate must stay at min_lr.",
      while_falling<[](const Run& r) { return r.after((r.t - r.warmup) / (r.steps - r.warmup)); }>},
     {"After the last step the rate is 0. It must stay at min_lr.",
      while_falling<[](const Run& r) { return r.steps < r.t ? 0 : r.rate(); }>}});

}  // namespace schedule_answers
}  // namespace
}  // namespace heed::course
