// The mistakes that the grader of the exercise count-flops names.
#include <doctest/doctest.h>

#include "nn/models.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

namespace {

// The factors of the count. Each mistake changes one of them.
struct FlopParts {
  double dim, hidden, keys, values, heads, layers, rows, length;
  double per_pair = 2, scores = 1, sums = 1, inputs = 1, output = 1, products = 2, logits;

  FlopParts(const ModelOptions& m, int64_t vocabulary, int64_t batch, int64_t time)
      : dim(static_cast<double>(m.dim)),
        hidden(m.feed_forward > 0 ? static_cast<double>(m.feed_forward) : 4 * dim),
        keys(static_cast<double>(
            m.heads * (m.attention.key_dim > 0 ? m.attention.key_dim : m.dim / m.heads))),
        values(m.attention.value_dim > 0 ? static_cast<double>(m.heads * m.attention.value_dim)
                                         : keys),
        heads(static_cast<double>(m.heads)),
        layers(static_cast<double>(m.layers)),
        rows(static_cast<double>(batch * time)),
        length(static_cast<double>(time)),
        logits(2 * rows * dim * static_cast<double>(vocabulary)) {}

  double attention() const { return per_pair * rows * length * (scores * keys + sums * values); }
  double linear() const {
    return 2 * rows * dim * (inputs * (2 * keys + values) + output * values + products * hidden);
  }
  double total() const { return layers * (attention() + linear()) + logits; }
};

// The count after a change of its factors.
template <auto change>
double changed_flops(const ModelOptions& m, int64_t vocabulary, int64_t batch, int64_t time) {
  FlopParts parts(m, vocabulary, batch, time);
  change(parts);
  return parts.total();
}

TEST_CASE("exercise count-flops: the solution passes") {
  CHECK(verdict("count_flops", changed_flops<[](FlopParts&) {}>) == "");
}

TEST_CASE("exercise count-flops: the stub and mistakes are named") {
  CHECK_SAYS("all is counted once", "count_flops",
             [](const ModelOptions& m, int64_t vocabulary, int64_t batch, int64_t time) {
               return FlopParts(m, vocabulary, batch, time).total() / 2;
             });
  CHECK_SAYS("That is a training step", "count_flops",
             [](const ModelOptions& m, int64_t vocabulary, int64_t batch, int64_t time) {
               return FlopParts(m, vocabulary, batch, time).total() * 3;
             });
  CHECK_SAYS("Only one sequence", "count_flops",
             [](const ModelOptions& m, int64_t vocabulary, int64_t, int64_t time) {
               return FlopParts(m, vocabulary, 1, time).total();
             });
  CHECK_SAYS("The logits are missing", "count_flops",
             changed_flops<[](FlopParts& p) { p.logits = 0; }>);
  CHECK_SAYS("look-up of an embedding", "count_flops",
             changed_flops<[](FlopParts& p) { p.logits *= 2; }>);
  CHECK_SAYS("One of the two products", "count_flops",
             changed_flops<[](FlopParts& p) { p.sums = 0; }>);
  CHECK_SAYS("One of the two products", "count_flops",
             changed_flops<[](FlopParts& p) { p.scores = 0; }>);
  // Where keys and values have different widths, it is known which of them.
  CHECK_SAYS("The weighted sum of the values is missing", "count_flops",
             [](const ModelOptions& m, int64_t vocabulary, int64_t batch, int64_t time) {
               FlopParts parts(m, vocabulary, batch, time);
               if (parts.keys != parts.values) parts.sums = 0;
               return parts.total();
             });
  CHECK_SAYS("The scores are missing", "count_flops",
             [](const ModelOptions& m, int64_t vocabulary, int64_t batch, int64_t time) {
               FlopParts parts(m, vocabulary, batch, time);
               if (parts.keys != parts.values) parts.scores = 0;
               return parts.total();
             });
  CHECK_SAYS("Attention itself is missing", "count_flops",
             changed_flops<[](FlopParts& p) { p.per_pair = 0; }>);
  CHECK_SAYS("as if each were H·K wide", "count_flops",
             changed_flops<[](FlopParts& p) { p.per_pair = 2 * p.heads; }>);
  CHECK_SAYS("counted for one key", "count_flops",
             changed_flops<[](FlopParts& p) { p.length = 1; }>);
  CHECK_SAYS("the causal mask keeps", "count_flops",
             changed_flops<[](FlopParts& p) { p.length = (p.length + 1) / 2; }>);
  CHECK_SAYS("output projection", "count_flops", changed_flops<[](FlopParts& p) { p.output = 0; }>);
  CHECK_SAYS("projections of queries, keys and values", "count_flops",
             changed_flops<[](FlopParts& p) { p.inputs = 0; }>);
  CHECK_SAYS("one of them is missing", "count_flops",
             changed_flops<[](FlopParts& p) { p.products = 1; }>);
  CHECK_SAYS("The feed-forward network is missing", "count_flops",
             changed_flops<[](FlopParts& p) { p.products = 0; }>);
  CHECK_SAYS("set the widths of a head", "count_flops",
             changed_flops<[](FlopParts& p) { p.keys = p.values = p.dim; }>);
  CHECK_SAYS("value_dim sets the width", "count_flops",
             changed_flops<[](FlopParts& p) { p.values = p.keys; }>);
  CHECK_SAYS("Only one layer", "count_flops", changed_flops<[](FlopParts& p) { p.layers = 1; }>);
  CHECK_SAYS("stands for 4 · dim", "count_flops",
             [](const ModelOptions& m, int64_t vocabulary, int64_t batch, int64_t time) {
               FlopParts parts(m, vocabulary, batch, time);
               parts.hidden = static_cast<double>(m.feed_forward);
               return parts.total();
             });
}

}  // namespace
}  // namespace heed::course
