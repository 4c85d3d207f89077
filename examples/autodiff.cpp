// Automatic differentiation alone: tensors, an expression, its gradient. No layer, no optimizer.
//
// Finds the minimum of Rosenbrock's function, f(x, y) = (1 - x)² + 100 (y - x²)², by gradient
// descent with backtracking. The minimum is at (1, 1).
#include <fmt/core.h>

#include <heed/core/autograd.h>
#include <heed/core/ops.h>

using namespace heed;

static Tensor rosenbrock(const Tensor& p) {
  const Tensor x = slice(p, 0, 0, 1), y = slice(p, 0, 1, 2);
  return sum(pow(1 - x, 2) + 100 * pow(y - x * x, 2));
}

int main() {
  Tensor p = Tensor::from({2}, {-1.2, 1}).set_requires_grad();
  double step = 1e-3;
  for (int i = 0; i < 20000; ++i) {
    p.clear_grad();
    const Tensor f = rosenbrock(p);
    backward(f);

    // Take the largest step that lowers f. Values alone need no graph.
    ScopeGuard scope;
    scope->gradients = false;
    Tensor next = p;
    for (step *= 2; step > 1e-9; step /= 2) {
      next = p - static_cast<real>(step) * p.grad();
      if (rosenbrock(next).item() < f.item()) break;
    }
    std::copy_n(next.data(), next.size(), p.mutable_data());
  }
  fmt::print("x = {:.2f}, y = {:.2f}, f = {:.6f}\n", p.data()[0], p.data()[1],
             rosenbrock(p).item());
}
