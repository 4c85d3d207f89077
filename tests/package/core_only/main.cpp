#include <heed/core/ops.h>
#include <heed/core/print.h>

int main() {
  const heed::Tensor x = heed::Tensor::full({2}, 1);
  fmt::print("{}\n", heed::mul(x, heed::Tensor::from({2}, {1, 2})));
}
