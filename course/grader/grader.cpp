#include "course/grader/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <dlfcn.h>

#include "core/observer.h"

namespace heed::course {

using testing::Difference;
using testing::Failure;
using testing::RowReport;

namespace {

constexpr double value_tolerance = 1e-6;
constexpr double likeness = 1e-7;  // within which an answer agrees with a known mistake

bool near(double got, double expected, double tolerance) {
  return got == expected || (std::isnan(got) && std::isnan(expected)) ||
         std::fabs(got - expected) <= tolerance * std::max(1.0, std::fabs(expected));
}

bool agree(double a, double b, double scale) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= likeness * scale;
}

// Returns whether both have the same shape, and agree at every element.
bool same(const Array& got, const Array& mistaken) {
  if (got.shape != mistaken.shape || got.values.size() != mistaken.values.size()) return false;
  double scale = 1;
  for (const double value : mistaken.values)
    if (std::isfinite(value)) scale = std::max(scale, std::fabs(value));
  return std::equal(got.values.begin(), got.values.end(), mistaken.values.begin(),
                    [&](double a, double b) { return agree(a, b, scale); });
}

// What can go wrong with any function.
std::string general_sentence(const RowReport& report, const Failure& failure) {
  const auto all_zero = [](const Array& a) {
    return !a.values.empty() &&
           std::all_of(a.values.begin(), a.values.end(), [](double v) { return v == 0; });
  };
  switch (failure.kind) {
    case Failure::Kind::value:
      if (all_zero(report.value)) return "Every element is 0: nothing is computed yet.";
      if (failure.difference && std::isnan(failure.difference->got))
        return "Not a number: 0/0, ∞ - ∞, or memory that was never written.";
      return "";
    case Failure::Kind::gradient: {
      const Array& gradient = report.gradients[static_cast<size_t>(failure.input)];
      if (gradient.values.empty())
        return "No gradient arrived: backward does not write it, or the argument is not among the "
               "inputs given to record().";
      if (all_zero(gradient)) return "Every element of this gradient is 0.";
      if (failure.difference && agree(failure.difference->got, -failure.difference->expected, 1) &&
          failure.difference->expected != 0)
        return "The sign is wrong.";
      return "";
    }
    case Failure::Kind::unrecorded:
      return "The result does not know how it was computed. Compose it from operations of the "
             "library, or return record(…), which keeps its backward.";
    case Failure::Kind::kept:
      return "No argument requires a gradient, so the result must not require one either.";
    case Failure::Kind::frozen:
      return "Backward must ask g.wants(i) for each argument separately, and then call g.into(i) "
             "once.";
    case Failure::Kind::accumulation:
      return "A second loss must add to the gradient: Destination::accumulate says whether to add "
             "or to overwrite.";
    case Failure::Kind::changed:
      return "Backward reads an argument after it was changed: keep what it needs with saved().";
    case Failure::Kind::memory:
      return "Something is kept after the result is gone, such as a tensor in a static variable.";
    default:
      return "";
  }
}

// "gradient of x [0, 2]: got 1, expected 2  (square of x [2, 3])"
std::string problem_of(const OpRow& row, const Failure& failure) {
  std::string text = failure.text;
  if (text.starts_with(row.name + ": ")) text.erase(0, row.name.size() + 2);
  return fmt::format("{}  ({})", text, row.name);
}

}  // namespace

Grader::Grader(uint64_t seed) : seed_(seed), random_(seed, Purpose::test) {}

int64_t Grader::size(int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random_.below(static_cast<uint64_t>(most - least + 1)));
}

double Grader::number(double low, double high) { return low + (high - low) * random_.uniform(); }

Array Grader::array(const Shape& shape, double low, double high) {
  Array array{shape, {}};
  for (int64_t i = 0; i < shape.size(); ++i) array.values.push_back(number(low, high));
  return array;
}

Tensor Grader::tensor(const Shape& shape, double low, double high) {
  return Tensor::from(shape, array(shape, low, high).values);
}

Ids Grader::ids(const Shape& shape, int64_t n) {
  Ids ids = Ids::empty(shape);
  for (int64_t i = 0; i < shape.size(); ++i)
    ids.mutable_data()[i] = static_cast<int32_t>(size(0, n - 1));
  return ids;
}

void Grader::check(const OpRow& row) {
  if (finding_) return;
  ++checks_;
  const uint64_t example = random_.next();
  RowReport report =
      check_row(row, {.seed = example, .tolerance = value_tolerance, .stops_at_gradients = true});
  if (report.failures.empty()) return;
  for (const Failure& failure : report.failures) problems_.push_back(problem_of(row, failure));
  finding_ = {problems_.front(), general_sentence(report, report.failures.front())};
  report_ = std::move(report);
}

void Grader::expect(bool holds, const std::string& problem, const std::string& sentence) {
  if (finding_) return;
  ++checks_;
  if (!holds) finding_ = {problem, sentence};
}

void Grader::run(const std::function<void(Grader& g)>& grade) {
  std::string problem;
  try {
    grade(*this);
    return;
  } catch (const std::exception& error) {
    problem = fmt::format("throws '{}'", error.what());
  } catch (...) {
    problem = "throws something that is not a std::exception";
  }
  if (!finding_) finding_ = {problem, ""};
}

void Grader::check(const Numbers& numbers) {
  if (finding_) return;
  ++checks_;
  for (size_t i = 0; i < numbers.expected.size(); ++i) {
    if (near(numbers.got[i], numbers.expected[i], numbers.tolerance)) continue;
    finding_ = {fmt::format("{}: got {:.6g}, expected {:.6g}{}", numbers.what(i), numbers.got[i],
                            numbers.expected[i],
                            numbers.context.empty() ? "" : "  (" + numbers.context + ")"),
                numbers.sentence};
    numbers_ = numbers.got;
    tolerance_ = numbers.tolerance;
    return;
  }
}

