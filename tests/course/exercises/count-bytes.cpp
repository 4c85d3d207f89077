// The mistakes that the grader of the exercise count-bytes names.
#include <doctest/doctest.h>

#include <array>

#include "nn/models.h"
#include "optim/optimizer.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

namespace {

// The factors of the count. Each mistake changes one of them.
struct ByteParts {
  int64_t bytes = 4, gradient_bytes = 4, cache_bytes = 4, arrays, keys, values, heads, dim;
  int64_t layers, sequences, tokens;

  ByteParts(const ModelOptions& m, const OptimOptions& optimizer, int64_t sequences_,
            int64_t tokens_)
      : arrays(optimizer.kind == &optimizers::sgd ? (optimizer.momentum > 0 ? 1 : 0)
                                                  : (optimizer.amsgrad ? 3 : 2)),
        keys(m.heads * (m.attention.key_dim > 0 ? m.attention.key_dim : m.dim / m.heads)),
        values(m.attention.value_dim > 0 ? m.heads * m.attention.value_dim : keys),
        heads(m.heads),
        dim(m.dim),
        layers(m.layers),
        sequences(sequences_),
        tokens(tokens_) {}
};

template <auto change>
std::array<int64_t, 4> changed_bytes(const ModelOptions& m, const OptimOptions& optimizer,
                                     int64_t parameters, int64_t sequences, int64_t tokens) {
  ByteParts p(m, optimizer, sequences, tokens);
  change(p);
  return {p.bytes * parameters, p.gradient_bytes * parameters, p.arrays * 4 * parameters,
          p.cache_bytes * p.layers * p.sequences * p.tokens * (p.keys + p.values)};
}

template <auto arrays>  // (optimizer) → how many arrays it keeps
std::array<int64_t, 4> with_arrays(const ModelOptions& m, const OptimOptions& optimizer,
                                   int64_t parameters, int64_t sequences, int64_t tokens) {
  auto bytes = changed_bytes<[](ByteParts&) {}>(m, optimizer, parameters, sequences, tokens);
  bytes[2] = arrays(optimizer) * 4 * parameters;
  return bytes;
}

TEST_CASE("exercise count-bytes: the solution passes") {
  CHECK(verdict("count_bytes", changed_bytes<[](ByteParts&) {}>) == "");
}

TEST_CASE("exercise count-bytes: the stub and mistakes are named") {
  CHECK_SAYS("bytes of double", "count_bytes", changed_bytes<[](ByteParts& p) { p.bytes = 8; }>);
  CHECK_SAYS("half precision", "count_bytes", changed_bytes<[](ByteParts& p) { p.bytes = 2; }>);
  CHECK_SAYS("Every weight has a gradient", "count_bytes",
             changed_bytes<[](ByteParts& p) { p.gradient_bytes = 0; }>);
  CHECK_SAYS("number of values", "count_bytes",
             changed_bytes<[](ByteParts& p) { p.cache_bytes = 1; }>);
  CHECK_SAYS("Only keys", "count_bytes", changed_bytes<[](ByteParts& p) { p.values = 0; }>);
  CHECK_SAYS("Queries are not cached", "count_bytes",
             changed_bytes<[](ByteParts& p) { p.values += p.keys; }>);
  CHECK_SAYS("Only one layer", "count_bytes", changed_bytes<[](ByteParts& p) { p.layers = 1; }>);
  CHECK_SAYS("Only one sequence", "count_bytes",
             changed_bytes<[](ByteParts& p) { p.sequences = 1; }>);
  CHECK_SAYS("Only one token", "count_bytes", changed_bytes<[](ByteParts& p) { p.tokens = 1; }>);
  CHECK_SAYS("set the widths", "count_bytes",
             changed_bytes<[](ByteParts& p) { p.keys = p.values = p.dim; }>);
  CHECK_SAYS("The heads are counted twice", "count_bytes",
             changed_bytes<[](ByteParts& p) { p.keys *= p.heads, p.values *= p.heads; }>);
  CHECK_SAYS("Adam keeps two means for each", "count_bytes",
             with_arrays<[](const OptimOptions&) { return 0; }>);
  CHECK_SAYS("of the gradient, and of its square", "count_bytes",
             with_arrays<[](const OptimOptions&) { return 1; }>);
  CHECK_SAYS("The two means are Adam's", "count_bytes",
             with_arrays<[](const OptimOptions&) { return 2; }>);
  CHECK_SAYS("no third array", "count_bytes", with_arrays<[](const OptimOptions&) { return 3; }>);
  CHECK_SAYS("Without momentum SGD keeps nothing", "count_bytes",
             with_arrays<[](const OptimOptions& o) { return o.kind == &optimizers::sgd ? 1 : 2; }>);
  CHECK_SAYS("keeps the last update", "count_bytes",
             with_arrays<[](const OptimOptions& o) { return o.kind == &optimizers::sgd ? 0 : 2; }>);
  CHECK_SAYS("With amsgrad there is a third", "count_bytes", with_arrays<[](const OptimOptions& o) {
               return o.kind == &optimizers::sgd ? (o.momentum > 0 ? 1 : 0) : 2;
             }>);
}

}  // namespace
}  // namespace heed::course
