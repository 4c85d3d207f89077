// Uses an installed heed: headers by both names they go by, and code from the libraries.
#include <cstdio>
#include <heed/core/ops.h>

#include "core/random.h"

int main() {
  heed::Random random(1, heed::Purpose::test);
  const auto x = static_cast<heed::real>(random.uniform());
  const heed::Tensor a = heed::Tensor::from({1, 2}, {x, 2});
  const heed::Tensor b = heed::Tensor::from({2, 1}, {3, 4});
  const heed::Tensor product = heed::matmul(a, b);
  std::printf("[%g 2] · [3 4] = %g\n", x, product.item());
  return product.item() == 3 * x + 8 ? 0 : 1;
}
