// Shared by the tests of layers: setups, random values, and the distance of two tensors.
#pragma once

#include <functional>
#include <memory>

#include "nn/forms/attention.h"
#include "nn/models.h"

namespace heed::inline HEED_REAL::testing {

#ifdef HEED_DOUBLE
inline constexpr double rounding = 1e-10;
#else
inline constexpr double rounding = 1e-5;
#endif

// U(-1, 1), different for every `stream`; requires a gradient.
Tensor random_tensor(const Shape& shape, uint32_t stream);
// Replaces every parameter, biases too, by random values.
void shake(const Module& module);

// ‖got - expected‖ / ‖expected‖, over all elements; the shapes must agree.
double relative_difference(const Tensor& got, const Tensor& expected);
// ‖got - expected‖ is within rounding of ‖expected‖, or of 1 where that is less.
void check_same(const Tensor& got, const Tensor& expected);
// The shapes agree, and every element is equal.
bool same_bits(const Tensor& a, const Tensor& b);
double l1(const Tensor& x);

// A model of width 8 with 2 heads and this change. Its weights are always the same.
std::unique_ptr<Model> small_model(ModelKind kind, const std::function<void(ModelOptions&)>& change,
                                   const ModelSizes& sizes);

// The defaults with this change of the form.
MultiHeadAttentionOptions setup_of(const std::function<void(MultiHeadAttentionOptions&)>& change);

// Σ cotangent · x, for a random cotangent: every element counts.
Tensor read_out(const Tensor& x);

// Checks that a training step has bitwise identical logits and gradients, and draws as many random
// streams, while the object that `watch` returns exists.
void check_changes_nothing(const Model& model, const Inputs& in,
                           const std::function<std::shared_ptr<void>()>& watch);

}  // namespace heed::inline HEED_REAL::testing
