// After two steps of fixed shape a third one requests no memory from the system. The requests are
// counted by replacing operator new and mmap.
#include <doctest/doctest.h>

#include <cmath>

#include "allocations.h"
#include "core/autograd.h"
#include "core/ops.h"
#include "core/pool.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr int64_t batch = 8, width = 64, words = 50;

struct Parameters {
  Tensor table = Tensor::full({words, width}, real{0.01}),
         weight = Tensor::full({width, width}, real{0.02}), bias = Tensor::zeros({width}),
         gain = Tensor::full({width}, 1);

  Parameters() {
    for (Tensor* p : {&table, &weight, &bias, &gain}) p->set_requires_grad();
  }
};

// The sum of all normalisers of scores (batch, queries, keys).
Tensor weights_of(const Tensor& scores) {
  const Tensor by_head = scores.reshape({batch, 1, scores.dim(1), scores.dim(2)});
  const Tensor seen = masked_fill(by_head, KeepMask{.causal = true}, 0);
  return softmax(scores) + hardmax(scores, HardmaxGradient::straight_through) +
         sum_normalize(exp(seen)).reshape(scores.shape());
}

// Attention of nodes over the edges into them, x (edges, width).
Tensor received_of(const Tensor& x, const Ids& receivers) {
  return segment_sum(segment_softmax(x, receivers, words) * x, receivers, words);
}

// Forward and backward through most of the operations, and a step of gradient descent.
void step(Parameters& p, int64_t time) {
  Ids ids = Ids::empty({batch, time});
  for (int64_t i = 0; i < ids.size(); ++i)
    ids.mutable_data()[i] = static_cast<int32_t>(i * i % words);
  const Ids hidden = Ids::full({1, time}, 0);
  ScopeGuard here;
  here->training = true;
  const Tensor x = dropout(embedding(p.table, ids), 0.1);
  const Tensor h = layer_norm(linear(x, p.weight, p.bias), p.gain, p.bias, real{1e-5});
  AttentionOptions causal;
  causal.mask.causal = true;
  const Tensor a = scaled_dot_product_attention(h, h, x, 4, causal) + x * p.gain;
  const Tensor f = gelu(a) + silu(rms_norm(a, p.gain, real{1e-5})) - tanh(a) / add(exp(a), 1);
  const Tensor g = masked_fill(transpose(f, 1, 2), hidden, 0);
  const Tensor s = weights_of(matmul(slice(rotary(f, 2), 1, 0, (time + 1) / 2), g));
  const Tensor r = received_of(f.reshape({batch * time, width}), ids.reshape({batch * time}));
  const Tensor last = transpose(g, 1, 2);
  const Tensor losses =
      cross_entropy(linear(last, p.table), ids, Reduction::sum, 0.1) +
      linear_cross_entropy(last, p.table, {}, ids, Reduction::sum, 0.1, 100 * words);
  const Tensor parts[] = {mean(s), max(s), mean(r), sqrt(add(mean(pow(f, 2)), 1))};
  const Tensor loss = losses + sum(stack(parts, 0)) + mse_loss(f, x);
  backward(loss);
  for (Tensor* t : {&p.table, &p.weight, &p.bias, &p.gain}) {
    real* values = t->mutable_data();
    for (int64_t i = 0; i < t->size(); ++i) values[i] -= real{1e-3} * t->grad().data()[i];
    t->clear_grad();
  }
}

// Calls to the system while f runs.
template <class F>
int64_t calls_of(F f) {
  const int64_t before = allocations();
  f();
  return allocations() - before;
}

TEST_CASE("allocations: none in the third step of fixed shape") {
  if (!allocations_are_counted) {
    MESSAGE("skipped: under a sanitizer allocations are not counted");
    return;
  }
  pool_trim();
  Parameters p;
  CHECK(calls_of([&] { step(p, 33); }) > 0);
  step(p, 33);
  CHECK(calls_of([&] { step(p, 33); }) == 0);
  CHECK(std::isfinite(p.weight.data()[0]));
  pool_trim();
  CHECK(calls_of([] { Tensor::empty({1 << 21}); }) > 0);  // a block of this size is mapped
}

TEST_CASE("allocations: none in the second epoch of steps of many lengths") {
  if (!allocations_are_counted) return;
  pool_trim();
  Parameters p;
  for (int64_t time = 1; time <= 25; ++time) step(p, time);
  CHECK(calls_of([&] {
          for (int64_t time = 25; time >= 1; --time) step(p, time);
        }) == 0);
}

}  // namespace
}  // namespace heed::inline HEED_REAL
