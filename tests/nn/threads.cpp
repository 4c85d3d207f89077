// Const functions of one model on several threads at once: each result has the bits that one thread
// computes alone. The thread sanitizer runs these tests too.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "core/random.h"
#include "variants.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Calls f(number) on `count` threads at once.
void at_once(int count, const std::function<void(int)>& f) {
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < count; ++number)
    threads.emplace_back([&, number] {
      for (++ready; ready < count;) std::this_thread::yield();
      f(number);
    });
  for (std::thread& thread : threads) thread.join();
}

// Two examples, of `width` and 2 tokens.
Inputs examples_of(int64_t width) {
  Inputs in;
  in.source = in.input = Ids::full({2, width}, 0);
  for (int64_t i = 0; i < 2 * width; ++i)
    in.input.mutable_data()[i] = static_cast<int32_t>((5 * i + 1) % 6);
  in.source_lengths = in.input_lengths = Ids::from({2}, {static_cast<int32_t>(width), 2});
  return in;
}

// Tables of positions are computed for the lengths that come: these need larger and other ones.
constexpr int64_t widths[] = {3, 9, 5};

std::vector<real> bits_of(const Tensor& x) { return {x.values().begin(), x.values().end()}; }

std::vector<real> logits_of(const Model& model, int64_t width) {
  return bits_of(model.logits(examples_of(width)));
}

// Sum of the losses of all tokens of a language model.
Tensor loss_of(const Model& model, int64_t width) {
  const Inputs in = examples_of(width);
  return model.loss(in, in.input, Reduction::sum);
}

const Variant plain{"plain", ModelKind::language_model, [](ModelOptions&) {}};

}  // namespace

TEST_CASE("threads: one model of any kind computes the same logits on several threads") {
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    std::vector<std::vector<real>> alone;
    {
      const NoGradients here;
      const auto model = model_of(variant);
      for (const int64_t width : widths) alone.push_back(logits_of(*model, width));
    }
    const auto shared = model_of(variant);  // no table is computed yet
    std::atomic<int> differences = 0;
    at_once(3, [&](int number) {
      scope().gradients = false;
      for (size_t call = 0; call < 3; ++call) {
        const size_t i = (call + static_cast<size_t>(number)) % 3;
        if (logits_of(*shared, widths[i]) != alone[i]) ++differences;
      }
    });
    CHECK(differences == 0);
  }
}

TEST_CASE("threads: several record graphs over one model, and one trains another model") {
  const auto shared = model_of(plain), trained = model_of(plain), trained_alone = model_of(plain);
  const auto train = [](const Model& model) {
    std::vector<real> losses;
    for (int step = 0; step < 4; ++step) {
      const Tensor loss = loss_of(model, widths[step % 3]);
      losses.push_back(loss.item());
      backward(loss);
      for (NamedParameter& p : model.parameters()) {
        const Tensor gradient = p.tensor.grad();
        if (!gradient) continue;
        real* const values = p.tensor.mutable_data();
        for (int64_t i = 0; i < p.tensor.size(); ++i) values[i] -= gradient.data()[i] / 100;
        p.tensor.clear_grad();
      }
    }
    return losses;
  };
  const std::vector<real> losses_alone = train(*trained_alone);
  std::vector<real> alone;
  for (const int64_t width : widths) alone.push_back(loss_of(*shared, width).item());

  std::vector<real> losses;
  std::atomic<int> differences = 0;
  std::vector<Tensor> left(4);  // destroyed by another thread than the one that computed it
  at_once(4, [&](int number) {
    if (number == 0) {
      losses = train(*trained);
      return;
    }
    for (size_t call = 0; call < 6; ++call) {
      const Tensor loss = loss_of(*shared, widths[call % 3]);
      if (loss.item() != alone[call % 3] || shared->parameter_count() == 0) ++differences;
      left[static_cast<size_t>(number)] = loss;
    }
  });
  CHECK(losses == losses_alone);
  CHECK(differences == 0);
  backward(left[1]);  // a graph may be run by another thread, too
  CHECK(shared->parameters()[0].tensor.grad());
}

TEST_CASE("threads: attention while another thread changes the number of threads") {
  const int before = thread_count();
  set_thread_count(2);
  const auto values = [](uint64_t seed) {
    Random random(seed, Purpose::initialisation);
    Tensor x = Tensor::empty({4, 40, 32});
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<real>(random.normal());
    return x.set_requires_grad();
  };
  const auto attend = [&] {
    const Tensor q = values(1), k = values(2), v = values(3);
    backward(sum(scaled_dot_product_attention(q, k, v, 4, {})));
    return bits_of(q.grad());
  };
  const std::vector<real> alone = attend();
  std::atomic<bool> done = false, differs = false;
  at_once(2, [&](int number) {
    for (int call = 0; number == 0 && call < 20; ++call)
      if (attend() != alone) differs = true;
    if (number == 0) done = true;
    for (int count = 1; !done; count = count % 8 + 1) set_thread_count(count);
  });
  CHECK_FALSE(differs);
  set_thread_count(before);
}
