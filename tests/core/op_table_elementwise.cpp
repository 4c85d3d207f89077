// The op table: arithmetic, functions of one value, selection, dropout.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "activation_definitions.h"
#include "core/random.h"
#include "core/scope.h"
#include "op_table.h"

namespace heed::inline HEED_REAL::testing {
namespace {

// A binary operation, over all ways in which two shapes can broadcast.
void check_binary(const std::string& name, Tensor (*op)(const Tensor&, const Tensor&),
                  double (*formula)(double, double), double low = -2) {
  struct Pair {
    Shape a, b, result;
  };
  const auto row = [&](const Pair& small, const Pair& large) {
    return OpRow{
        .name = name + fmt::format(": {} with {}", small.a, small.b),
        .inputs = {small.a, small.b},
        .result = small.result,
        .op = [op](Tensors x) { return op(x[0], x[1]); },
        .definition = [formula](Arrays x, const Index& i) { return formula(x[0](i), x[1](i)); },
        .low = low,
        .large = {large.a, large.b},
        .misuses = {MISUSE(op(Tensor::zeros({2, 3}), Tensor::zeros({2})))}};
  };
  check_rows(std::vector<OpRow>{
      row({{2, 3, 5}, {2, 3, 5}, {2, 3, 5}}, {{131, 257}, {131, 257}, {}}),
      row({{3, 19}, {19}, {3, 19}}, {{900, 40}, {40}, {}}),
      row({{19}, {3, 19}, {3, 19}}, {{3, 50}, {230, 3, 50}, {}}),
      row({{3, 4}, {}, {3, 4}}, {{34000}, {}, {}}),
      row({{1}, {3, 4}, {3, 4}}, {{1, 1}, {170, 200}, {}}),
      row({{3, 4}, {3, 1}, {3, 4}}, {{150, 230}, {150, 1}, {}}),
      row({{3, 1}, {1, 4}, {3, 4}}, {{150, 1}, {1, 230}, {}}),
      row({{2, 1, 3}, {4, 1}, {2, 4, 3}}, {{6, 1, 80, 20}, {6, 4, 1, 20}, {}}),
      row({{}, {}, {}}, {{2, 20000}, {2, 1}, {}}),
  });
}

// A function of one value.
void check_unary(const std::string& name, const std::function<Tensor(const Tensor&)>& op,
                 const std::function<double(double)>& formula, double low = -4, double high = 4) {
  check_rows(std::vector<OpRow>{
      {.name = name,
       .inputs = {{3, 37}},
       .result = {3, 37},
       .op = [op](Tensors x) { return op(x[0]); },
       .definition = [formula](Arrays x, const Index& i) { return formula(x[0](i)); },
       .low = low,
       .high = high,
       .large = {{37, 1100}}},
      {.name = name + ": a scalar",
       .inputs = {{}},
       .result = {},
       .op = [op](Tensors x) { return op(x[0]); },
       .definition = [formula](Arrays x, const Index& i) { return formula(x[0](i)); },
       .low = low,
       .high = high},
  });
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

TEST_CASE("op table: add, sub, mul, div") {
  check_binary("add", add, [](double a, double b) { return a + b; });
  check_binary("sub", sub, [](double a, double b) { return a - b; });
  check_binary("mul", mul, [](double a, double b) { return a * b; });
  check_binary(
      "div", div, [](double a, double b) { return a / b; }, 0.4);
  check_unary(
      "add: a scalar", [](const Tensor& x) { return add(x, 2.5); },
      [](double x) { return x + 2.5; });
  const auto check_operator = [](const char* name, Tensor (*op)(const Tensor&),
                                 double (*formula)(double)) {
    check_unary(name, op, formula, 0.4);
  };
  check_operator(
      "add: x + 2", [](const Tensor& x) { return x + 2; }, [](double x) { return x + 2; });
  check_operator(
      "add: 1e-5 + x", [](const Tensor& x) { return 1e-5 + x; }, [](double x) { return 1e-5 + x; });
  check_operator(
      "add: x - 0.5", [](const Tensor& x) { return x - 0.5; }, [](double x) { return x - 0.5; });
  check_operator(
      "sub: 2 - x", [](const Tensor& x) { return 2 - x; }, [](double x) { return 2 - x; });
  check_operator(
      "mul: x * 2", [](const Tensor& x) { return x * 2; }, [](double x) { return x * 2; });
  check_operator(
      "mul: 2 * x", [](const Tensor& x) { return 2 * x; }, [](double x) { return 2 * x; });
  check_operator(
      "div: x / 3", [](const Tensor& x) { return x / 3; }, [](double x) { return x / 3; });
  check_operator(
      "div: 1 / x", [](const Tensor& x) { return 1 / x; }, [](double x) { return 1 / x; });
  check_operator(
      "neg: -x", [](const Tensor& x) { return -x; }, [](double x) { return -x; });
  check_unary(
      "mul: by a scalar", [](const Tensor& x) { return mul(x, -1.5); },
      [](double x) { return -1.5 * x; });
}

TEST_CASE("op table: functions of one value") {
  check_unary("neg", neg, [](double x) { return -x; });
  check_unary("exp", exp, [](double x) { return std::exp(x); });
  check_unary(
      "log", log, [](double x) { return std::log(x); }, 0.2);
  check_unary(
      "sqrt", sqrt, [](double x) { return std::sqrt(x); }, 0.2);
  for (const double e : {-1.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0})
    check_unary(
        fmt::format("pow: {}", e), [e](const Tensor& x) { return pow(x, static_cast<real>(e)); },
        [e](double x) { return std::pow(x, e); }, 0.4, 2);
  check_unary(
      "pow: 2 of any sign", [](const Tensor& x) { return pow(x, 2); },
      [](double x) { return x * x; });
  check_unary("tanh", tanh, [](double x) { return std::tanh(x); });
  check_unary("sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); });
  check_unary("relu", relu, [](double x) { return x > 0 ? x : 0; });
  check_unary(
      "gelu", [](const Tensor& x) { return gelu(x); },
      [](double x) { return x * normal_below(x); });
  check_unary(
      "gelu_tanh", [](const Tensor& x) { return gelu_tanh(x); },
      [](double x) {
        const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
        return 0.5 * x * (1 + std::tanh(u));
      });
  check_unary("silu", silu, [](double x) { return x / (1 + std::exp(-x)); });
}

TEST_CASE("op table: every activation of core/activation.h") {
  for (const ActivationDefinition& a : definitions::all)
    check_unary(
        a.name, [&](const Tensor& x) { return activate(a.function, x); }, a.value);
  CHECK(std::size(activation_names) == std::size(definitions::all) + 1);
  const Tensor x = Tensor::scalar(2);
  CHECK(activate(Activation::none, x).same_as(x));
}

// Zeros and ones.
Ids condition(const Shape& shape) {
  Ids ids = Ids::empty(shape);
  Random random(7, Purpose::test);
  for (int64_t i = 0; i < shape.size(); ++i)
    ids.mutable_data()[i] = static_cast<int32_t>(random.below(2));
  return ids;
}

double at(const Ids& ids, const Index& i) {
  Array array{ids.shape(), {}};
  for (int64_t k = 0; k < ids.size(); ++k) array.values.push_back(ids[k]);
  return array(i);
}

TEST_CASE("op table: where, masked_fill") {
  const auto where_row = [](const Shape& a, const Shape& b, const Shape& result, const Ids& c) {
    return OpRow{
        .name = fmt::format("where: {} or {}", a, b),
        .inputs = {a, b},
        .result = result,
        .op = [=](Tensors x) { return where(c, x[0], x[1]); },
        .definition = [=](Arrays x, const Index& i) { return at(c, i) != 0 ? x[0](i) : x[1](i); },
        .misuses = {MISUSE(where(c, Tensor::zeros({3, 5}), Tensor::zeros({2, 5})))}};
  };
  OpRow large = where_row({2, 3}, {2, 3}, {2, 3}, condition({2, 3}));
  large.large = {{100, 2, 3}, {100, 2, 3}};
  OpRow shared = where_row({2, 3}, {}, {4, 2, 3}, condition({4, 1, 3}));
  shared.large = {{300, 4, 2, 3}, {300, 1, 1, 1}};
  OpRow long_rows = where_row({4, 1}, {1, 7}, {4, 7}, condition({7}));
  long_rows.large = {{5000, 1}, {1, 7}};
  check_rows(std::vector<OpRow>{large, shared, long_rows});

  const Ids hidden = condition({3, 1, 6});
  check_rows(std::vector<OpRow>{
      {.name = "masked_fill",
       .inputs = {{3, 2, 6}},
       .result = {3, 2, 6},
       .op = [=](Tensors x) { return masked_fill(x[0], hidden, -9); },
       .definition = [=](Arrays x, const Index& i) { return at(hidden, i) != 0 ? -9.0 : x[0](i); },
       .large = {{500, 3, 5, 6}},
       .misuses = {MISUSE(masked_fill(Tensor::zeros({2, 6}), hidden, 0)),
                   MISUSE(masked_fill(Tensor::zeros({1, 6}), hidden, 0))}},
  });
}

TEST_CASE("op table: dropout") {
  constexpr double p = 0.3;
  const auto drop = [](Tensors x) {
    ScopeGuard here;
    here->training = true;
    here->seed = 5;
    here->step = 2;
    here->micro_batch = 1;
    here->calls = 4;
    return dropout(x[0], p);
  };
  const auto kept = [](Arrays x, const Index& i) {
    int64_t element = 0;
    for (int a = 0; a < i.rank; ++a) element = element * x[0].shape[a] + i[a];
    const auto word = static_cast<uint64_t>(element);
    const uint32_t bits = StreamKey(5, Purpose::dropout, 2, 1, 4).block(word / 4)[word % 4];
    return bits < static_cast<uint32_t>(p * 0x1p32) ? 0 : x[0](i) / (1 - p);
  };
  check_rows(std::vector<OpRow>{{.name = "dropout",
                                 .inputs = {{5, 11}},
                                 .result = {5, 11},
                                 .op = drop,
                                 .definition = kept,
                                 .large = {{7, 9001}},
                                 .misuses = {MISUSE(dropout(Tensor::zeros({2}), 1)),
                                             MISUSE(dropout(Tensor::zeros({2}), -0.1))}}});
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
