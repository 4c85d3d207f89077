// The harness of the op table, checked with operations that are wrong on purpose: each must be
// reported, and their correct counterparts must not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "checks.h"
#include "core/autograd.h"
#include "core/gradcheck/op_check.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "values.h"

namespace heed::inline HEED_REAL::testing {
namespace {

// The report on a row, as one text; empty if all checks pass.
std::string report(const OpRow& row) {
  std::string text;
  for (const Failure& failure : check_row(row).failures) text += failure.text + '\n';
  return text;
}

void put(Destination to, int64_t i, real value) {
  if (to.accumulate)
    to.data[i] += value;
  else
    to.data[i] = value;
}

// y = a · b, element by element; `fault` names what is wrong with backward.
OpRow product(const std::string& fault) {
  const auto op = [fault](Tensors x) {
    const Tensor a = x[0], b = x[1];
    Tensor y = Tensor::empty(a.shape());
    for (int64_t i = 0; i < a.size(); ++i) y.mutable_data()[i] = a.data()[i] * b.data()[i];
    const real* raw_b = b.data();
    return record("product", y, {a, b}, [fault, as = Saved(a), bs = Saved(b), raw_b](Backward& g) {
      const auto give = [&](int input, const real* other) {
        Destination to = g.into(input);
        if (fault == "overwrite") to.accumulate = false;
        for (int64_t i = 0; i < g.size(); ++i) {
          real value = g.dy()[i] * other[i];
          if (fault == "sign") value = -value;
          if (fault == "scale") value *= 2;
          if (fault == "cotangent of ones") value = other[i];
          if (fault == "a little") value *= real{1.0001};
          put(to, i, value);
        }
      };
      if (g.wants(0)) give(0, fault == "stale input" ? raw_b : bs.data());
      if (g.wants(1) && !(fault == "forgets a frozen input" && !g.wants(0)))
        give(1, as.data());
      else if (g.wants(1))
        std::fill_n(g.into(1).data, g.size(), real{0});
    });
  };
  return {.name = "product",
          .inputs = {{6}, {6}},
          .result = {6},
          .op = op,
          .definition = [](Arrays x, const Index& i) { return x[0](i) * x[1](i); }};
}

TEST_CASE("the harness finds faults of a product") {
  CHECK(report(product("none")) == "");
  CHECK_CONTAINS(report(product("sign")), "product: gradient of input 0 [0]: got");
  CHECK_CONTAINS(report(product("scale")), "product: gradient of input 0 [0]: got");
  CHECK_CONTAINS(report(product("a little")), "gradient of input");
  CHECK_CONTAINS(report(product("cotangent of ones")), "gradient of input 0");
  CHECK_CONTAINS(report(product("overwrite")), "gradient of input 0 after two losses");
  CHECK_CONTAINS(report(product("stale input")), "gradient of input 0 when input 1 is changed");
  CHECK_CONTAINS(report(product("forgets a frozen input")),
                 "gradient of input 1 when only input 1 requires one");
}

// y[n, o] = Σᵢ x[n, i] w[o, i] + b[o], with square shapes, so that a transposed gradient fits.
OpRow layer(const std::string& fault) {
  constexpr int64_t n = 4;
  const auto op = [fault](Tensors inputs) {
    const Tensor x = inputs[0], w = inputs[1], b = inputs[2];
    Tensor y = Tensor::empty({n, n});
    for (int64_t r = 0; r < n; ++r)
      for (int64_t o = 0; o < n; ++o) {
        real total = b.data()[o];
        for (int64_t i = 0; i < n; ++i) total += x.data()[r * n + i] * w.data()[o * n + i];
        y.mutable_data()[r * n + o] = total;
      }
    return record("layer", y, {x, w, b}, [fault, xs = Saved(x), ws = Saved(w)](Backward& g) {
      const real* dy = g.dy();
      const bool transposed = fault == "transpose";
      for (int input = 0; input < 2; ++input) {
        if (!g.wants(input)) continue;
        const Destination to = g.into(input);
        for (int64_t r = 0; r < n; ++r)
          for (int64_t i = 0; i < n; ++i) {
            real total = 0;
            for (int64_t k = 0; k < n; ++k)
              total += input == 0 ? dy[r * n + k] * ws.data()[k * n + i]
                                  : dy[k * n + r] * xs.data()[k * n + i];
            put(to, input == 1 && transposed ? i * n + r : r * n + i, total);
          }
      }
      if (!g.wants(2)) return;
      const Destination to = g.into(2);
      for (int64_t o = 0; o < n; ++o) {
        real total = 0;
        for (int64_t r = 0; r < (fault == "unsummed broadcast" ? 1 : n); ++r)
          total += fault == "wrong axis" ? dy[o * n + r] : dy[r * n + o];
        put(to, o, total);
      }
    });
  };
  return {.name = "layer",
          .inputs = {{n, n}, {n, n}, {n}},
          .result = {n, n},
          .op = op,
          .definition = [](Arrays x, const Index& i) {
            double total = x[2].values[static_cast<size_t>(i[1])];
            for (int64_t k = 0; k < n; ++k)
              total += x[0](i.with(1, k)) * x[1](i.with(0, i[1]).with(1, k));
            return total;
          }};
}

TEST_CASE("the harness finds faults of a layer") {
  CHECK(report(layer("none")) == "");
  CHECK_CONTAINS(report(layer("transpose")), "layer: gradient of input 1 [");
  CHECK_CONTAINS(report(layer("unsummed broadcast")), "layer: gradient of input 2 [0]: got");
  CHECK_CONTAINS(report(layer("wrong axis")), "layer: gradient of input 2 [0]: got");
}

// y = softmax(x) over rows, with the first column hidden: y = 0 there.
OpRow hidden_softmax(const std::string& fault) {
  constexpr int64_t rows = 3, width = 4;
  const auto op = [fault](Tensors inputs) {
    const Tensor x = inputs[0];
    Tensor y = Tensor::zeros({rows, width});
    for (int64_t r = 0; r < rows; ++r) {
      const real* row = x.data() + r * width;
      real total = 0;
      for (int64_t i = 1; i < width; ++i) total += std::exp(row[i]);
      for (int64_t i = 1; i < width; ++i)
        y.mutable_data()[r * width + i] = std::exp(row[i]) / total;
    }
    return record("hidden_softmax", y, {x}, [fault, ys = Saved(y)](Backward& g) {
      const Destination to = g.into(0);
      const int64_t off = fault == "row off by one" ? 1 : 0;
      for (int64_t r = 0; r < rows; ++r) {
        const real *dy = g.dy() + (r + off) % rows * width, *p = ys.data() + r * width;
        real dot = 0;
        for (int64_t i = 0; i < width && fault != "missing term"; ++i) dot += dy[i] * p[i];
        for (int64_t i = 0; i < width; ++i)
          put(to, r * width + i, i == 0 && fault == "lost mask" ? dy[i] : p[i] * (dy[i] - dot));
      }
    });
  };
  return {.name = "hidden_softmax",
          .inputs = {{rows, width}},
          .result = {rows, width},
          .op = op,
          .definition = [](Arrays x, const Index& i) {
            double total = 0;
            for (int64_t k = 1; k < width; ++k) total += std::exp(x[0](i.with(1, k)));
            return i[1] == 0 ? 0 : std::exp(x[0](i)) / total;
          }};
}

TEST_CASE("the harness finds faults of a softmax") {
  CHECK(report(hidden_softmax("none")) == "");
  CHECK_CONTAINS(report(hidden_softmax("lost mask")), "gradient of input 0 [0, 0]: got");
  CHECK_CONTAINS(report(hidden_softmax("missing term")), "gradient of input 0 [0, 1]: got");
  CHECK_CONTAINS(report(hidden_softmax("row off by one")), "gradient of input 0");
}

// y = x, with faults that are not in the gradient.
OpRow same(const std::string& fault) {
  const auto op = [fault](Tensors x) {
    static std::vector<Tensor> kept;
    Tensor y = x[0].clone();
    if (fault == "value") y.mutable_data()[2] += real{0.01};
    if (fault == "shape") y = y.reshape({y.size(), 1});
    if (fault == "threads") y.mutable_data()[0] += static_cast<real>(1e-9 * thread_count());
    if (fault == "leak" && kept.size() < 3) kept.push_back(y.clone());
    if (fault == "history without need") {
      Tensor other = Tensor::zeros(y.shape());
      other.set_requires_grad();
      return record("same", y, {x[0], other}, [](Backward& g) {
        if (g.wants(0)) g.pass(0);
        if (g.wants(1)) g.pass(1);
      });
    }
    return record("same", y, {x[0]}, [](Backward& g) { g.pass(0); });
  };
  OpRow row{.name = "same",
            .inputs = {{5}},
            .result = {5},
            .op = op,
            .definition = [](Arrays x, const Index& i) { return x[0](i); }};
  if (fault == "threads") row.values = {{0, 0, 0, 0, 0}}, row.large = {{5}}, row.low = row.high = 0;
  if (fault == "no error") row.misuses = {[] {}};
  if (fault == "nameless error") row.misuses = {[] { check(false, "something is wrong"); }};
  return row;
}

TEST_CASE("the harness finds faults outside the gradient") {
  CHECK(report(same("none")) == "");
  CHECK_CONTAINS(report(same("value")), "same: value [2]: got");
  CHECK_CONTAINS(report(same("shape")), "the result has shape [5, 1], expected [5]");
  CHECK_CONTAINS(report(same("threads")), "value with 2 threads [0]");
  CHECK_CONTAINS(report(same("leak")), "bytes are still allocated");
  CHECK_CONTAINS(report(same("history without need")), "remembers how it was made");
  CHECK_CONTAINS(report(same("no error")), "a misuse did not throw");
  CHECK_CONTAINS(report(same("nameless error")), "does not begin with the operation's name");
}

TEST_CASE("the harness allows a nearly constant operation the rounding errors of its value") {
  const OpRow row{.name = "nearly_constant",
                  .inputs = {{5}},
                  .result = {5},
                  .op = [](Tensors x) { return add(mul(x[0], real(1e-6)), real(1e4)); },
                  .definition = [](Arrays x, const Index& i) { return 1e4 + 1e-6 * x[0](i); },
                  .large = {{5}}};
  CHECK(report(row) == "");
}

// tanh(a) b, whose backward gives b `factor` times its gradient.
Tensor scaled_product(Tensors x, real factor) {
  const Tensor a = tanh(x[0]), b = x[1];
  return record("scaled_product", (a * b).detach(), {a, b},
                [factor, as = Saved(a), bs = Saved(b)](Backward& g) {
                  for (const int input : {0, 1}) {
                    if (!g.wants(input)) continue;
                    const Destination to = g.into(input);
                    for (int64_t i = 0; i < g.size(); ++i)
                      put(to, i, g.dy()[i] * (input == 0 ? bs.data()[i] : factor * as.data()[i]));
                  }
                });
}

TEST_CASE("gradcheck: accepts right gradients and names the first wrong element") {
  const std::vector<Tensor> inputs{Tensor::from({2}, {1, -2}), Tensor::from({2}, {3, 0.5})};
  gradcheck([](Tensors x) { return scaled_product(x, 1); }, inputs);
  const auto wrong = [](Tensors x) { return scaled_product(x, real{1.5}); };
  const std::string text = thrown<Error>([&] { gradcheck(wrong, inputs); });
  CHECK_CONTAINS(text, "gradcheck: gradient of input 1 [0]: got ");
  CHECK_CONTAINS(text, ", expected ");
  gradcheck(wrong, inputs, {.tolerance = 1});
  CHECK(thrown<Error>([&] { gradcheck(wrong, {}); }) == "gradcheck: there is no input");
}

TEST_CASE("gradcheck: a function may have parameters, which it leaves as they were but for grad") {
  Tensor w = drawn({3, 2}, 0).set_requires_grad();
  const std::vector<real> before = elements(w);
  gradcheck([&](Tensors x) { return gelu(matmul(x[0], w)); }, {drawn({4, 3}, 1)});
  CHECK(elements(w) == before);
  CHECK(thrown<Error>([&] { gradcheck([&](Tensors x) { return mul(x[0].detach(), w); }, {w}); }) ==
        "gradcheck: gradient of input 0: 0 values, expected 6");
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
