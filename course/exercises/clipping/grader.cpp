#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::course {

[[gnu::weak]] double clip_gradients(std::vector<Tensor>& gradients, double limit);

void grade_clipping(Grader& g,
                    double (*clip_gradients)(std::vector<Tensor>& gradients, double limit)) {
  using Elements = std::vector<std::vector<double>>;  // of each tensor
  struct Outcome {
    double returned;
    Elements elements;
  };
  const auto fold = [](const auto& elements, auto join) {
    double total = 0;
    for (const double x : elements) total = join(total, x);
    return total;
  };
  const auto norm = [=](const std::vector<double>& x) {
    return std::sqrt(fold(x, [](double sum, double v) { return sum + v * v; }));
  };
  const auto joined = [](const Elements& all) {
    std::vector<double> flat;
    for (const auto& elements : all) flat.insert(flat.end(), elements.begin(), elements.end());
    return flat;
  };
  const auto scaled = [](Elements all, auto factor) {  // of each tensor
    for (auto& elements : all) {
      const double by = factor(elements);
      for (double& x : elements) x *= by;
    }
    return all;
  };
  // What clipping with another size of the gradients gives.
  const auto with_size = [=](auto size) {
    return [=](const Elements& all, double limit) {
      const double found = size(joined(all));
      const double by = limit > 0 && found > limit ? limit / found : 1;
      return Outcome{found, scaled(all, [=](const auto&) { return by; })};
    };
  };
  const auto right = with_size(norm);
  const auto each = [=](auto factor) {
    return [=](const Elements& all, double limit) {
      return Outcome{norm(joined(all)),
                     scaled(all, [=](const auto& elements) { return factor(elements, limit); })};
    };
  };
  using Clip = std::function<Outcome(const Elements& all, double limit)>;
  const std::pair<Clip, const char*> mistakes[] = {
      {[](const Elements& all, double) {
         return Outcome{0, all};
       },
       "Nothing changes, and 0 is returned: nothing is computed yet."},
      {each([](const auto&, double) { return 1.0; }), "The gradients are not changed."},
      {each([=](const auto& x, double limit) { return std::min(1.0, limit / norm(x)); }),
       "Each tensor is clipped by a norm of its own. There is one norm, of all together."},
      {[=](const Elements& all, double limit) {
         Outcome outcome{norm(joined(all)), all};
         for (auto& elements : outcome.elements)
           for (double& x : elements) x = std::clamp(x, -limit, limit);
         return outcome;
       },
       "Each element is clipped. That changes the direction of the gradient: scale all by one "
       "factor."},
      {[=](const Elements& all, double limit) {
         const double found = norm(joined(all));
         return Outcome{found, scaled(all, [=](const auto&) { return limit / found; })};
       },
       "Gradients are always scaled to the limit: those with a smaller norm must stay."},
      {[=](const Elements& all, double limit) {
         const double found = norm(joined(all));
         return Outcome{found,
                        scaled(all, [=](const auto&) { return std::max(1.0, found / limit); })};
       },
       "The factor is norm / limit: gradients become larger. It is limit / norm."},
      {[=](const Elements& all, double) {
         const double found = norm(joined(all));
         return Outcome{found, scaled(all, [=](const auto&) { return std::min(1.0, 1 / found); })};
       },
       "The gradients are scaled to the norm 1, whatever the limit."},
      {[=](const Elements& all, double limit) {
         Outcome outcome = right(all, limit);
         outcome.returned = norm(joined(outcome.elements));
         return outcome;
       },
       "The norm after clipping is returned. It must be the one before."},
      {[=](const Elements& all, double limit) {
         Outcome outcome = right(all, limit);
         outcome.returned = limit / outcome.returned;
         return outcome;
       },
       "The factor is returned. It must be the norm."},
      {[=](const Elements& all, double limit) {
         return Outcome{0, right(all, limit).elements};
       },
       "The gradients are right, but the norm is not returned."},
      {with_size([=](const auto& x) { return norm(x) * norm(x); }),
       "The square root of the sum of squares is missing."},
      {with_size([=](const auto& x) {
         return fold(x, [](double sum, double v) { return sum + std::fabs(v); });
       }),
       "This is the sum of the absolute values. The norm is the root of the sum of squares."},
      {with_size([=](const auto& x) {
         return fold(x, [](double most, double v) { return std::max(most, std::fabs(v)); });
       }),
       "This is the largest absolute value. The norm is the root of the sum of squares."},
      {with_size([=](const auto& x) { return norm(x) / std::sqrt(static_cast<double>(x.size())); }),
       "This is the root of the mean of squares. The norm is the root of their sum."}};

  const auto near = [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b)) ||
           std::fabs(a - b) <= 1e-5 * std::max(1e-3, std::fabs(b));
  };
  const auto same = [=](const Outcome& a, const Outcome& b) {
    const auto x = joined(a.elements), y = joined(b.elements);
    return near(a.returned, b.returned) && std::equal(x.begin(), x.end(), y.begin(), near);
  };
  const auto check = [&](const std::string& name, const Elements& all, double limit,
                         const char* otherwise = "") {
    std::vector<Tensor> tensors;
    for (const auto& elements : all)
      tensors.push_back(Tensor::from({static_cast<int64_t>(elements.size())}, elements));
    Outcome got{clip_gradients(tensors, limit), {}};
    for (const Tensor& tensor : tensors)
      got.elements.emplace_back(tensor.data(), tensor.data() + tensor.size());
    const bool finite = std::isfinite(norm(joined(all)));
    const Outcome expected = finite ? right(all, limit) : Outcome{norm(joined(all)), all};
    if (same(got, expected)) return;
    std::string sentence = otherwise;
    for (const auto& [clip, words] : mistakes)
      if (sentence.empty() && same(got, clip(all, limit))) sentence = words;
    g.expect(near(got.returned, expected.returned),
             fmt::format("{}: returns {}, expected {}", name, got.returned, expected.returned),
             sentence);
    for (size_t k = 0; k < all.size(); ++k)
      for (size_t i = 0; i < all[k].size(); ++i)
        g.expect(near(got.elements[k][i], expected.elements[k][i]),
                 fmt::format("{}: gradient {} [{}] becomes {:.6g}, expected {:.6g}", name, k, i,
                             got.elements[k][i], expected.elements[k][i]),
                 sentence);
  };

  Elements gradients;
  for (int k = 0; k < 3; ++k) gradients.push_back(g.array({g.size(2, 5)}, 1, 3).values);
  gradients[1][0] = -gradients[1][0];
  const double size = norm(joined(gradients));
  check(fmt::format("norm {:.3g}, limit {:.3g}", size, size / 3), gradients, size / 3);
  check(fmt::format("norm {:.3g}, limit {:.3g}", size, size * 2), gradients, size * 2);
  check(fmt::format("norm {:.3g}, limit 0", size), gradients, 0,
        "A limit of 0 means that there is none: the gradients stay, the norm is returned.");
  check("all gradients 0, limit 1", {{0, 0}, {0}}, 1,
        "0 / 0 is not a number: a norm below the limit changes nothing.");
  gradients[2][1] = std::numeric_limits<double>::infinity();
  check("one gradient ∞, limit 1", gradients, 1,
        "A norm that is not finite must be returned, and change nothing.");
}
HEED_GRADE(clipping, clip_gradients);

}  // namespace heed::course
