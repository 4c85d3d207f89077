#include "nn/forms/induced_attention.h"

#include <doctest/doctest.h>

#include "core/flops.h"
#include "core/ops.h"
#include "mixing_check.h"
#include "nn/forms/attention.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Copies the parameters of `from` whose names begin with the prefix.
void copy_named(const Module& from, const std::string& prefix, const Module& to) {
  for (const NamedParameter& p : to.parameters()) {
    const Tensor value = from.parameter(prefix + p.name);
    std::copy_n(value.data(), value.size(), Tensor(p.tensor).mutable_data());
  }
}

}  // namespace

TEST_CASE("induced attention is two attentions, one after the other") {
  const InducedAttention layer(3, 4, 2);
  shake(layer);
  CHECK(layer.parameter_count() == 3 * 4 + 2 * 4 * (16 + 4));
  const MultiHeadAttention first(4, 2), second(4, 2);
  copy_named(layer, "induced.attention.", first);
  copy_named(layer, "attention.", second);
  const Tensor x = random_tensor({2, 5, 4}, 1);
  const SequenceContext context = with_lengths(5, 3);
  const Tensor queries = Tensor::zeros({2, 3, 4}) + layer.parameter("induced.queries");
  const Tensor expected = second.across(x, first.across(queries, x, context.mask), {});
  CHECK(relative_difference(layer(x, context), expected) <= rounding);
}

TEST_CASE("the gradients of induced attention agree with central differences") {
  const InducedAttention layer(3, 4, 2);
  shake(layer);
  const Tensor x = random_tensor({2, 5, 4}, 1);
  check_mixing(layer, x, with_lengths(5, 3));
  check_padding_is_unseen(layer, x, with_lengths(5, 3));
}

TEST_CASE("induced attention is permutation equivariant") {
  const InducedAttention layer(3, 4, 2);
  shake(layer);
  const Tensor x = random_tensor({1, 6, 4}, 1);
  const Ids order = Ids::from({6}, {3, 0, 5, 1, 4, 2});
  CHECK(relative_difference(layer(reordered(x, order), {}), reordered(layer(x, {}), order)) <=
        rounding);
}

TEST_CASE("induced attention rejects masks of positions") {
  const InducedAttention layer(3, 4, 2);
  check_rejects(layer, {2, 5, 4}, {.mask = {.causal = true}}, "causal");
  check_rejects(layer, {2, 5, 4}, {.mask = {.window = 2}}, "window");
  check_rejects(layer, {2, 5, 3}, {}, "[2, 5, 3]");
}
