// The parameters of the minimal build, each where it is, against those in an arena.
#include <doctest/doctest.h>

#include <cmath>

#include "optim/optimizer.h"
#include "optim/trained.h"

#define parameter_set separate_parameters
#include "../../optim/minimal/parameters.cpp"
#undef parameter_set

using namespace heed;

TEST_CASE("separate parameters: steps are those of an arena") {
  OptimOptions sgd, adam, adamw;
  sgd.kind = &optimizers::sgd;
  sgd.momentum = 0.9;
  adam.kind = &optimizers::adam;
  adam.amsgrad = true;
  adamw.weight_decay = 0.1;
  sgd.clip_norm = adam.clip_norm = adamw.clip_norm = 1;
  for (const OptimOptions& options : {sgd, adam, adamw}) {
    CAPTURE(std::string(options.kind->name));
    const auto wave = [](int64_t i, int64_t t) {
      return std::sin(0.1 * static_cast<double>(i * (t + 1)));
    };
    // Sizes of whole cache lines, which kernels/adam.cpp needs.
    std::vector<NamedParameter> parameters[2];
    for (auto& list : parameters) {
      list.push_back({"w", parameter(Shape{8, 32}, [&](int64_t i) { return wave(i, 3); })});
      list.push_back({"b", parameter(Shape{64}, [&](int64_t i) { return wave(i, 4); })});
      list.push_back({"frozen", Tensor::full({3}, 2)});
      list.push_back({"without a gradient", parameter(Shape{16}, [](int64_t) { return 1; })});
    }
    Optimizer arena(options, parameters[0]);
    Optimizer separate(options, separate_parameters(parameters[1]));
    Optimizer* const optimizers[] = {&arena, &separate};
    double norms[2];
    for (int64_t t = 0; t < 5; ++t)
      for (size_t k = 0; k < 2; ++k) {
        optimizers[k]->zero_grad();
        give_gradient(parameters[k][0].tensor, [&](int64_t i) { return wave(i, t); });
        give_gradient(parameters[k][1].tensor, [&](int64_t i) { return wave(i, t + 1); });
        norms[k] = optimizers[k]->step(0.5);
        if (k == 1) CHECK(norms[1] == doctest::Approx(norms[0]).epsilon(1e-12));
      }
    CHECK(separate.steps() == 5);
    for (size_t p = 0; p < parameters[0].size(); ++p) {
      const Tensor& a = parameters[0][p].tensor;
      const Tensor& b = parameters[1][p].tensor;
      for (int64_t i = 0; i < a.size(); ++i)
        CHECK(b.data()[i] == doctest::Approx(a.data()[i]).epsilon(1e-5));
    }
    CHECK_THROWS_AS(separate.arena(), Error);
    CHECK_THROWS_AS(separate.state(), Error);
  }
  CHECK_THROWS_AS(separate_parameters({{"frozen", Tensor::full({3}, 2)}}), InputError);
}
