// The grader of an exercise: calls the learner's function and says what is wrong with it.
//
// Each exercise has a function grade_NAME(Grader&, pointer to the learner's function), which checks
// rows of the op table (tests/core/op_check.h) and other properties. Sizes and values are fresh for
// every seed. All of it is in double.
//
//   [[gnu::weak]] Tensor square(const Tensor& x);
//
//   void grade_square(Grader& g, Tensor (*square)(const Tensor&)) {
//     const Shape shape{g.size(2, 4), g.size(2, 4)};
//     g.check({.name = fmt::format("square of x {}", shape),
//              .inputs = {shape},
//              .result = shape,
//              .op = [=](Tensors x) { return square(x[0]); },
//              .definition = [](Arrays x, const Index& i) { return x[0](i) * x[0](i); },
//              .arguments = {"x"}},
//             {wrong_value("This is x, not its square.",
//                          [](Arrays x, const Index& i) { return x[0](i); }),
//              wrong_gradient("x", "The derivative of x² is 2 x: the factor 2 is missing.",
//                             [](Arrays x, const Array& dy, const Index& i) {
//                               return dy(i) * x[0](i);
//                             })});
//   }
//   HEED_GRADE(square, square);
//
// The graders of all exercises may be compiled as one file: helpers are lambdas, or have names that
// no other exercise has.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/random.h"
#include "tests/core/op_check.h"

namespace heed::course {

using testing::Array;
using testing::Arrays;
using testing::Index;
using testing::index_of;
using testing::indices;
using testing::OpRow;
using testing::sum_over;
using testing::Tensors;

using Definition = std::function<double(Arrays x, const Index& i)>;  // y[i]
// ∂(Σ dy · y)/∂x[k][i] for one input k
using GradientFormula = std::function<double(Arrays x, const Array& dy, const Index& i)>;

// A known wrong answer and the sentences that name it to the learner.
struct Mistake {
  std::string sentence;
  Definition value;            // of a wrong result
  std::optional<Shape> shape;  // of the wrong result, unless it is the right one
  std::string argument;        // whose gradient is wrong
  GradientFormula gradient;    // the wrong gradient
};
Mistake wrong_value(std::string sentence, Definition value, std::optional<Shape> shape = {});
Mistake wrong_gradient(std::string argument, std::string sentence, GradientFormula gradient);

// A known wrong number.
struct WrongNumber {
  double value;
  std::string sentence;
};

// Something that is wrong, in the learner's terms.
struct Finding {
  std::string
      problem;  // one line: "gradient of x [0, 2]: got 1.5, expected 3 (square of x [2, 3])"
  std::string sentence;  // what it looks like; empty if it looks like no known mistake
};

class Grader {
 public:
  explicit Grader(uint64_t seed);
  uint64_t seed() const { return seed_; }

  // Fresh sizes and values.
  int64_t size(int64_t least, int64_t most);  // uniform in [least, most]
  double number(double low, double high);
  Array array(const Shape& shape, double low, double high);
  Tensor tensor(const Shape& shape, double low, double high);
  Ids ids(const Shape& shape, int64_t n);  // each in [0, n)

  // After the first finding, the functions below do nothing: one thing at a time.

  // Checks all properties of a row. A finding has the sentence of the first mistake that agrees
  // with what the learner's function computed.
  void check(const OpRow& row, const std::vector<Mistake>& mistakes = {});
  // A property that must hold, and what is said if it does not.
  void expect(bool holds, const std::string& problem, const std::string& sentence = {});
  // A number that is called `what`. The tolerance is relative for numbers above 1.
  void expect_near(const std::string& what, double got, double expected,
                   const std::vector<WrongNumber>& mistakes = {}, double tolerance = 1e-6);

  bool passed() const { return !finding_; }
  const std::optional<Finding>& finding() const { return finding_; }

 private:
  uint64_t seed_;
  Random random_;
  std::optional<Finding> finding_;
};

// Runs the grader of an exercise once. Returns what is wrong, or nothing. Exceptions of the
// learner's function are findings, too.
std::optional<Finding> run_grader(uint64_t seed, const std::function<void(Grader& g)>& grade);

// Returns whether `run` calls an operation of this name: an exercise may ask for more than a call
// of it.
bool uses_operation(std::string_view name, const std::function<void()>& run);

// An exercise that is linked into the program: its grader, bound to the learner's functions.
struct Binding {
  const char* exercise;
  void (*grade)(Grader& g);
  bool (*defined)();  // whether the program has the learner's functions
  const Binding* next;
  static const Binding* first;
  Binding(const char* exercise_, void (*grade_)(Grader& g), bool (*defined_)());
};

// Returns whether a function is there, and is not that of the library that this one is linked into.
bool is_learners(void (*function)());
template <class... F>
bool all_learners(void (*)(Grader& g, F...), std::type_identity_t<F>... functions) {
  return (is_learners(reinterpret_cast<void (*)()>(functions)) && ...);
}

}  // namespace heed::course

// HEED_GRADE(NAME, FUNCTION…) binds grade_NAME to the learner's functions. Functions that the
// library does not have are declared [[gnu::weak]] before: only a learner's program defines them.
#define HEED_GRADE(name, ...)                                               \
  static const heed::course::Binding binding_of_##name(                     \
      #name, [](heed::course::Grader& g) { grade_##name(g, __VA_ARGS__); }, \
      [] { return heed::course::all_learners(grade_##name, __VA_ARGS__); })
