// Tensors: handles, views, leaves, arenas.
#include "core/tensor.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "checks.h"
#include "core/autograd.h"
#include "core/bind.h"
#include "core/ops.h"
#include "core/pool.h"
#include "values.h"

namespace heed::inline HEED_REAL {
namespace {

TEST_CASE("tensor: creation and access") {
  const Tensor x = Tensor::from({2, 2}, {1, 2, 3, 4});
  CHECK(elements(x) == std::vector<real>{1, 2, 3, 4});
  CHECK(x.rank() == 2);
  CHECK(x.dim(-1) == 2);
  CHECK(x.size() == 4);
  CHECK(Tensor::scalar(3).item() == 3);
  CHECK(elements(Tensor::full({2}, 7)) == std::vector<real>{7, 7});
  CHECK(Tensor::zeros({0, 3}).size() == 0);
  CHECK_THROWS_AS(Tensor::from({2}, {1}), Error);
  CHECK_THROWS_WITH_AS(x.item(), "item: expected a tensor with one element, got shape [2, 2]",
                       Error);
  CHECK_THROWS_AS(Tensor::empty({Shape::max_size}), Error);
}

TEST_CASE("tensor: from values of any arithmetic type") {
  const double half = 0.5;
  const int two = 2;
  CHECK(elements(Tensor::from({2}, {half, half + 1})) == std::vector<real>{0.5, 1.5});
  CHECK(elements(Tensor::from({2}, {two, two + 1})) == std::vector<real>{2, 3});
  CHECK(elements(Tensor::from({2}, std::vector<double>{0.25, 4})) == std::vector<real>{0.25, 4});
  CHECK(elements(Tensor::from({2}, std::array{7, 8})) == std::vector<real>{7, 8});
  CHECK_THROWS_AS(Tensor::from({3}, std::vector<double>{0.25, 4}), Error);
}

TEST_CASE("ids: from integers of any type, and nothing else") {
  const auto error = [](const auto& values) {
    return thrown<Error>([&] { Ids::from({static_cast<int64_t>(std::size(values))}, values); });
  };
  using std::vector;
  const Ids ids = Ids::from({3}, vector<int64_t>{INT32_MIN, -1, INT32_MAX});
  CHECK(ids[0] == INT32_MIN);
  CHECK(ids[2] == INT32_MAX);
  CHECK(Ids::from({2}, vector<uint8_t>{255, 0})[0] == 255);
  CHECK(Ids::from({2}, vector<bool>{true, false})[0] == 1);
  CHECK(Ids::from({1}, vector<float>{-3})[0] == -3);
  CHECK(error(vector<int64_t>{0, 4294967297}) == "ids: 4294967297 is not an integer of 32 bits");
  CHECK(error(vector<int64_t>{-4294967296}) == "ids: -4294967296 is not an integer of 32 bits");
  CHECK(error(vector<int64_t>{int64_t{INT32_MAX} + 1}) ==
        "ids: 2147483648 is not an integer of 32 bits");
  CHECK(error(vector<uint64_t>{UINT64_MAX}) ==
        "ids: 18446744073709551615 is not an integer of 32 bits");
  CHECK(error(vector<double>{1.9}) == "ids: 1.9 is not an integer of 32 bits");
  CHECK_CONTAINS(error(vector<double>{std::nan("")}), "nan is not an integer");
  CHECK_CONTAINS(thrown<Error>([] { Ids::full({2}, int64_t{1} << 32); }), "4294967296 is not");
  CHECK_THROWS_AS(Ids::from({3}, vector<int>{1, 2}), Error);
}

TEST_CASE("tensor: an empty handle is an error") {
  const Tensor none;
  CHECK_FALSE(static_cast<bool>(none));
  CHECK_THROWS_WITH_AS(none.shape(), "tensor: the handle is empty", Error);
  CHECK_THROWS_AS(none.data(), Error);
  CHECK_THROWS_AS(none.requires_grad(), Error);
}

TEST_CASE("tensor: handles and reshaped tensors share elements, clones do not") {
  Tensor x = Tensor::from({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor handle = x, view = x.reshape({3, 2}), copy = x.clone(), bare = x.detach();
  x.mutable_data()[0] = 9;
  CHECK(handle.data()[0] == 9);
  CHECK(view.data()[0] == 9);
  CHECK(bare.data()[0] == 9);
  CHECK(copy.data()[0] == 1);
  CHECK(handle.same_as(x));
  CHECK_FALSE(view.same_as(x));
  CHECK_THROWS_AS(x.reshape({4}), Error);
}

TEST_CASE("tensor: the last handle frees the memory") {
  const int64_t live = pool_statistics().live_bytes;
  Tensor view;
  {
    const Tensor x = Tensor::zeros({1000});
    view = x.reshape({10, 100});
  }
  CHECK(pool_statistics().live_bytes > live + 1000 * static_cast<int64_t>(sizeof(real)));
  view = {};
  CHECK(pool_statistics().live_bytes == live);
}

TEST_CASE("tensor: leaves") {
  Tensor x = Tensor::from({2}, {1, 2});
  CHECK_FALSE(x.requires_grad());
  x.set_requires_grad();
  CHECK(x.requires_grad());
  CHECK_FALSE(static_cast<bool>(x.grad()));
  backward(sum(x));
  CHECK(elements(x.grad()) == std::vector<real>{1, 1});
  x.clear_grad();
  CHECK_FALSE(static_cast<bool>(x.grad()));
  CHECK_FALSE(x.detach().requires_grad());
  x.set_requires_grad(false);
  CHECK_FALSE(x.requires_grad());

  x.set_requires_grad();
  Tensor y = x * x;
  CHECK_THROWS_AS(y.set_requires_grad(false), Error);
  backward(sum(y));
  CHECK_THROWS_AS(y.set_requires_grad(false), Error);
}

TEST_CASE("tensor: a gradient that was read is not changed by the next backward") {
  Tensor x = Tensor::from({2}, {1, 2});
  x.set_requires_grad();
  backward(sum(x));
  const Tensor first = x.grad();
  backward(sum(x));
  CHECK(elements(first) == std::vector<real>{1, 1});
  CHECK(elements(x.grad()) == std::vector<real>{2, 2});
}

TEST_CASE("tensor: leaves of one sum have separate gradients") {
  Tensor a = Tensor::zeros({2}), b = Tensor::zeros({2});
  a.set_requires_grad();
  b.set_requires_grad();
  backward(sum(a + b));
  a.grad().mutable_data()[0] = 5;  // as clipping does
  CHECK(elements(b.grad()) == std::vector<real>{1, 1});
}

TEST_CASE("tensor: bound to an arena") {
  const Handle<Storage> arena = Storage::allocate(10), gradients = Storage::allocate(10);
  std::fill_n(arena->data, 10, real{0});
  std::fill_n(gradients->data, 10, real{0});
  Tensor x = Tensor::from({3}, {1, 2, 3});
  x.set_requires_grad();
  backward(sum(x * x));
  bind_leaf(x, part_of(arena, 4, 3), part_of(gradients, 4, 3));
  CHECK(std::vector<real>(arena->data + 3, arena->data + 8) == std::vector<real>{0, 1, 2, 3, 0});
  CHECK(gradients->data[5] == 4);  // the accumulated gradient was copied
  backward(sum(x * x));
  CHECK(gradients->data[5] == 8);
  x.clear_grad();
  backward(sum(x * x));
  CHECK(gradients->data[5] == 4);
  CHECK(x.grad().data() == gradients->data + 4);
  arena->data[4] = 11;
  CHECK(x.data()[0] == 11);
  CHECK_THROWS_AS(part_of(arena, 8, 3), Error);
  CHECK_THROWS_AS(bind_leaf(x, Storage::allocate(2), Storage::allocate(3)), Error);
  CHECK_THROWS_AS(bind_leaf(Tensor::zeros({2}), Storage::allocate(2), Storage::allocate(2)), Error);
}

}  // namespace
}  // namespace heed::inline HEED_REAL
