// How memory grows with the length of sequences and the size of vocabularies, as counted by the
// pool.
#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "core/pool.h"

namespace heed::inline HEED_REAL {
namespace {

// The peak of the bytes that f allocates.
template <class F>
int64_t peak_of(F f) {
  pool_trim();  // so that no larger free block is reused
  const int64_t before = pool_statistics().live_bytes;
  pool_reset_peak();
  f();
  return pool_statistics().peak_bytes - before;
}

// Forward and backward of attention, over `time` positions.
void attend(int64_t time, const AttentionOptions& options) {
  Tensor x[3];
  for (Tensor& each : x) each = Tensor::full({1, time, 16}, real{0.1}).set_requires_grad();
  ScopeGuard here;
  here->training = true;
  backward(sum(scaled_dot_product_attention(x[0], x[1], x[2], 2, options)));
}

TEST_CASE("memory of attention grows with the length, not with its square") {
  AttentionOptions plain, dropped;
  plain.mask.causal = dropped.mask.causal = true;
  dropped.dropout = 0.1;
  const int threads = thread_count();
  set_thread_count(2);  // each has its own block of scores
  for (const AttentionOptions* options : {&plain, &dropped}) {
    const auto peak = [&](int64_t time) { return peak_of([&] { attend(time, *options); }); };
    const int64_t first = peak(1024), second = peak(2048), third = peak(4096);
    CHECK(second <= 2 * first);
    CHECK(third <= 2 * second);
    // Query, key, value and result, the gradients of these, and the same for scratch memory.
    CHECK(third <= 16 * 4096 * 16 * static_cast<int64_t>(sizeof(real)));
  }
  set_thread_count(threads);
}

TEST_CASE("memory of the loss does not grow with rows in other chunks") {
  constexpr int64_t classes = 500, at_once = 20'000;  // 40 rows
  const auto peak = [](int64_t rows) {
    Tensor x = Tensor::full({rows, 2}, real{0.1}).set_requires_grad();
    Tensor w = Tensor::full({classes, 2}, real{0.2}).set_requires_grad();
    const Ids targets = Ids::full({rows}, 3);
    return peak_of([&] {
             backward(linear_cross_entropy(x, w, {}, targets, Reduction::mean, 0.1, at_once));
           }) -
           static_cast<int64_t>(sizeof(real)) * x.size();  // the gradient of x
  };
  // The pool's blocks are up to a quarter larger than what they hold.
  const auto block = static_cast<int64_t>(sizeof(real)) * at_once * 5 / 4;
  CHECK(peak(40) > static_cast<int64_t>(sizeof(real)) * at_once);
  CHECK(peak(40) < 2 * block);
  CHECK(peak(4000) < 2 * block);
}

}  // namespace
}  // namespace heed::inline HEED_REAL
