#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::course {

[[gnu::weak]] double clip_gradients(std::vector<Tensor>& gradients, double limit);

void grade_clipping(Grader& g, decltype(&clip_gradients) answer) {
  using Elements = std::vector<std::vector<double>>;  // of each tensor
  const auto norm = [](const Elements& all) {
    double squares = 0;
    for (const auto& elements : all)
      for (const double x : elements) squares += x * x;
    return std::sqrt(squares);
  };
  const auto check = [&](const std::string& name, const Elements& all, double limit,
                         const char* otherwise = "") {
    std::vector<Tensor> tensors;
    for (const auto& elements : all)
      tensors.push_back(Tensor::from({static_cast<int64_t>(elements.size())}, elements));
    const double size = norm(all);
    const double by = std::isfinite(size) && limit > 0 && size > limit ? limit / size : 1;
    std::vector<double> got{answer(tensors, limit)}, expected{size};
    std::vector<std::string> names{"the returned norm"};
    for (size_t k = 0; k < all.size(); ++k)
      for (size_t i = 0; i < all[k].size(); ++i) {
        got.push_back(tensors[k].data()[i]);
        expected.push_back(all[k][i] * by);
        names.push_back(fmt::format("gradient {} [{}]", k, i));
      }
    g.check(Numbers{.what = [&](size_t i) { return names[i]; },
                    .got = got,
                    .expected = expected,
                    .context = name,
                    .sentence = otherwise,
                    .tolerance = 1e-5});
  };

  Elements gradients;
  for (int k = 0; k < 3; ++k) gradients.push_back(g.array({g.size(2, 5)}, 1, 3).values);
  gradients[1][0] = -gradients[1][0];
  const double size = norm(gradients);
  check(fmt::format("norm {:.3g}, limit {:.3g}", size, size / 3), gradients, size / 3);
  check(fmt::format("norm {:.3g}, limit {:.3g}", size, size * 2), gradients, size * 2);
  check(fmt::format("norm {:.3g}, limit 0", size), gradients, 0,
        "A limit of 0 means no limit: leave the gradients as they are, and return the norm.");
  check("all gradients 0, limit 1", {{0, 0}, {0}}, 1,
        "0 / 0 is not a number: a norm below the limit changes nothing.");
  gradients[2][1] = std::numeric_limits<double>::infinity();
  check("one gradient ∞, limit 1", gradients, 1,
        "A norm that is not finite must be returned, and must change nothing.");
}
namespace {
namespace clipping_answers {

struct Gradients {
  std::vector<Tensor>& all;
  double limit;

  template <class Join>
  double fold(Join join) const {
    double result = 0;
    for (const Tensor& gradient : all)
      for (const double x : gradient.values()) result = join(result, x);
    return result;
  }
  double squares() const {
    return fold([](double sum, double x) { return sum + x * x; });
  }
  double norm() const { return std::sqrt(squares()); }
  // Replaces each element x of each gradient by f(x, gradient).
  template <class F>
  void replace(F f) const {
    for (Tensor& gradient : all) {
      const std::vector<double> before(gradient.values().begin(), gradient.values().end());
      for (size_t i = 0; i < before.size(); ++i) gradient.mutable_data()[i] = f(before[i], before);
    }
  }
  void scale(double by) const {
    replace([=](double x, const auto&) { return x * by; });
  }
  // Clips by this size instead of the norm, and returns it.
  double clip(double size) const {
    if (std::isfinite(size) && limit > 0 && size > limit) scale(limit / size);
    return size;
  }
};

template <auto clip>
double clipped(std::vector<Tensor>& gradients, double limit) {
  return clip(Gradients{gradients, limit});
}

const Exercise clipping_exercise(
    "clipping", grade_clipping, {clip_gradients},
    {{"", clipped<[](const Gradients& g) { return g.clip(g.norm()); }>},
     {"Nothing changes, and 0 is returned: nothing is computed yet.",
      clipped<[](const Gradients&) { return 0.0; }>},
     {"The gradients are not changed.", clipped<[](const Gradients& g) { return g.norm(); }>},
     {"Each tensor is clipped by its own norm. Use one norm, that of all tensors together.",
      clipped<[](const Gradients& g) {
        const double norm = g.norm();
        g.replace([&](double x, const std::vector<double>& own) {
          double squares = 0;
          for (const double each : own) squares += each * each;
          return x * std::min(1.0, g.limit / std::sqrt(squares));
        });
        return norm;
      }>},
     {"Each element is clipped. That changes the direction of the gradient: scale all by one "
      "factor.",
      clipped<[](const Gradients& g) {
        const double norm = g.norm();
        g.replace([&](double x, const auto&) { return std::clamp(x, -g.limit, g.limit); });
        return norm;
      }>},
     {"Gradients are always scaled to the limit: those with a smaller norm must stay.",
      clipped<[](const Gradients& g) {
        const double norm = g.norm();
        g.scale(g.limit / norm);
        return norm;
      }>},
     {"The factor is norm / limit: gradients become larger. It is limit / norm.",
      clipped<[](const Gradients& g) {
        const double norm = g.norm();
        g.scale(std::max(1.0, norm / g.limit));
        return norm;
      }>},
     {"The gradients are scaled to the norm 1, whatever the limit.",
      clipped<[](const Gradients& g) {
        const double norm = g.norm();
        g.scale(std::min(1.0, 1 / norm));
        return norm;
      }>},
     {"The norm after clipping is returned. Return the norm before clipping.",
      clipped<[](const Gradients& g) {
        g.clip(g.norm());
        return g.norm();
      }>},
     {"The factor is returned. Return the norm.",
      clipped<[](const Gradients& g) { return g.limit / g.clip(g.norm()); }>},
     {"The gradients are right, but the norm is not returned.",
      clipped<[](const Gradients& g) { return 0 * g.clip(g.norm()); }>},
     {"The square root of the sum of squares is missing.",
      clipped<[](const Gradients& g) { return g.clip(g.squares()); }>},
     {"This is the sum of the absolute values. The norm is the root of the sum of squares.",
      clipped<[](const Gradients& g) {
        return g.clip(g.fold([](double sum, double x) { return sum + std::fabs(x); }));
      }>},
     {"This is the largest absolute value. The norm is the root of the sum of squares.",
      clipped<[](const Gradients& g) {
        return g.clip(g.fold([](double most, double x) { return std::max(most, std::fabs(x)); }));
      }>},
     {"This is the root of the mean of squares. The norm is the root of their sum.",
      clipped<[](const Gradients& g) {
        const double count = g.fold([](double sum, double) { return sum + 1; });
        return g.clip(std::sqrt(g.squares() / count));
      }>}});

}  // namespace clipping_answers
}  // namespace
}  // namespace heed::course
