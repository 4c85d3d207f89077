// The graph: order, sharing, release, errors.
#include "core/autograd.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "checks.h"
#include "core/anomaly.h"
#include "core/ops.h"
#include "core/pool.h"
#include "core/precision.h"
#include "values.h"

namespace heed::inline HEED_REAL {
namespace {

Tensor leaf(const Shape& shape, std::initializer_list<real> values) {
  Tensor x = Tensor::from(shape, values);
  x.set_requires_grad();
  return x;
}

TEST_CASE("backward: the node of a diamond runs once, when its gradient is complete") {
  Tensor x = leaf({2}, {2, 3});
  const Tensor a = x * x, b = exp(mul(a, real{0.1})), c = a + b, d = a * c;
  backward(sum(d));
  for (int i = 0; i < 2; ++i) {
    const real v = x.data()[i], s = v * v, e = std::exp(s / 10);
    CHECK(x.grad().data()[i] == doctest::Approx((2 * s + e + s * e / 10) * 2 * v));
  }
}

TEST_CASE("backward: one tensor is the input of several operations, and both inputs of one") {
  Tensor x = leaf({2}, {2, 3});
  backward(sum((x + x) * x - x));
  CHECK(elements(x.grad()) == std::vector<real>{7, 11});
}

TEST_CASE("backward: a shared gradient is not modified") {
  Tensor x = leaf({2}, {2, 3});
  const Tensor y = mul(x, 2);
  const Tensor left = add(y, 1), right = add(y, 5);  // both pass their gradient on
  backward(sum(left + right * y));
  CHECK(elements(x.grad()) == std::vector<real>{2 * (1 + 4 + 9), 2 * (1 + 6 + 11)});
}

TEST_CASE("backward: reshaped tensors share the gradient") {
  Tensor x = leaf({2, 3}, {1, 2, 3, 4, 5, 6});
  backward(sum(x.reshape({6}) * Tensor::from({6}, {1, 2, 3, 4, 5, 6})));
  CHECK(x.grad().shape() == Shape{2, 3});
  CHECK(elements(x.grad()) == std::vector<real>{1, 2, 3, 4, 5, 6});

  x.clear_grad();
  const Tensor y = x * x;
  backward(sum(y.reshape({3, 2})) + sum(y));
  CHECK(elements(x.grad()) == std::vector<real>{4, 8, 12, 16, 20, 24});
}

TEST_CASE("backward: from any tensor, with a cotangent") {
  Tensor x = leaf({2}, {2, 3});
  const Tensor y = x * x;
  CHECK_CONTAINS(thrown<Error>([&] { backward(y); }), "needs a loss of one element");
  CHECK_CONTAINS(thrown<Error>([&] { backward(y, Tensor::zeros({3})); }),
                 "the cotangent has shape [3]");
  backward(y, Tensor::from({2}, {10, 100}));
  CHECK(elements(x.grad()) == std::vector<real>{40, 600});
  backward(x, Tensor::from({2}, {1, 1}));  // a leaf is a graph too
  CHECK(elements(x.grad()) == std::vector<real>{41, 601});
  CHECK_CONTAINS(thrown<Error>([&] { backward(sum(Tensor::zeros({2}))); }),
                 "depends on none that requires a gradient");
}

TEST_CASE("backward: a second backward is an error") {
  Tensor x = leaf({2}, {2, 3});
  const Tensor middle = x * x, loss = sum(middle), other = sum(exp(middle));
  backward(loss);
  CHECK_CONTAINS(thrown<Error>([&] { backward(loss); }), "has been run and released");
  CHECK_CONTAINS(thrown<Error>([&] { backward(other); }),
                 "has been run and released");  // the middle
  CHECK(elements(x.grad()) == std::vector<real>{4, 6});
  backward(sum(x * x));  // a new graph is independent
  CHECK(elements(x.grad()) == std::vector<real>{8, 12});
}

TEST_CASE("backward: a change of a saved tensor is an error") {
  Tensor x = leaf({2}, {2, 3});
  const Tensor loss = sum(x * x);
  x.mutable_data()[0] = 5;
  CHECK_CONTAINS(thrown<Error>([&] { backward(loss); }),
                 "backward of mul: a tensor of shape [2] that backward needs has been changed");
  Tensor unneeded = leaf({2}, {2, 3});
  const Tensor fine = sum(unneeded + unneeded);
  unneeded.mutable_data()[0] = 5;
  backward(fine);
  CHECK(elements(unneeded.grad()) == std::vector<real>{2, 2});
}

// Computes a loss from ids, changes them, and runs backward. Returns its error, "" if there is
// none.
std::string error_after_change(const Shape& shape, std::initializer_list<int32_t> values,
                               const std::function<Tensor(const Ids&)>& loss_of) {
  Ids ids = Ids::from(shape, values);
  const Tensor loss = sum(loss_of(ids));
  ids.reshape({ids.size()}).mutable_data()[0] = 1'000'000'000;  // handles share the elements
  return thrown<Error>([&] { backward(loss); });
}

TEST_CASE("backward: a change of ids that it needs is an error") {
  const char* const changed =
      ": ids, lengths or a mask that backward needs have been changed since they were used";
  const Tensor x = leaf({3}, {1, 2, 3}), table = leaf({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(error_after_change({2}, {2, 0}, [&](const Ids& ids) { return embedding(table, ids); }) ==
        std::string("backward of embedding") + changed);
  CHECK(error_after_change({3}, {1, 0, 1}, [&](const Ids& c) { return where(c, x, x * x); }) ==
        std::string("backward of where") + changed);
  CHECK(error_after_change({3}, {1, 0, 1}, [&](const Ids& c) { return masked_fill(x, c, 7); }) ==
        std::string("backward of masked_fill") + changed);
  CHECK(error_after_change({3}, {1, 0, 1}, [&](const Ids& s) { return segment_sum(x, s, 2); }) ==
        std::string("backward of segment_sum") + changed);

  const Tensor scores = leaf({1, 1, 1, 3}, {1, 2, 3}), q = leaf({1, 1, 2}, {1, 2}),
               k = leaf({1, 3, 2}, {1, 0, 0, 1, 1, 1});
  for (const bool dense : {false, true}) {
    const auto mask_of = [&](const Ids& ids) {
      return dense ? KeepMask{.dense = ids.reshape({1, 1, 1, 3})} : KeepMask{.key_lengths = ids};
    };
    const auto check_error = [&](const std::function<Tensor(const Ids&)>& loss_of) {
      CHECK_CONTAINS(dense ? error_after_change({3}, {1, 0, 1}, loss_of)
                           : error_after_change({1}, {2}, loss_of),
                     changed);
    };
    check_error([&](const Ids& ids) { return masked_fill(scores, mask_of(ids), 0); });
    check_error([&](const Ids& ids) {
      return scaled_dot_product_attention(q, k, k, 1, {.mask = mask_of(ids)});
    });
  }
  // Computes the logits of the first two rows again.
  const Tensor rows = leaf({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(error_after_change({3}, {1, 0, 1}, [&](const Ids& targets) {
          return linear_cross_entropy(rows, table, {}, targets, Reduction::mean, {}, 3);
        }) == std::string("backward of linear_cross_entropy") + changed);
}

// The gradients of operations whose backward needs none of the ids.
std::vector<std::vector<real>> gradients(bool change_ids) {
  const auto gradient = [&](const Shape& shape, Ids ids,
                            const std::function<Tensor(const Tensor&, Ids&)>& loss_of) {
    const Tensor x = leaf(shape, {1, 2, 3, 4, 5, 6});
    const Tensor loss = sum(loss_of(x, ids));
    if (change_ids) ids.mutable_data()[0] = 1'000'000'000;
    backward(loss);
    return elements(x.grad());
  };
  const Tensor w = Tensor::from({2, 2}, {1, 2, 3, 4}),
               factors = Tensor::from({6}, {1, 2, 3, 4, 5, 6});
  return {gradient({3, 2}, Ids::from({1, 2}, {2, 0}),
                   [](const Tensor& x, const Ids& ids) { return gather(x, 0, ids); }),
          gradient({6}, Ids::from({6}, {2, 0, 1, 1, 0, 2}),
                   [&](const Tensor& x, const Ids& ids) {
                     return segment_softmax(x, ids, 3) * factors;
                   }),
          gradient({3, 2}, {},
                   [](const Tensor& x, Ids& ids) {
                     const TopK top = topk(x, 1, 0);
                     ids = top.ids;
                     return top.values;
                   }),
          gradient({3, 2}, Ids::from({3}, {1, 0, 1}),
                   [](const Tensor& x, const Ids& ids) { return cross_entropy(x, ids); }),
          gradient({3, 2}, Ids::from({3}, {1, 0, 1}), [&](const Tensor& x, const Ids& ids) {
            return linear_cross_entropy(x, w, {}, ids);
          })};
}

TEST_CASE("backward: ids that it does not need may change") {
  CHECK(gradients(true) == gradients(false));
}

TEST_CASE("backward: after an error the graph is released") {
  const int64_t live = pool_statistics().live_bytes;
  {
    Tensor x = leaf({2}, {2, 3});
    const Tensor square = x * x;
    const Tensor loss = sum(exp(square) + square);
    x.mutable_data()[0] = 5;
    CHECK_THROWS_AS(backward(loss), Error);
    CHECK_THROWS_AS(backward(loss), Error);
  }
  CHECK(pool_statistics().live_bytes == live);
}

TEST_CASE("graph: a million nodes deep") {
  const int64_t live = pool_statistics().live_bytes;
  for (const bool run : {true, false}) {
    Tensor x = leaf({}, {1});
    Tensor y = x;
    for (int i = 0; i < 1'000'000; ++i) y = add(y, 1);
    CHECK(y.item() == doctest::Approx(1'000'001));
    if (run) {
      backward(y);
      CHECK(x.grad().item() == 1);
    }
  }
  CHECK(pool_statistics().live_bytes == live);
}

TEST_CASE("graph: one thread continues what another has recorded") {
  const Tensor x = leaf({2}, {2, 3});
  Tensor begun;
  std::thread([&] {
    Tensor y = x;
    for (int i = 0; i < 1000; ++i) y = add(y, 0);
    begun = y;
  }).join();
  // The nodes of this thread are newer, although it may have recorded fewer.
  std::thread([&] { backward(sum(begun * mul(begun, 3))); }).join();
  CHECK(x.grad().data()[0] == 12);
  CHECK(x.grad().data()[1] == 18);
}

TEST_CASE("graph: nothing is recorded while gradients are off or not required") {
  Tensor x = leaf({2}, {2, 3});
  {
    NoGradients here;
    CHECK_FALSE((x * x).requires_grad());
  }
  CHECK((x * x).requires_grad());
  CHECK_FALSE((x.detach() * x.detach()).requires_grad());
}

TEST_CASE("graph: elements that backward does not need are freed with their last handle") {
  Tensor x = Tensor::zeros({1 << 16});
  x.set_requires_grad();
  const int64_t live = pool_statistics().live_bytes;
  Tensor y = x;
  for (int i = 0; i < 50; ++i) y = add(y, 1);
  CHECK(pool_statistics().live_bytes - live < 2 * static_cast<int64_t>(sizeof(real)) << 16);
}

TEST_CASE("graph: memory decreases while backward runs") {
  Tensor x = Tensor::full({1 << 14}, real{0.5});
  x.set_requires_grad();
  Tensor y = x;
  for (int i = 0; i < 50; ++i) y = tanh(y);
  const Tensor loss = sum(y);
  y = {};
  const int64_t before = pool_statistics().live_bytes;
  pool_reset_peak();
  backward(loss);
  const int64_t one = static_cast<int64_t>(sizeof(real)) << 14;
  CHECK(pool_statistics().peak_bytes - before < 4 * one);
  CHECK(before - pool_statistics().live_bytes > 45 * one);
}

TEST_CASE(
    "record: a closure that captures its own result is rejected, and so is an input as result") {
  Tensor x = leaf({2}, {2, 3});
  const Tensor y = Tensor::zeros({2});
  CHECK_CONTAINS(thrown<Error>([&] { record("mine", y, {x}, [y](Backward&) {}); }),
                 "the closure of mine captured its own result");
  CHECK_CONTAINS(thrown<Error>([&] { record("mine", x, {x}, [](Backward&) {}); }),
                 "mine returned a tensor that has a history already");
}

TEST_CASE("anomaly detection: names the operation and the shapes, forward and backward") {
  AnomalyDetector detector;
  const ObserverScope here(detector);
  Tensor x = leaf({2, 2}, {1, 0, 4, 9});
  const std::string forward = thrown<Error>([&] { log(add(x, -5)); });
  CHECK_CONTAINS(forward, "log: the result, of shape [2, 2], has");
  CHECK_CONTAINS(forward, "the inputs have shapes [2, 2]");
  CHECK_CONTAINS(thrown<Error>([&] { log(x); }),
                 "log: the result, of shape [2, 2], has -inf at position 1");

  const Tensor root = sqrt(x);  // finite, but its derivative at 0 is not
  CHECK_CONTAINS(thrown<Error>([&] { backward(sum(root)); }),
                 "backward of sqrt: the gradient of input 0 has infinity at position 1; the result "
                 "had shape [2, 2]");
}

TEST_CASE("anomaly detection: an infinity among the inputs is accepted in the result") {
  AnomalyDetector detector;
  const ObserverScope here(detector);
  Tensor x = leaf({2, 2}, {1, 2, 3, 4});
  const Tensor scores = masked_fill(x, Ids::from({2}, {0, 1}), -infinity);
  const Tensor y = softmax(scores + Tensor::zeros({2, 2}));
  backward(sum(y * y));
  CHECK(elements(y) == std::vector<real>{1, 0, 1, 0});
  const Tensor seen = masked_fill(x.reshape({1, 1, 2, 2}), KeepMask{.causal = true}, -infinity);
  CHECK(elements(softmax(seen))[1] == 0);
}

TEST_CASE("backward: uses the precision of the forward pass, and restores the current one") {
  Tensor x = leaf({2}, {2, 3});
  Precision seen = Precision::highest;
  Tensor y;
  {
    ScopeGuard here;
    here->precision = Precision::medium;
    y = record("probe", Tensor::zeros({2}), {x}, [&seen](Backward& g) {
      seen = scope().precision;
      g.pass(0);
    });
  }
  backward(sum(y));
  CHECK(seen == Precision::medium);
  CHECK(scope().precision == Precision::highest);
}

}  // namespace
}  // namespace heed::inline HEED_REAL
