// Linear layers and attention keep less of their inputs if nothing else keeps the elements: nothing
// where backward can compute them again, and rounded values in `medium`. The gradients are the same
// either way.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "checks.h"
#include "core/autograd.h"
#include "core/kernels/attention/attention.h"
#include "core/kernels/bfloat16/bfloat16.h"
#include "core/kernels/kept/forms.h"
#include "core/kernels/linear.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "core/pool.h"
#include "core/precision.h"
#include "core/scope.h"
#include "core/values.h"
#include "software_tiles.h"

namespace heed::inline HEED_REAL {
namespace {

bool skipped_without_bfloat16() {
  if (kernels::tile_kernels()) return false;
  MESSAGE("skipped: float32 is fastest on this processor");
  return true;
}

Tensor random_leaf(const Shape& shape, uint32_t call) {
  return mul(drawn(shape, call), real{0.1}).detach().set_requires_grad();
}

// A feed-forward network on a normalised input, which two layers read.
struct Network {
  Tensor x, scale, up, gate, down;
  std::vector<Tensor> held = {};  // other handles of the intermediate results

  Network(int64_t rows, int64_t dim, int64_t hidden)
      : x(random_leaf({rows, dim}, 1)),
        scale(random_leaf({dim}, 2)),
        up(random_leaf({hidden, dim}, 3)),
        gate(random_leaf({hidden, dim}, 4)),
        down(random_leaf({dim, hidden}, 5)) {}

  Tensor output(Activation activation, bool hold) {
    const Tensor z = mul(x, scale);
    if (hold) held.push_back(z.detach());
    const Tensor h = mul(linear(z, up, {}, activation), linear(z, gate, {}));
    if (hold) held.push_back(h.detach());
    return linear(h, down, {});
  }

