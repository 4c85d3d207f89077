// Tensors and ids as text.
#include "core/print.h"

#include <doctest/doctest.h>

#include <string>

namespace heed::inline HEED_REAL {
namespace {

TEST_CASE("print: scalars, vectors and matrices") {
  CHECK(fmt::format("{}", Tensor::scalar(2.5)) == "tensor(2.5)");
  CHECK(fmt::format("{}", Tensor::from({3}, {1, -2, 1e-7})) == "tensor([    1,    -2, 1e-07])");
  CHECK(fmt::format("{}", Tensor::from({2, 3}, {1, 2.5, 3, 4, -5, 6})) ==
        "tensor([[  1, 2.5,   3],\n"
        "        [  4,  -5,   6]])");
  CHECK(fmt::format("{}", Tensor::from({2, 1, 2}, {1, 2, 3, 4})) ==
        "tensor([[[1, 2]],\n\n"
        "        [[3, 4]]])");
  CHECK(fmt::format("{}", Ids::from({2, 2}, {1, 20, 300, 4})) ==
        "ids([[  1,  20],\n"
        "     [300,   4]])");
}

TEST_CASE("print: empty handles and empty tensors") {
  CHECK(to_string(Tensor()) == "tensor()");
  CHECK(to_string(Ids()) == "ids()");
  CHECK(to_string(Tensor::zeros({0, 3})) == "tensor([], shape=[0, 3])");
}

TEST_CASE("print: large tensors are abbreviated") {
  CHECK(to_string(Tensor::full({2000}, 1)) == "tensor([1, 1, 1, ..., 1, 1, 1], shape=[2000])");
  const std::string text = to_string(Tensor::full({500, 4}, 1));
  CHECK(text ==
        "tensor([[1, 1, 1, 1],\n        [1, 1, 1, 1],\n        [1, 1, 1, 1],\n        ...,\n"
        "        [1, 1, 1, 1],\n        [1, 1, 1, 1],\n        [1, 1, 1, 1]], shape=[500, 4])");
  CHECK(to_string(Tensor::full({1000}, 1)).find("...") == std::string::npos);
}

}  // namespace
}  // namespace heed::inline HEED_REAL
