#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>

#include "course/exercises/tape/tape.h"

namespace heed::course {

[[gnu::weak]] std::vector<double> gradients(const std::vector<TapeStep>& tape,
                                            const std::vector<double>& x);

namespace {
namespace tape_answers {

using Steps = std::vector<TapeStep>;
using Operation = TapeStep::Operation;
constexpr auto add = Operation::add, multiply = Operation::multiply, tanh = Operation::tanh;

// Appends the results of the steps to the inputs.
std::vector<double> run(const Steps& tape, std::vector<double> x) {
  for (const auto& [operation, a, b] : tape)
    x.push_back(operation == add        ? x[a] + x[b]
                : operation == multiply ? x[a] * x[b]
                                        : std::tanh(x[a]));
  return x;
}

// Returns the derivative of the last number by number i, forward: how each later number changes.
double derivative(const Steps& tape, const std::vector<double>& x, size_t i) {
  std::vector<double> change(x.size());
  const size_t inputs = x.size() - tape.size();
  for (size_t n = 0; n < x.size(); ++n) {
    if (n >= inputs) {
      const auto& [operation, a, b] = tape[n - inputs];
      change[n] = operation == add        ? change[a] + change[b]
                  : operation == multiply ? change[a] * x[b] + x[a] * change[b]
                                          : change[a] * (1 - x[n] * x[n]);
    }
    if (n == i) change[n] = 1;
  }
  return change.back();
}

// The solution, and what may go wrong.
struct Walk {
  bool forward = false, assigns = false, by_input = false, no_chain = false;
  bool own_factor = false, one_argument = false, halves = false;
};

template <Walk walk>
std::vector<double> walked(const Steps& tape, const std::vector<double>& x) {
  std::vector<double> dx(x.size());
  dx.back() = 1;
  const size_t inputs = x.size() - tape.size();
  for (size_t i = 0; i < tape.size(); ++i) {
    const size_t k = walk.forward ? i : tape.size() - 1 - i;
    const Operation operation = tape[k].operation;
    const size_t a = tape[k].a, b = tape[k].b;
    const double y = walk.by_input ? x[a] : x[inputs + k], dy = walk.no_chain ? 1 : dx[inputs + k];
    const auto give = [&](size_t n, double gradient) {
      dx[n] = (walk.assigns ? 0 : dx[n]) + gradient;
    };
    if (operation == tanh) {
      give(a, dy * (walk.halves ? 1 - y : 1 - y * y));
      continue;
    }
    const bool sum = operation == add;
    give(a, dy * (sum ? 1 : x[walk.own_factor ? a : b]));
    if (!walk.one_argument || a != b) give(b, dy * (sum ? 1 : x[walk.own_factor ? b : a]));
  }
  return dx;
}

}  // namespace tape_answers
}  // namespace

void grade_tape(Grader& g, decltype(&gradients) answer) {
  using namespace tape_answers;
  const auto check = [&](const char* name, const Steps& tape, const std::vector<double>& inputs) {
    if (!g.passed()) return;
    const std::vector<double> x = run(tape, inputs);
    const std::vector<double> got = answer(tape, x);
    g.expect(got.size() == x.size(),
             fmt::format("{}: expected {} gradients, got {}", name, x.size(), got.size()));
    if (!g.passed()) return;
    std::vector<double> expected;
    for (size_t i = 0; i < x.size(); ++i) expected.push_back(derivative(tape, x, i));
    const bool all_zero = std::ranges::all_of(got, [](double d) { return d == 0; });
    g.check(Numbers{.what = [&](size_t i) { return fmt::format("gradient of number {}", i); },
                    .got = got,
                    .expected = expected,
                    .context = name,
                    .sentence = all_zero ? "Every element is 0: nothing is computed yet. Begin "
                                           "with the gradient of the loss by itself, 1."
                                         : ""});
  };
  const auto number = [&] { return g.number(0.5, 1.5); };
  // Numbers 0 to 3 are inputs, of which the last is not used. 4 and 6 are used twice, 5 is a
  // square.
  check("a tape of 7 steps",
        {{add, 0, 1},
         {multiply, 4, 4},
         {multiply, 5, 2},
         {tanh, 6, 0},
         {add, 7, 4},
         {tanh, 8, 0},
         {multiply, 9, 6}},
        {-number(), 2 + number(), -number(), number()});
  check("no step", {}, {number()});
  Steps chain;
  for (size_t n = 0; n < 6; ++n) chain.push_back({n % 2 == 0 ? tanh : multiply, n, 0});
  check("a chain", chain, {number()});
  // Numbers in an order of their own, some of them without a use.
  Steps random;
  std::vector<double> inputs{number(), number(), number()};
  for (size_t n = 3; n < 12; ++n) {
    const auto earlier = [&] {
      return static_cast<size_t>(g.size(0, static_cast<int64_t>(n) - 1));
    };
    const size_t a = earlier(), b = earlier();
    random.push_back({static_cast<Operation>(g.size(0, 2)), a, b});
  }
  check("a random tape", random, inputs);
}

namespace {
namespace tape_answers {

const Exercise tape_exercise(
    "tape", grade_tape, {gradients},
    {{"", walked<Walk{}>},
     {"The tape is walked from its beginning. A step passes on a gradient that later steps have "
      "not given it yet: begin at the end.",
      walked<Walk{.forward = true}>},
     {"A number that is used several times keeps only one part of its gradient: add with +=.",
      walked<Walk{.assigns = true}>},
     {"In multiply(2, 2) one number is both factors. It gets a part for each.",
      walked<Walk{.one_argument = true}>},
     {"The derivative of a · b by a is b, and by b it is a: the factors are exchanged.",
      walked<Walk{.own_factor = true}>},
     {"The derivative of tanh is 1 - y² with its result y; here it is computed from its argument.",
      walked<Walk{.by_input = true}>},
     {"The derivative of tanh is 1 - y², not 1 - y.", walked<Walk{.halves = true}>},
     {"These are the derivatives of each step alone. Multiply them by the gradient of its result: "
      "that is the chain rule.",
      walked<Walk{.no_chain = true}>},
     {"The walk begins with the loss itself, not with 1: that is the gradient of L²/2.",
      [](const Steps& tape, const std::vector<double>& x) {
        std::vector<double> dx = walked<Walk{}>(tape, x);
        for (double& d : dx) d *= x.back();
        return dx;
      }},
     {"Only the inputs have gradients. Keep those of the results as well.",
      [](const Steps& tape, const std::vector<double>& x) {
        std::vector<double> dx = walked<Walk{}>(tape, x);
        std::fill(dx.end() - std::ssize(tape), dx.end(), 0);
        return dx;
      }}});

}  // namespace tape_answers
}  // namespace
}  // namespace heed::course
