// A scope with shapes_only: the same operations, the same allocations and the same multiplications
// as in a real step, without values and without memory.
#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "allocations.h"
#include "core/autograd.h"
#include "core/flops.h"
#include "core/kernels/gemm/gemm.h"
#include "core/ops.h"
#include "core/pool.h"
#include "core/precision.h"

using namespace heed;

namespace {

// One layer of attention and one of a feed-forward network, then a loss, and its backward.
void small_step(int64_t batch, int64_t time, int64_t dim, int64_t classes) {
  Tensor x = Tensor::full({batch, time, dim}, 1), up = Tensor::full({4 * dim, dim}, real{0.01}),
         down = Tensor::full({dim, 4 * dim}, real{0.01}), head = Tensor::full({classes, dim}, 0);
  const Tensor one = Tensor::full({dim}, 1);
  for (Tensor* t : {&x, &up, &down, &head}) t->set_requires_grad();
  Tensor y = layer_norm(x, one, one, real{1e-5});
  y = scaled_dot_product_attention(y, y, y, 2);
  y = linear(linear(y, up, {}, Activation::relu), down, {});
  y = softmax(matmul(y, transpose(y, 1, 2)), -1).reshape({batch * time, time});
  y = matmul(y, slice(head, 0, 0, time));
  const Tensor loss = linear_cross_entropy(y, head, {}, Ids::full({batch * time}, 1));
  CHECK(std::isfinite(loss.item()));
  backward(loss);
}

struct Cost {
  double flops;
  int64_t peak;
};

template <class Step>
Cost cost_of(Step step) {
  pool_trim();
  const int64_t before = pool_statistics().live_bytes;
  pool_reset_peak();
  FlopCounter counter;
  const ObserverScope here(counter);
  step();
  REQUIRE(pool_statistics().live_bytes == before);
  return {counter.flops(), pool_statistics().peak_bytes - before};
}

template <class Step>
Cost cost_of_shapes(Step step) {
  ScopeGuard here;
  here->shapes_only = true;
  return cost_of(step);
}

}  // namespace

TEST_CASE("shapes only: a step costs what the real step costs") {
  for (const int64_t batch : {1, 3, 20}) {
    const auto step = [batch] { small_step(batch, 7, 16, 40); };
    const Cost real = cost_of(step), counted = cost_of_shapes(step);
    CHECK(counted.flops == real.flops);
    CHECK(counted.flops > 0);
    CHECK(counted.peak == real.peak);
  }
}

TEST_CASE("shapes only: FLOPs of matrix products and attention by hand") {
  const auto flops = [](auto step) { return cost_of_shapes(step).flops; };
  Tensor x = Tensor::full({2, 5, 3}, 1), w = Tensor::full({7, 3}, 1);
  CHECK(flops([&] { (void)linear(x, w, {}); }) == 2 * 10 * 3 * 7);
  x.set_requires_grad();
  const auto both_ways = [&] {
    backward(sum(linear(x, w, {})));
    for (Tensor* t : {&x, &w}) t->clear_grad();
  };
  CHECK(flops(both_ways) == 2 * 2 * 10 * 3 * 7);
  w.set_requires_grad();
  CHECK(flops(both_ways) == 3 * 2 * 10 * 3 * 7);
  // 2 examples, 5 queries and keys, all heads 4 wide: 2 products forward, 5 backward.
  Tensor q = Tensor::full({2, 5, 4}, 1), k = Tensor::full({2, 5, 4}, 1);
  const double product = 2 * 2 * 5 * 5 * 4;
  AttentionOptions causal;
  causal.mask.causal = true;
  const auto attend = [&] {
    backward(sum(scaled_dot_product_attention(q, k, k, 2, causal)));
    for (Tensor* t : {&q, &k}) t->clear_grad();
  };
  CHECK(flops([&] { (void)scaled_dot_product_attention(q, k, k, 2, causal); }) == 2 * product);
  q.set_requires_grad();
  CHECK(flops(attend) == 5 * product);
  k.set_requires_grad();
  CHECK(flops(attend) == 7 * product);
}

TEST_CASE("shapes only: attention counts the blocks that its kernel computes") {
  // Blocks of 32 queries take the keys that one of them may read.
  const auto pairs = [](int64_t queries, int64_t keys, const KeepMask& mask) {
    const Tensor q = Tensor::full({3, queries, 4}, 1), k = Tensor::full({3, keys, 4}, 1);
    const auto attend = [&] { (void)scaled_dot_product_attention(q, k, k, 2, {.mask = mask}); };
    const double flops = cost_of_shapes(attend).flops;
    CHECK(cost_of(attend).flops == flops);
    return flops / (3 * 2 * 2 * 4);
  };
  CHECK(pairs(100, 100, {}) == 100 * 100);
  CHECK(pairs(100, 100, {.causal = true}) == 32 * (32 + 64 + 96) + 4 * 100);
  CHECK(pairs(100, 100, {.window = 8}) == 32 * (39 + 46 + 43) + 4 * 11);
  CHECK(pairs(100, 100, {.causal = true, .window = 8}) == 32 * (32 + 39 + 39) + 4 * 11);
  CHECK(pairs(40, 100, {.causal = true}) == 32 * 92 + 8 * 100);
  CHECK(pairs(100, 100, {.key_lengths = Ids::from({3}, {1, 2, 3})}) == 100 * 100);
  // 300 queries: blocks of 64.
  CHECK(pairs(300, 300, {.window = 1}) == 4 * 64 * 64 + 44 * 44);
}

TEST_CASE("shapes only: a product packs nothing, in any precision") {
  if (!allocations_are_counted) return;
  const kernels::Matrix a{nullptr, 64, 64};
  int64_t allocated = 0;
  std::thread([&] {  // a new one has no buffers yet
    ScopeGuard here;
    here->shapes_only = true;
    for (const Precision precision : {Precision::highest, Precision::high, Precision::medium}) {
      here->precision = precision;
      const int64_t before = allocations();
      kernels::gemm(a, a, {nullptr, false});
      allocated += allocations() - before;
    }
  })
      .join();
  CHECK(allocated == 0);
}

TEST_CASE("shapes only: larger than any machine") {
  pool_trim();
  const int64_t held = pool_statistics().held_bytes;
  const Cost cost = cost_of_shapes([] { small_step(1 << 10, 1 << 10, 1 << 16, 1 << 20); });
  CHECK(cost.peak > int64_t{1} << 40);
  CHECK(cost.flops > 1e17);
  CHECK(pool_statistics().held_bytes == held);
  CHECK_THROWS_AS(cost_of_shapes([] { small_step(1 << 20, 1 << 20, 1 << 16, 1 << 20); }), Error);
}
