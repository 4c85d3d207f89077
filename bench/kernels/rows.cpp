// Row-wise and elementwise operations, which are limited by memory bandwidth: layer norm, softmax,
// GELU, cross entropy. In the shapes of the models of `heed bench`, and larger than the caches.
#include <fmt/format.h>

#include "bench/kernels/limits.h"
#include "core/ops.h"

namespace heed {
namespace {

// `make` returns the operation for a shape; its arrays live while it is measured.
void add(const std::string& name, const Shape& shape, Computation (*make)(const Shape& shape)) {
  add_passes(name, fmt::format("{}x{}", shape[0], shape[1]),
             [=](benchmark::State& state, Pass pass) {
               const auto [seconds, cost] = time_operation(state, make(shape), pass);
               count_bytes(state, cost.bytes, seconds);
             });
}

Computation layer_norm_of(const Shape& shape) {
  const Tensor x = random_leaf(shape), weight = random_leaf({shape[1]}),
               bias = random_leaf({shape[1]});
  return [=] { return layer_norm(x, weight, bias, real{1e-5}); };
}

Computation softmax_of(const Shape& shape) {
  return [x = random_leaf(shape)] { return softmax(x); };
}

Computation gelu_of(const Shape& shape) {
  return [x = random_leaf(shape)] { return gelu(x); };
}

Computation cross_entropy_of(const Shape& shape) {
  const Tensor logits = random_leaf(shape);
  const Ids targets = Ids::full({shape[0]}, 1);
  return [=] { return cross_entropy(logits, targets, Reduction::sum); };
}

}  // namespace

void add_rows() {
  for (const Shape& shape : {Shape{512, 64}, Shape{4096, 384}, Shape{65536, 768}})
    add("layer_norm", shape, layer_norm_of);
  for (const Shape& shape : {Shape{2048, 32}, Shape{24576, 256}, Shape{16384, 4096}})
    add("softmax", shape, softmax_of);
  for (const Shape& shape : {Shape{512, 256}, Shape{4096, 1536}, Shape{16384, 3072}})
    add("gelu", shape, gelu_of);
  for (const Shape& shape : {Shape{512, 64}, Shape{512, 8000}, Shape{256, 50257}})
    add("cross_entropy", shape, cross_entropy_of);
}

}  // namespace heed
