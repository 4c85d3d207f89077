// The arena of parameters: order, alignment, frozen and tied tensors, changes that backward must
// see.
#include "optim/arena.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "optim/optimizer.h"
#include "optim/save.h"
#include "optim/trained.h"

using namespace heed;

namespace {

Tensor counting(const Shape& shape, int64_t start) {
  return parameter(shape, [=](int64_t i) { return start + i; });
}

}  // namespace

TEST_CASE(
    "parameters keep their values and are stored in the order of their names, aligned to 64 "
    "bytes") {
  Tensor c = counting(Shape{3}, 100), a = counting(Shape{2, 20}, 200), b = counting(Shape{}, 300);
  const Tensor same_a = a;
  give_gradient(a, [](int64_t i) { return 7 + i; });
  Arena arena({{"c", c}, {"a", a}, {"b", b}});

  CHECK(a.data() == arena.parameters());
  CHECK(a.data() < b.data());
  CHECK(b.data() < c.data());
  for (const Tensor& x : {a, b, c}) CHECK(reinterpret_cast<uintptr_t>(x.data()) % 64 == 0);
  CHECK(arena.size() * static_cast<int64_t>(sizeof(real)) % 64 == 0);
  CHECK(same_a.data() == a.data());
  for (int64_t i = 0; i < 40; ++i) CHECK(a.data()[i] == 200 + i);
  CHECK(b.item() == 300);
  CHECK(c.data()[2] == 102);
  for (int64_t i = 0; i < 40; ++i) CHECK(arena.gradients()[i] == 7 + i);
}

TEST_CASE("the first gradient overwrites the arena, the next ones are added") {
  Tensor a = counting(Shape{4}, 0), b = counting(Shape{4}, 0);
  Arena arena({{"a", a}, {"b", b}});
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    arena.zero_grad();
    CHECK_FALSE(a.grad());
    give_gradient(a, [](int64_t i) { return i; });
    give_gradient(a, [](int64_t) { return 10; });
    for (int64_t i = 0; i < 4; ++i) CHECK(arena.gradients()[i] == 10 + i);
  }
  SUBCASE("a gradient that was not written counts as zero") {
    give_gradient(b, [](int64_t) { return 99; });
    arena.zero_grad();
    give_gradient(a, [](int64_t) { return 3; });
    arena.complete_gradients();
    CHECK(arena.sum_of_squared_gradients() == 36);
  }
}

TEST_CASE("a second instance shares the elements of the first and has its own gradients") {
  Tensor a = counting(Shape{4}, 0), b = counting(Shape{4}, 10);
  Tensor a2 = counting(Shape{4}, 50), b2 = counting(Shape{4}, 60);
  Arena arena({{"a", a}, {"b", b}}), second(arena, {{"b", b2}, {"a", a2}});
  CHECK(a2.data() == a.data());
  CHECK(b2.data()[3] == 13);
  arena.zero_grad();
  give_gradient(a, [](int64_t) { return 1; });
  give_gradient(a2, [](int64_t) { return 2; });
  CHECK(a.grad().data()[0] == 1);
  CHECK(a2.grad().data()[0] == 2);
  a.mutable_data()[1] = 77;
  CHECK(a2.data()[1] == 77);
  Tensor other = counting(Shape{4}, 0);
  CHECK_THROWS_WITH_AS(Arena(arena, {{"a", other}}), doctest::Contains("other parameters"), Error);
}

TEST_CASE("frozen parameters stay out, tied parameters are stored once") {
  Tensor frozen = Tensor::full(Shape{2, 2}, 5), w = counting(Shape{2, 2}, 0), v = w;
  const real* before = frozen.data();
  OptimOptions options;
  options.kind = &optimizers::sgd;
  options.lr = 1;
  options.momentum = 0.5;
  options.clip_norm = 0;
  Optimizer optimizer(options, {{"head", w}, {"frozen", frozen}, {"embedding", v}});
  CHECK(frozen.data() == before);

  const auto state = state_of(optimizer);
  REQUIRE(state.size() == 1);
  CHECK(state[0].name == "momentum_buffer.head");  // the first of its names
  CHECK(state[0].tensor.shape() == Shape{2, 2});

  optimizer.zero_grad();
  give_gradient(v, [](int64_t) { return 1; });  // both uses add up, and are updated once
  give_gradient(w, [](int64_t) { return 1; });
  CHECK(optimizer.step() == 4);
  CHECK(v.data()[3] == 1);
  CHECK(frozen.data()[0] == 5);
}

TEST_CASE("invalid lists of parameters are rejected") {
  Tensor w = counting(Shape{2}, 0);
  CHECK_THROWS_AS(Optimizer({}, {{"w", Tensor::zeros(Shape{2})}}), InputError);
  CHECK_THROWS_AS(Optimizer({}, {}), InputError);
  CHECK_THROWS_WITH_AS(Arena({{"w", w}, {"w", counting(Shape{2}, 0)}}),
                       "optimizer: two parameters are named w", Error);
  CHECK_THROWS_AS(Arena({{"w", w}, {"view", w.reshape(Shape{2, 1})}}), Error);
}

TEST_CASE("a step fails if a parameter was frozen or moved after the optimizer was made") {
  Tensor w = counting(Shape{2}, 0);
  Optimizer optimizer({}, {{"w", w}});
  SUBCASE("frozen") { w.set_requires_grad(false); }
  SUBCASE("frozen and thawed") { w.set_requires_grad(false).set_requires_grad(); }
  SUBCASE("moved to another optimizer") { Optimizer other({}, {{"w", w}}); }
  CHECK_THROWS_AS(optimizer.step(), Error);
}

TEST_CASE("a backward through a graph from before a step throws") {
  Tensor w = counting(Shape{2}, 1);
  Optimizer optimizer({}, {{"w", w}});
  const auto square = [](int64_t, real x) { return x * x; };
  const auto twice = [](int64_t, real x) { return 2 * x; };
  const Tensor loss = summed(w, square, twice), stale = summed(w, square, twice);
  backward(loss);
  SUBCASE("after an update") {
    CHECK(optimizer.step() > 0);
    CHECK_THROWS_AS(backward(stale), Error);
  }
  SUBCASE("except after a step that changed nothing") {
    CHECK_FALSE(std::isfinite(optimizer.step(std::numeric_limits<double>::infinity())));
    CHECK_NOTHROW(backward(stale));
  }
}
