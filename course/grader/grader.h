// The grader of an exercise: calls the learner's function and says what is wrong with it.
//
// Each exercise has a function grade_NAME(Grader&, pointer to the learner's function), which checks
// rows of the op table (core/gradcheck/op_check.h) and other properties, and a table of wrong
// answers. Sizes and values are fresh for every seed. All of it is in double.
//
//   [[gnu::weak]] Tensor square(const Tensor& x);
//
//   void grade_square(Grader& g, decltype(&square) answer) {
//     const Shape shape{g.size(2, 4), g.size(2, 4)};
//     g.check({.name = fmt::format("square of x {}", shape),
//              .inputs = {shape},
//              .result = shape,
//              .op = [=](Tensors x) { return answer(x[0]); },
//              .definition = [](Arrays x, const Index& i) { return x[0](i) * x[0](i); },
//              .arguments = {"x"}});
//   }
//   const Exercise square_exercise(
//       "square", grade_square, {square},
//       {{"This is x, not its square.", [](const Tensor& x) { return 1 * x; }},
//        {"The derivative of x² is 2 x: the factor 2 is missing.",
//         [](const Tensor& x) { return x * x.detach(); }}});
//
// tests/course/exercises checks that the sentence of each wrong answer is said of it, with every
// seed. So no two of them are alike, and none passes.
//
// The graders of all exercises may be compiled as one file: helpers are lambdas, or have names that
// no other exercise has.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "core/gradcheck/op_check.h"
#include "core/ops.h"
#include "core/random.h"

namespace heed::course {

using testing::Array;
using testing::Arrays;
using testing::Index;
using testing::index_of;
using testing::indices;
using testing::OpRow;
using testing::sum_over;

// Numbers that the learner's function computed.
struct Numbers {
  std::function<std::string(size_t i)> what;  // what number i is
  std::vector<double> got, expected;
  std::string context = {};   // said after the first number that is wrong
  std::string sentence = {};  // what that looks like, if it looks like no wrong answer
  double tolerance = 1e-9;    // relative above 1
};

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

  // Checks all properties of a row.
  void check(const OpRow& row);
  void check(const Numbers& numbers);
  // A property that must hold, and what is said if it does not.
  void expect(bool holds, const std::string& problem, const std::string& sentence = {});
  // A number that is called `what`. The tolerance is relative for numbers above 1.
  void expect_near(const std::string& what, double got, double expected,
                   const std::vector<WrongNumber>& mistakes = {}, double tolerance = 1e-6);

  // Whether the learner of an exercise that has a wrong line has found it.
  void expect_line(int line, int wrong_line);

  bool passed() const { return !finding_; }
  const std::optional<Finding>& finding() const { return finding_; }
  // Grades with this function. An exception that it throws is a finding, too.
  void run(const std::function<void(Grader& g)>& grade);

  // The problem of which a wrong answer, graded with the same seed, has the same numbers: its
  // value, one of its gradients, or what an expectation says of it.
  std::optional<std::string> shared_problem(const Grader& wrong) const;

 private:
  uint64_t seed_;
  Random random_;
  std::optional<Finding> finding_;
  // Of the check with the finding:
  int checks_ = 0;  // its number
  testing::RowReport report_;
  std::vector<std::string> problems_;  // of the failures in the report
  std::vector<double> numbers_;
  double tolerance_ = 0;  // of these numbers
};

// Returns whether `run` calls an operation of this name: an exercise may ask for more than a call
// of it.
bool uses_operation(std::string_view name, const std::function<void()>& run);

// The functions of an answer, whatever their types.
struct Answer {
  using Function = void (*)();
  std::vector<Function> functions;
  std::vector<std::type_index> types;

  template <class... F>
  static Answer of(F... function) {
    return {{reinterpret_cast<Function>(function)...}, {typeid(F)...}};
  }
};

// A known wrong answer, and the sentence that names it to the learner. In a learner's program it
// must not call the function that it stands for, nor one of the library that calls it. Without a
// sentence it is the right answer that the others change.
template <class... F>
struct WrongAnswer {
  std::string sentence;
  std::tuple<F...> functions;
};

// For wrong answers: where broadcasting reads the element i of the whole in a tensor of shape
// `own`.
int64_t broadcast_at(const Shape& own, const Index& i);
// A slot to add to: its elements are 0, unless another gradient is there.
Destination slot_to_add_to(const Destination& to, int64_t size);
// The library's attention of one head.   q (Tq, K), k (Tk, K), v (Tk, V) → (Tq, V)
Tensor library_attention(const Tensor& q, const Tensor& k, const Tensor& v, const KeepMask& mask);
// Has the values of x, and a gradient that is multiplied by `factor`.
Tensor with_gradient(const Tensor& x, const Tensor& factor);

// An exercise that is linked into the program.
class Exercise {
 public:
  // `answer`: the functions of the program, null where it has none. Those that the library does not
  // have are declared [[gnu::weak]] before: only a learner's program defines them.
  template <class... F>
  Exercise(const char* exercise, void (*grader)(Grader& g, F...),
           const std::type_identity_t<std::tuple<F...>>& answer,
           const std::type_identity_t<std::vector<WrongAnswer<F...>>>& known = {})
      : Exercise(exercise, erased(answer), [grader](Grader& g, const Answer& of) {
          call(grader, g, of, std::index_sequence_for<F...>());
        }) {
    for (const WrongAnswer<F...>& mistake : known)
      mistakes_.push_back({mistake.sentence, erased(mistake.functions)});
  }

  const char* const name;
  bool defined() const;  // whether the program has the learner's functions
  std::optional<Finding> grade(uint64_t seed) const { return grade(seed, answer_); }

  // Returns what is wrong with an answer, or nothing. Exceptions of its functions are findings,
  // too. It is graded as each of the wrong answers is, with the same sizes and values: the first
  // one that fails the same check with the same numbers names it.
  std::optional<Finding> grade(uint64_t seed, const Answer& answer) const;
  // The steps of that.
  Grader graded(uint64_t seed, const Answer& answer) const;
  std::vector<Grader> graded_mistakes(uint64_t seed) const;
  std::optional<Finding> finding_of(const Grader& g, const std::vector<Grader>& mistakes) const;

  struct Known {
    std::string sentence;
    Answer answer;
  };
  const std::vector<Known>& mistakes() const { return mistakes_; }

  static const Exercise* first;
  const Exercise* const next;

 private:
  using Grade = std::function<void(Grader& g, const Answer& answer)>;

  Exercise(const char* exercise, Answer answer, Grade grader);
  template <class... F>
  static Answer erased(const std::tuple<F...>& functions) {
    return std::apply([](auto... function) { return Answer::of(function...); }, functions);
  }
  template <class... F, size_t... k>
  static void call(void (*grader)(Grader& g, F...), Grader& g, const Answer& answer,
                   std::index_sequence<k...>) {
    grader(g, reinterpret_cast<F>(answer.functions[k])...);
  }

  Answer answer_;
  std::vector<Known> mistakes_;
  Grade grade_;
};

}  // namespace heed::course

// HEED_GRADE(NAME, FUNCTION…) is an exercise without known wrong answers.
#define HEED_GRADE(name, ...) \
  static const heed::course::Exercise exercise_##name(#name, grade_##name, {__VA_ARGS__})