  // All gradients after one step.
  std::vector<real> gradients(Activation activation, bool hold) {
    backward(sum(mul(output(activation, hold), 0.5)));
    std::vector<real> all;
    for (Tensor* each : {&x, &scale, &up, &gate, &down}) {
      const Tensor gradient = each->grad();
      all.insert(all.end(), gradient.values().begin(), gradient.values().end());
      each->clear_grad();
    }
    held.clear();
    return all;
  }
};

// The bytes that the graph of a result keeps, without the result itself.
template <class F>
int64_t kept_by(Precision precision, F result) {
  ScopeGuard here;
  here->precision = precision;
  pool_trim();  // so that no larger free block is reused
  const int64_t before = pool_statistics().live_bytes;
  const Tensor y = result();
  return pool_statistics().live_bytes - before - y.size() * static_cast<int64_t>(sizeof(real));
}

TEST_CASE("kept inputs: a network has the same gradients as with the elements") {
  if (skipped_without_bfloat16()) return;
  ScopeGuard here;
  here->precision = Precision::medium;
  // In blocks of rows, whole with several slices, with sides that fill no tile, and too small.
  const int64_t sizes[][3] = {{300, 64, 128}, {1100, 300, 310}, {77, 45, 2100}, {12, 40, 50}};
  for (const auto& [rows, dim, hidden] : sizes)
    for (const Activation activation : {Activation::none, Activation::gelu, Activation::relu}) {
      Network network(rows, dim, hidden);
      CHECK(network.gradients(activation, false) == network.gradients(activation, true));
    }
}

TEST_CASE("kept inputs: any number of threads gives the same bits") {
  if (skipped_without_bfloat16()) return;
  ScopeGuard here;
  here->precision = Precision::medium;
  Network network(1100, 300, 310);
  const int threads = thread_count();
  set_thread_count(1);
  const std::vector<real> one = network.gradients(Activation::gelu, false);
  set_thread_count(3);
  CHECK(network.gradients(Activation::gelu, false) == one);
  set_thread_count(threads);
}

TEST_CASE("kept inputs: threads that multiply one tensor share its rounded copy") {
  if (skipped_without_bfloat16()) return;
  const auto medium = [] { scope().precision = Precision::medium; };
  const ScopeGuard here;
  medium();
  const Tensor x = random_leaf({256, 64}, 1), w = random_leaf({128, 64}, 2);
  const auto result = [&](const Tensor& h) { return elements(linear(h, w)); };
  const std::vector<real> alone = result(mul(x, 2));
  for (int round = 0; round < 10; ++round) {
    const Tensor h = mul(x, 2);  // without a rounded copy yet
    std::atomic<int> differences = 0;
    std::vector<std::thread> threads;
    for (int number = 0; number < 3; ++number)
      threads.emplace_back([&] {
        medium();
        if (result(h) != alone) ++differences;
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(differences == 0);
  }
}

TEST_CASE("kept inputs: backward reads what an operation prepared, not the elements") {
  if (skipped_without_bfloat16()) return;
  ScopeGuard here;
  here->precision = Precision::medium;
  const Tensor one = random_leaf({256, 64}, 1), other = random_leaf({256, 64}, 2);
  Tensor w = random_leaf({128, 64}, 3);
  const kernels::LinearSizes n{256, 64, 128};
  const kernels::PackedInput form = kernels::packed_input(n);
  REQUIRE(form);
  const auto dw = [&](const Tensor& leaf, bool prepares) {
    Tensor y;
    {
      const Tensor x = mul(leaf, 1);
      if (prepares)  // the panels of the other tensor
        kernels::prepared(x, form.layout(n), form.words, [&](real* words) {
          kernels::pack_input(n, other.data(), reinterpret_cast<uint32_t*>(words));
        });
      y = linear(x, w);
    }
    backward(sum(y));
    const std::vector<real> values = elements(w.grad());
    w.clear_grad();
    return values;
  };
  CHECK(dw(one, true) == dw(other, false));
  CHECK(dw(one, true) != dw(one, false));
}

#ifndef HEED_DOUBLE
TEST_CASE("kept weights: the bits of a product that packs them itself, until the weights change") {
  if (skipped_without_bfloat16()) return;
  ScopeGuard here;
  here->precision = Precision::medium;
  here->gradients = false;
  const int threads = thread_count();
  for (const auto& [inputs, outputs] : {std::pair<int64_t, int64_t>{600, 50}, {70, 2200}}) {
    Tensor w = random_leaf({outputs, inputs}, 1);
    const Tensor b = random_leaf({outputs}, 2);
    for (const int64_t rows : {1, 2, 3, 5, 8, 33, 64, 128}) {
      Tensor x = random_leaf({rows, inputs}, 3);
      const bool finite = rows != 5;  // else a block is computed from rounded values again
      if (!finite) x.mutable_data()[2 * inputs] = std::numeric_limits<real>::infinity();
      CAPTURE(rows);
      std::vector<real> expected(static_cast<size_t>(rows * outputs));
      kernels::gemm_on_tiles(*kernels::tile_kernels(), {x.data(), rows, inputs},
                             kernels::MatrixView(w.data(), outputs, inputs).t(),
                             {expected.data(), false}, {.leading_c = outputs, .bias = b.data()},
                             Precision::medium);
      for (const int count : {1, 3}) {
        set_thread_count(count);
        const Tensor y = linear(x, w, b);
        REQUIRE(std::equal(expected.begin(), expected.end(), y.values().begin(), y.values().end(),
                           [&](real p, real q) {
                             return finite ? p == q : std::isfinite(p) == std::isfinite(q);
                           }));
        const Tensor active = linear(x, w, b, Activation::relu), expected_active = relu(y);
        if (finite)
          REQUIRE(std::equal(active.values().begin(), active.values().end(),
                             expected_active.values().begin(), expected_active.values().end()));
      }
      CHECK(kernels::LastForm(w).get());
      w.mutable_data()[rows] += 1;
    }
    here->gradients = true;  // where w may change after each product
    w = random_leaf({outputs, inputs}, 1);
    linear(random_leaf({1, inputs}, 3), w);
    CHECK(!kernels::LastForm(w).get());
    here->gradients = false;
  }
  set_thread_count(threads);
}
#endif

// A block without attention whose results are large enough to be computed again in backward: two
// layers read the norm's, one reads the activation's. `hold` keeps other handles of these, so that
// their elements are kept.
struct LargeBlock {
  static constexpr int64_t rows = 2048, dim = 512, hidden = 640;
  Tensor x = random_leaf({rows, dim}, 1), gain = random_leaf({dim}, 2),
         shift = random_leaf({dim}, 3), up = random_leaf({hidden, dim}, 4),
         bias = random_leaf({hidden}, 5), side = random_leaf({dim, dim}, 6),
         down = random_leaf({dim, hidden}, 7), down_bias = random_leaf({dim}, 8);
  std::vector<Tensor> held = {};

  Tensor output(Activation activation, bool rms, bool hold) {
    const Tensor z = rms ? rms_norm(x, gain, real{1e-5}) : layer_norm(x, gain, shift, real{1e-5});
    const Tensor h = linear(z, up, bias, activation), s = linear(z, side, {});
    if (hold) held = {z.detach(), h.detach()};
    return linear(h, down, down_bias) + s;
  }
  std::vector<std::vector<real>> gradients_of(const Tensor& y) {
    backward(y, drawn(y.shape(), 9));
    std::vector<std::vector<real>> all;
    for (Tensor* each : {&x, &gain, &shift, &up, &bias, &side, &down, &down_bias}) {
      const Tensor gradient = each->grad();
      if (!gradient) continue;  // of the shift, in RMS norm
      all.push_back(elements(gradient));
      each->clear_grad();
    }
    held.clear();
    return all;
  }
};

TEST_CASE("kept inputs: elements that backward computes again give the bits of kept ones") {
  LargeBlock block;
  const int threads = thread_count();
  bool rms = false;
  for (const Activation activation :
       {Activation::gelu, Activation::silu, Activation::gelu_tanh, Activation::relu}) {
    CAPTURE(static_cast<int>(activation));
    set_thread_count(2);
    const auto kept = block.gradients_of(block.output(activation, rms, true));
    set_thread_count(1);
    CHECK(block.gradients_of(block.output(activation, rms, false)) == kept);
    rms = !rms;
  }
  set_thread_count(threads);
}

TEST_CASE("kept inputs: one array is kept of a norm and a large layer that others read") {
  LargeBlock block;
  constexpr int64_t rounding = 1 << 20,  // of the pool, and what small objects need
      hidden = LargeBlock::rows * LargeBlock::hidden * static_cast<int64_t>(sizeof(real));
  // With GELU it is the argument of the activation, with ReLU the result.
  for (const Activation activation : {Activation::gelu, Activation::relu}) {
    const int64_t kept =
        kept_by(Precision::highest, [&] { return block.output(activation, false, false); });
    CHECK(kept >= hidden);
    CHECK(kept <= hidden + rounding);
  }
}

TEST_CASE("kept inputs: an activation between a large layer and something other than a layer") {
  LargeBlock block;
  const auto fused = mul(linear(block.x, block.up, {}, Activation::gelu), 2);
  const auto composed = mul(gelu(linear(block.x, block.up, {})), 2);
  CHECK(block.gradients_of(fused) == block.gradients_of(composed));
}

TEST_CASE("kept inputs: changed elements are kept, and a second loss is an error") {
  LargeBlock block;
  const auto dw = [&](bool hold) {
    Tensor z = layer_norm(block.x, block.gain, block.shift, real{1e-5});
    std::fill_n(z.mutable_data(), 1000, real{3});
    const Tensor y = linear(z, block.side, {});
    if (hold) block.held = {z.detach()};
    z = {};
    return block.gradients_of(y);
  };
  CHECK(dw(false) == dw(true));

  Tensor z = layer_norm(block.x, block.gain, block.shift, real{1e-5});
  const Tensor one = sum(linear(z, block.side, {})), other = sum(linear(z, block.up, {}));
  z = {};
  backward(one);
  CHECK_CONTAINS(thrown<Error>([&] { backward(other); }), "has been run and released");
}

TEST_CASE("kept inputs: a reshape shares the elements, but not their layout") {
  if (skipped_without_bfloat16()) return;
  ScopeGuard here;
  here->precision = Precision::medium;
  const Tensor leaf = random_leaf({256, 64}, 1), first = random_leaf({128, 64}, 2);
  Tensor second = random_leaf({128, 32}, 3);
  const auto gradient = [&](bool multiplied_before) {
    Tensor z;
    {
      Tensor x = mul(leaf, 1);
      if (multiplied_before) linear(x, first);
      x = x.reshape({512, 32});
      z = linear(x, second);
    }
    backward(sum(z));
    const std::vector<real> values = elements(second.grad());
    second.clear_grad();
    return values;
  };
  CHECK(gradient(true) == gradient(false));
}

TEST_CASE("kept inputs: half of what only matrix products read") {
  if (skipped_without_bfloat16()) return;
  constexpr int64_t rows = 1024, dim = 256;
  const Tensor x = random_leaf({rows, dim}, 1), w = random_leaf({dim, dim}, 2),
               v = random_leaf({dim, dim}, 3);
  const int64_t elements = rows * dim * static_cast<int64_t>(sizeof(real));
  const auto kept = [&](Precision precision, Activation activation) {
    return kept_by(precision, [&] {
      const Tensor h = linear(x, w, {}, activation);
      return linear(h, v, {}) + linear(h, v, {});
    });
  };
  // Two layers read h.
  const int64_t before = kept(Precision::highest, Activation::none),
                after = kept(Precision::medium, Activation::none);
  CHECK(before >= elements);
  CHECK(after >= elements / 2);
  CHECK(after <= before - elements / 2 + 4096);
  // ReLU keeps h for its own gradient, so nothing is packed.
  CHECK(kept(Precision::medium, Activation::relu) <= kept(Precision::highest, Activation::relu));
}

TEST_CASE("kept inputs: the peak of a step of a feed-forward network is smaller") {
  if (skipped_without_bfloat16()) return;
  constexpr int64_t dim = 128, hidden = 512;
  std::vector<Network> layers;
  for (int i = 0; i < 6; ++i) layers.emplace_back(1024, dim, hidden);
  const auto peak = [&](Precision precision) {
    ScopeGuard here;
    here->precision = precision;
    const auto step = [&] {
      Tensor y = layers[0].x;
      for (Network& layer : layers)
        y = y + linear(linear(mul(y, layer.scale), layer.up, {}, Activation::gelu), layer.down, {});
      backward(sum(y));
    };
    step();  // allocates the gradients of the parameters
    pool_trim();
    pool_reset_peak();
    const int64_t before = pool_statistics().live_bytes;
    step();
    return pool_statistics().peak_bytes - before;
  };
  const int64_t highest = peak(Precision::highest), medium = peak(Precision::medium);
  MESSAGE("peak of a step, MiB: ", highest >> 20, " in highest, ", medium >> 20, " in medium");
  CHECK(medium <= highest * 4 / 5);
}

// The gradients of x in attention whose queries, keys and values are multiples of it. `hold` keeps
// other handles of these.
std::vector<real> attention_gradient(const Shape& shape, int64_t keys, bool hold,
                                     const AttentionOptions& options, int64_t* kept) {
  const Tensor x = random_leaf(shape, 6), context = random_leaf({shape[0], keys, shape[2]}, 7),
               cotangent = random_leaf(shape, 8);
  ScopeGuard here;
  here->training = true;
  here->calls = 0;  // the same dropout
  pool_trim();
  const int64_t before = pool_statistics().live_bytes;
  std::vector<Tensor> held;
  Tensor y;
  {
    const Tensor q = mul(x, 2), k = mul(context, 3), v = mul(context, 5);
    if (hold) held = {q.detach(), k.detach(), v.detach()};
    y = scaled_dot_product_attention(q, k, v, 2, options);
  }
  if (kept) *kept = pool_statistics().live_bytes - before;
  backward(sum(y * cotangent));
  const Tensor gradients[] = {x.grad(), context.grad()};
  std::vector<real> all;
  for (const Tensor& each : gradients)
    all.insert(all.end(), each.values().begin(), each.values().end());
  return all;
}

TEST_CASE("kept inputs: attention rounds them as a product rounds its operands") {
  const std::array<real, 8> x = {0x1.fffffcp-127F, -0x1.fffffcp-127F, 0x1p-126F, 0x1p-149F, 1.01F,
                                 0x1.01p0F,        -0x1.03p0F,        -0.0F};
  std::array<uint16_t, 8> rounded;
  kernels::round_attention_input(std::ssize(x), x.data(), rounded.data());
  for (size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    CHECK(rounded[i] == testing::to_bfloat16(x[i]));
  }
}

TEST_CASE("kept inputs: attention has the same gradients as with the elements") {
  if (skipped_without_bfloat16()) return;
  ScopeGuard here;
  here->precision = Precision::medium;
  AttentionOptions plain, causal, dropped, window, lengths;
  causal.mask.causal = dropped.mask.causal = window.mask.causal = true;
  dropped.dropout = 0.2;
  window.mask.window = 20;
  lengths.mask.key_lengths = Ids::from({2}, {64, 37});
  struct Case {
    Shape shape;
    int64_t keys;
    const AttentionOptions& options;
    bool rounds;
  };
  const Case cases[] = {{{2, 64, 64}, 64, plain, true},   {{2, 64, 64}, 64, causal, true},
                        {{2, 64, 160}, 96, causal, true}, {{1, 352, 128}, 352, dropped, true},
                        {{2, 64, 64}, 64, window, false}, {{2, 64, 64}, 64, lengths, false},
                        {{2, 50, 64}, 50, causal, false}, {{2, 64, 48}, 64, plain, false},
                        {{2, 32, 64}, 320, causal, true}};
  for (const Case& c : cases) {
    CAPTURE(c.shape[1]);
    CAPTURE(c.shape[2]);
    CAPTURE(c.keys);
    int64_t kept = 0, kept_elements = 0;
    const std::vector<real> got = attention_gradient(c.shape, c.keys, false, c.options, &kept);
    CHECK(got == attention_gradient(c.shape, c.keys, true, c.options, &kept_elements));
    const int64_t elements = c.shape[0] * (c.shape[1] + 2 * c.keys) * c.shape[2];
    const auto saved = static_cast<double>(kept_elements - kept) /
                       static_cast<double>(elements * static_cast<int64_t>(sizeof(real)));
    CAPTURE(saved);
    CHECK((saved > 0.4) == c.rounds);
  }
}

}  // namespace
}  // namespace heed::inline HEED_REAL