void Grader::expect_near(const std::string& what, double got, double expected,
                         const std::vector<WrongNumber>& mistakes, double tolerance) {
  if (finding_) return;
  ++checks_;
  if (near(got, expected, tolerance)) return;
  numbers_ = {got};
  tolerance_ = tolerance;
  finding_ = {fmt::format("{}: got {}, expected {}", what, got, expected), ""};
  for (const WrongNumber& mistake : mistakes)
    if (near(got, mistake.value, tolerance)) {
      finding_->sentence = mistake.sentence;
      return;
    }
}

void Grader::expect_line(int line, int wrong_line) {
  expect(line != 0, "wrong_line() returns 0", "The code is right now. Which line did you change?");
  expect(line == wrong_line, fmt::format("wrong_line() returns {}", line),
         "The code is right now, but a different line was wrong.");
}

std::optional<std::string> Grader::shared_problem(const Grader& wrong) const {
  if (!finding_ || !wrong.finding_ || checks_ != wrong.checks_) return {};
  using Kind = Failure::Kind;
  for (size_t i = 0; i < report_.failures.size(); ++i) {
    const Failure& failure = report_.failures[i];
    const auto k = static_cast<size_t>(failure.input);
    if ((failure.kind == Kind::value || failure.kind == Kind::shape) &&
        same(report_.value, wrong.report_.value))
      return problems_[i];
    if (failure.kind == Kind::exception && wrong.finding_->problem == problems_[i])
      return problems_[i];
    if (failure.kind == Kind::gradient && k < wrong.report_.gradients.size() &&
        !report_.gradients[k].values.empty() &&
        same(report_.gradients[k], wrong.report_.gradients[k]))
      return problems_[i];
  }
  const bool alike = numbers_.empty() || wrong.numbers_.empty()
                         ? finding_->problem == wrong.finding_->problem
                         : std::equal(numbers_.begin(), numbers_.end(), wrong.numbers_.begin(),
                                      wrong.numbers_.end(),
                                      [&](double a, double b) { return near(a, b, tolerance_); });
  return report_.failures.empty() && alike ? std::optional(finding_->problem) : std::nullopt;
}

int64_t broadcast_at(const Shape& own, const Index& i) {
  int64_t at = 0;
  for (int axis = -own.rank(); axis < 0; ++axis)
    at = at * own[axis] + (own[axis] == 1 ? 0 : i[axis]);
  return at;
}

Destination slot_to_add_to(const Destination& to, int64_t size) {
  if (!to.accumulate) std::fill_n(to.data, size, real{0});
  return to;
}

Tensor library_attention(const Tensor& q, const Tensor& k, const Tensor& v, const KeepMask& mask) {
  const auto batch_of_one = [](const Tensor& x) { return x.reshape({1, x.dim(0), x.dim(1)}); };
  AttentionOptions options;
  options.mask = mask;
  return scaled_dot_product_attention(batch_of_one(q), batch_of_one(k), batch_of_one(v), 1, options)
      .reshape({q.dim(0), v.dim(1)});
}

Tensor with_gradient(const Tensor& x, const Tensor& factor) {
  return x.detach() + (x - x.detach()) * factor.detach();
}

Exercise::Exercise(const char* exercise, Answer answer, Grade grader)
    : name(exercise), next(first), answer_(std::move(answer)), grade_(std::move(grader)) {
  first = this;
}

Grader Exercise::graded(uint64_t seed, const Answer& answer) const {
  heed::check(answer.types == answer_.types, "{}: the functions have other types", name);
  Grader g(seed);
  g.run([&](Grader& to) { grade_(to, answer); });
  return g;
}

std::vector<Grader> Exercise::graded_mistakes(uint64_t seed) const {
  std::vector<Grader> all;
  for (const Known& mistake : mistakes_) all.push_back(graded(seed, mistake.answer));
  return all;
}

std::optional<Finding> Exercise::finding_of(const Grader& g,
                                            const std::vector<Grader>& mistakes) const {
  for (size_t i = 0; i < mistakes.size(); ++i)  // a right one has no problem
    if (const auto problem = g.shared_problem(mistakes[i]))
      return Finding{*problem, mistakes_[i].sentence};
  return g.finding();
}

std::optional<Finding> Exercise::grade(uint64_t seed, const Answer& answer) const {
  const Grader g = graded(seed, answer);
  return g.passed() ? std::nullopt : finding_of(g, graded_mistakes(seed));
}

// Returns whether a function is there, and is not that of the library that this one is linked into.
static bool is_learners(Answer::Function function) {
  Dl_info here{}, there{};
  return function && ::dladdr(reinterpret_cast<void*>(function), &there) != 0 &&
         ::dladdr(reinterpret_cast<void*>(is_learners), &here) != 0 &&
         here.dli_fbase != there.dli_fbase;
}

bool Exercise::defined() const {
  return std::all_of(answer_.functions.begin(), answer_.functions.end(), is_learners);
}

bool uses_operation(std::string_view name, const std::function<void()>& run) {
  struct Listener final : Observer {
    std::string_view name;
    bool found = false;
    void op_finished(const char* operation, const Tensor&, std::span<const Tensor>,
                     const Node*) noexcept override {
      found = found || operation == name;
    }
  } listener;
  listener.name = name;
  const ObserverScope here(listener);
  run();
  return listener.found;
}

const Exercise* Exercise::first = nullptr;

}  // namespace heed::course
