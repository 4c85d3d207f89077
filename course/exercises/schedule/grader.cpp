#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed::course {

[[gnu::weak]] double learning_rate(int64_t step, double peak, int64_t warmup_steps, int64_t steps,
                                   double min_lr);

void grade_schedule(Grader& g,
                    double (*learning_rate)(int64_t step, double peak, int64_t warmup_steps,
                                            int64_t steps, double min_lr)) {
  struct Run {
    double peak;
    int64_t warmup, steps;
    double least;

    double progress(double t) const {
      const auto w = static_cast<double>(warmup);
      return std::min(1.0, (t - w) / (static_cast<double>(steps) - w));
    }
    double fall(double progress) const { return (1 + std::cos(std::numbers::pi * progress)) / 2; }
    double after(double progress) const { return least + (peak - least) * fall(progress); }
    double rise(double t) const { return peak * t / static_cast<double>(warmup); }
    bool warms_up(int64_t t) const { return t < warmup; }
  };
  using Rate = std::function<double(const Run& r, int64_t step, double t)>;
  // A rate that differs after the warm-up only.
  const auto later = [](auto after) -> Rate {
    return [=](const Run& r, int64_t step, double t) {
      return r.warms_up(step) ? r.rise(t) : after(r, t);
    };
  };
  // … and before its end only.
  const auto earlier = [](auto before) -> Rate {
    return [=](const Run& r, int64_t step, double t) {
      return r.warms_up(step) ? before(r, t) : r.after(r.progress(t));
    };
  };
  const Rate right = later([](const Run& r, double t) { return r.after(r.progress(t)); });
  const std::pair<Rate, const char*> mistakes[] = {
      {[](const Run&, int64_t, double) { return 0.0; },
       "The rate is 0 in every step: nothing is computed yet."},
      {[](const Run& r, int64_t, double) { return r.peak; }, "This is the peak in every step."},
      {[](const Run& r, int64_t, double t) { return r.after(r.progress(t)); },
       "The warm-up is missing."},
      {earlier([](const Run& r, double) { return r.peak; }), "The warm-up is missing."},
      {earlier([](const Run&, double) { return 0.0; }),
       "The rate is 0 during the warm-up: an integer divided by a larger one is 0."},
      {earlier([](const Run& r, double t) { return r.rise(t - 1); }),
       "The warm-up begins with the rate 0: steps count from 1, and step 1 has peak / "
       "warmup_steps."},
      {[=](const Run& r, int64_t step, double t) { return right(r, step - 1, t - 1); },
       "This is the rate of the step before: steps count from 1."},
      {earlier([](const Run& r, double t) {
         return r.least + (r.peak - r.least) * t / static_cast<double>(r.warmup);
       }),
       "The warm-up begins at min_lr. It begins at 0."},
      {later([](const Run& r, double) { return r.peak; }),
       "After the warm-up the rate must fall: this is the peak."},
      {later([](const Run& r, double t) { return r.after(t >= static_cast<double>(r.steps)); }),
       "The progress is 0 until the end: an integer divided by a larger one is 0."},
      {later([](const Run& r, double t) {
         return r.after(std::min(1.0, t / static_cast<double>(r.steps)));
       }),
       "The cosine begins at step 0. It begins at the end of the warm-up, or the rate jumps."},
      {later([](const Run& r, double t) {
         return r.after(
             std::min(1.0, (t - static_cast<double>(r.warmup)) / static_cast<double>(r.steps)));
       }),
       "The cosine takes `steps` steps. It has steps - warmup_steps of them."},
      {later([](const Run& r, double t) {
         return r.least + (r.peak - r.least) * 2 * r.fall(r.progress(t));
       }),
       "The division by 2 is missing: 1 + cos goes from 2 to 0."},
      {later([](const Run& r, double t) { return r.peak * r.fall(r.progress(t)); }),
       "min_lr is not used: the rate ends at 0."},
      {later([](const Run& r, double t) { return r.least + r.peak * r.fall(r.progress(t)); }),
       "The rate begins at peak + min_lr: the cosine's factor is peak - min_lr."},
      {later([](const Run& r, double t) {
         return std::max(r.least, r.peak * r.fall(r.progress(t)));
       }),
       "This is the larger of min_lr and a cosine that ends at 0. The cosine itself ends at "
       "min_lr."},
      {later([](const Run& r, double t) {
         return r.least + (r.peak - r.least) * (1 - r.progress(t));
       }),
       "This falls in a straight line. It must follow a cosine."},
      {later([](const Run& r, double t) {
         return r.least + (r.peak - r.least) * (1 + std::cos(r.progress(t))) / 2;
       }),
       "The factor π is missing: the cosine goes half a turn."},
      {later([](const Run& r, double t) { return r.after(1 - r.progress(t)); }),
       "This rises from min_lr to the peak. It must fall."},
      {later([](const Run& r, double t) {
         const auto w = static_cast<double>(r.warmup);
         return r.after((t - w) / (static_cast<double>(r.steps) - w));
       }),
       "After the last step the cosine rises again. The rate must stay at min_lr."},
      {later([](const Run& r, double t) {
         return t > static_cast<double>(r.steps) ? 0 : r.after(r.progress(t));
       }),
       "After the last step the rate is 0. It must stay at min_lr."}};

  const auto check = [&](const Run& r) {
    const int64_t last = r.steps + (r.steps - r.warmup) / 2;
    std::vector<double> got;
    for (int64_t t = 1; t <= last; ++t)
      got.push_back(learning_rate(t, r.peak, r.warmup, r.steps, r.least));
    const auto near = [&](double a, double b) { return std::fabs(a - b) <= 1e-9 * r.peak; };
    const auto agree = [&](const Rate& rate) {
      for (int64_t t = 1; t <= last; ++t)
        if (!near(got[static_cast<size_t>(t - 1)], rate(r, t, static_cast<double>(t))))
          return false;
      return true;
    };
    if (agree(right)) return;
    std::string sentence;
    for (const auto& [rate, words] : mistakes)
      if (sentence.empty() && agree(rate)) sentence = words;
    if (sentence.empty() &&
        std::any_of(got.begin(), got.end(), [](double x) { return !std::isfinite(x); }))
      sentence = "Not a number, or infinite: warmup_steps may be 0.";
    for (int64_t t = 1; t <= last; ++t) {
      const double rate = got[static_cast<size_t>(t - 1)],
                   expected = right(r, t, static_cast<double>(t));
      g.expect(near(rate, expected),
               fmt::format(
                   "rate of step {}: got {:.6g}, expected {:.6g}  (peak {:.3g}, warmup_steps {}, "
                   "steps {}, min_lr {:.3g})",
                   t, rate, expected, r.peak, r.warmup, r.steps, r.least),
               sentence);
    }
  };
  const int64_t warmup = g.size(4, 8);
  check({g.number(0.5, 2), warmup, warmup + g.size(10, 20), g.number(0.1, 0.2)});
  check({g.number(1e-4, 1e-3), 0, g.size(10, 20), 0});
}
HEED_GRADE(schedule, learning_rate);

}  // namespace heed::course
