// Uses an installed heed as a stranger would: learns y = 2 x₀ - x₁ + 3 from examples.
#include <cstdio>
#include <heed/core/autograd.h>
#include <heed/core/ops.h>
#include <heed/core/random.h>

#include "nn/linear.h"  // the same headers by the names they have inside heed
#include "optim/optimizer.h"

int main() {
  heed::Random random(1, heed::Purpose::test);
  heed::Tensor x = heed::Tensor::empty({64, 2});
  heed::Tensor y = heed::Tensor::empty({64, 1});
  for (int i = 0; i < 64; ++i) {
    heed::real* row = x.mutable_data() + 2 * i;
    row[0] = static_cast<heed::real>(random.normal());
    row[1] = static_cast<heed::real>(random.normal());
    y.mutable_data()[i] = 2 * row[0] - row[1] + 3;
  }

  heed::Linear layer(2, 1);
  const auto optimizer = heed::make_optimizer({.lr = 0.05, .clip_norm = 0}, layer.parameters());
  heed::real loss = 0;
  for (int step = 0; step < 500; ++step) {
    optimizer->zero_grad();
    const heed::Tensor error = heed::mse_loss(layer(x), y);
    heed::backward(error);
    loss = error.item();
    if (!(optimizer->step(0.05) >= 0)) return 1;
  }
  std::printf("y = %.3f x0 + %.3f x1 + %.3f, loss %g\n", layer.weight.data()[0],
              layer.weight.data()[1], layer.bias.data()[0], loss);
  return loss < 1e-6 ? 0 : 1;
}
