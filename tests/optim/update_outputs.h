// The parameters and states after some steps of each update rule, on random gradients; in the
// namespace `kernels`, which the macro of that name may replace by `reference`.
#pragma once

#include <vector>

#include "core/random.h"
#include "optim/arena.h"
#include "optim/kernels/kernels.h"
#include "optim/kernels/more_kernels.h"

namespace heed::inline HEED_REAL::kernels {

inline std::vector<std::vector<real>> update_outputs() {
  constexpr int64_t n = 2 * Arena::line;
  Random random(1, Purpose::test);
  const auto normal = [&random] {
    std::vector<real> x(n);
    for (real& value : x) value = static_cast<real>(random.normal());
    return x;
  };
  std::vector<std::vector<real>> outputs;
  // Every choice of options: weight decay, momentum, Nesterov, and for Adam decoupled and amsgrad.
  for (const double decay : {0.0, 0.1})
    for (const bool first : {false, true})
      for (const bool second : {false, true}) {
        OptimOptions options{.kind = first ? &optimizers::adamw : &optimizers::adam};
        options.beta2 = 0.98;
        options.amsgrad = second;
        std::vector<real> w = normal(), m(n), v(n), largest(n);
        for (int64_t t = 1; t <= 20; ++t)
          adam_step({{n,
                      true,
                      normal().data(),
                      w.data(),
                      {m.data(), v.data(), second ? largest.data() : nullptr}},
                     options,
                     t,
                     0.01,
                     0.5,
                     decay});
        outputs.insert(outputs.end(), {w, m, v, largest});

        options.momentum = first ? 0.9 : 0;
        options.nesterov = first && second;
        std::vector<real> sgd_w = normal(), buffer(n);
        for (int64_t t = 1; t <= 20; ++t)
          sgd_step({{n, true, normal().data(), sgd_w.data(), {first ? buffer.data() : nullptr}},
                    options,
                    t,
                    0.01,
                    0.5,
                    decay});
        outputs.insert(outputs.end(), {sgd_w, buffer});
      }
  std::vector<real> average = normal(), mean(n);
  for (int t = 0; t < 20; ++t) ema_step(n, 0.9, normal().data(), average.data());
  std::vector<real> a = normal(), b = normal(), c = normal();
  const real* const arrays[] = {a.data(), b.data(), c.data()};
  mean_of(n, arrays, mean.data());
  outputs.insert(outputs.end(), {average, mean});
  return outputs;
}

}  // namespace heed::inline HEED_REAL::kernels
