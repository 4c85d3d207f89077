#include "support.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/random.h"

namespace heed::inline HEED_REAL::testing {

std::unique_ptr<Model> small_model(ModelKind kind, const std::function<void(ModelOptions&)>& change,
                                   const ModelSizes& sizes) {
  ScopeGuard here;
  here->seed = 5;
  here->calls = 0;
  ModelOptions o;
  o.kind = kind;
  o.dim = 8;
  o.heads = 2;
  o.feed_forward = 8;
  change(o);
  return make_model(o, sizes);
}

MultiHeadAttentionOptions setup_of(const std::function<void(MultiHeadAttentionOptions&)>& change) {
  MultiHeadAttentionOptions setup;
  change(setup);
  return setup;
}

Tensor random_tensor(const Shape& shape, uint32_t stream) {
  Random random(17, Purpose::test, 0, 0, stream);
  Tensor x = Tensor::empty(shape);
  real* to = x.mutable_data();
  for (int64_t i = 0; i < x.size(); ++i) to[i] = static_cast<real>(2 * random.uniform() - 1);
  return x.set_requires_grad();
}

void shake(const Module& module) {
  uint32_t stream = 1000;
  for (const NamedParameter& p : module.parameters()) {
    const Tensor drawn = random_tensor(p.tensor.shape(), stream++);
    std::copy_n(drawn.data(), drawn.size(), Tensor(p.tensor).mutable_data());
  }
}

namespace {

struct Distance {
  double difference = 0, size = 0;  // ‖got - expected‖, ‖expected‖

  Distance(const Tensor& got, const Tensor& expected) {
    REQUIRE(got.shape() == expected.shape());
    for (int64_t i = 0; i < got.size(); ++i) {
      difference += std::pow(static_cast<double>(got.data()[i]) - expected.data()[i], 2);
      size += std::pow(static_cast<double>(expected.data()[i]), 2);
    }
    difference = std::sqrt(difference);
    size = std::sqrt(size);
  }
};

}  // namespace

double relative_difference(const Tensor& got, const Tensor& expected) {
  const Distance d(got, expected);
  return d.difference / d.size;
}

void check_same(const Tensor& got, const Tensor& expected) {
  const Distance d(got, expected);
  CHECK(d.difference <= rounding * std::max(1.0, d.size));
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::equal(a.values().begin(), a.values().end(), b.values().begin());
}

double l1(const Tensor& x) {
  double total = 0;
  for (const real v : x.values()) total += std::abs(static_cast<double>(v));
  return total;
}

Tensor read_out(const Tensor& x) { return sum(x * random_tensor(x.shape(), 99).detach()); }

void check_changes_nothing(const Model& model, const Inputs& in,
                           const std::function<std::shared_ptr<void>()>& watch) {
  std::vector<Tensor> found[2];
  uint32_t calls[2];
  for (const bool watched : {false, true}) {
    ScopeGuard here;
    here->training = true;
    here->calls = 0;
    const std::shared_ptr<void> watching = watched ? watch() : nullptr;
    const Tensor logits = model.logits(in);
    found[watched].push_back(logits.detach());
    backward(read_out(logits));
    for (const NamedParameter& p : model.parameters()) {
      found[watched].push_back(p.tensor.grad().clone());
      Tensor(p.tensor).clear_grad();
    }
    calls[watched] = scope().calls;
  }
  CHECK(calls[0] == calls[1]);
  REQUIRE(found[0].size() == found[1].size());
  for (size_t i = 0; i < found[0].size(); ++i) CHECK(same_bits(found[0][i], found[1][i]));
}

}  // namespace heed::inline HEED_REAL::testing
