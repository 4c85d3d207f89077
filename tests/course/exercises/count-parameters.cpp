// The mistakes that the grader of the exercise count-parameters names.
#include <doctest/doctest.h>

#include "nn/models.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

namespace {

// The parts of the count. Each mistake changes one of them.
struct ParameterParts {
  int64_t dim, hidden, keys, values, bias, tokens, positions, layers, heads;

  ParameterParts(const ModelOptions& m, int64_t vocabulary)
      : dim(m.dim),
        hidden(m.feed_forward > 0 ? m.feed_forward : 4 * m.dim),
        keys(m.heads * key_dim(m)),
        values(m.heads * (m.attention.value_dim > 0 ? m.attention.value_dim : key_dim(m))),
        bias(m.bias),
        tokens(vocabulary),
        positions(m.positional.max_length),
        layers(m.layers),
        heads(m.heads) {}
  static int64_t key_dim(const ModelOptions& m) {
    return m.attention.key_dim > 0 ? m.attention.key_dim : m.dim / m.heads;
  }
  int64_t linear(int64_t inputs, int64_t outputs) const { return (inputs + bias) * outputs; }
  int64_t norm() const { return (1 + bias) * dim; }
  int64_t inputs() const { return 2 * linear(dim, keys) + linear(dim, values); }
  int64_t attention() const { return inputs() + linear(values, dim); }
  int64_t feed_forward() const { return linear(dim, hidden) + linear(hidden, dim); }
  int64_t layer() const { return 2 * norm() + attention() + feed_forward(); }
  int64_t total(bool tied) const {
    return (tied ? 1 : 2) * tokens * dim + positions * dim + layers * layer() + norm();
  }
};

int64_t right_parameters(const ModelOptions& m, int64_t vocabulary) {
  return ParameterParts(m, vocabulary).total(m.tie_weights);
}

TEST_CASE("exercise count-parameters: the solution passes") {
  CHECK(verdict("count_parameters", right_parameters) == "");
}

TEST_CASE("exercise count-parameters: the stub and mistakes are named") {
  CHECK_SAYS("The biases are missing", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               ParameterParts p(m, vocabulary);
               p.bias = 0;
               return p.total(m.tie_weights);
             });
  CHECK_SAYS("model.bias is false", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               ParameterParts p(m, vocabulary);
               p.bias = 1;
               return p.total(m.tie_weights);
             });
  CHECK_SAYS("The norms are missing", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               const ParameterParts p(m, vocabulary);
               return p.total(m.tie_weights) - (2 * p.layers + 1) * p.norm();
             });
  CHECK_SAYS("after the last layer is missing", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               const ParameterParts p(m, vocabulary);
               return p.total(m.tie_weights) - p.norm();
             });
  CHECK_SAYS("The norms in the layers", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               const ParameterParts p(m, vocabulary);
               return p.total(m.tie_weights) - 2 * p.layers * p.norm();
             });
  CHECK_SAYS("one of them is missing", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               const ParameterParts p(m, vocabulary);
               return p.total(m.tie_weights) - p.layers * p.norm();
             });
  CHECK_SAYS("a weight and a bias", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               const ParameterParts p(m, vocabulary);
               return p.total(m.tie_weights) - (2 * p.layers + 1) * p.bias * p.dim;
             });
  CHECK_SAYS("counted twice", "count_parameters", [](const ModelOptions& m, int64_t vocabulary) {
    return ParameterParts(m, vocabulary).total(false);
  });
  CHECK_SAYS("The matrix of the logits is missing", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               return ParameterParts(m, vocabulary).total(true);
             });
  CHECK_SAYS("logits has no bias", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               return right_parameters(m, vocabulary) + vocabulary;
             });
  CHECK_SAYS("table of positions", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               const ParameterParts p(m, vocabulary);
               return p.total(m.tie_weights) - p.positions * p.dim;
             });
  CHECK_SAYS("Only one layer", "count_parameters", [](const ModelOptions& m, int64_t vocabulary) {
    ParameterParts p(m, vocabulary);
    p.layers = 1;
    return p.total(m.tie_weights);
  });
  CHECK_SAYS("output projection", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               const ParameterParts p(m, vocabulary);
               return p.total(m.tie_weights) - p.layers * p.linear(p.values, p.dim);
             });
  CHECK_SAYS("at the width of all heads", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               const ParameterParts p(m, vocabulary);
               return p.total(m.tie_weights) +
                      (p.heads - 1) * p.layers * (p.inputs() + p.values * p.dim);
             });
  CHECK_SAYS("second matrix of the feed-forward", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               const ParameterParts p(m, vocabulary);
               return p.total(m.tie_weights) - p.layers * p.linear(p.hidden, p.dim);
             });
  CHECK_SAYS("stands for 4 · dim", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               ParameterParts p(m, vocabulary);
               p.hidden = m.feed_forward;
               return p.total(m.tie_weights);
             });
  CHECK_SAYS("set the widths of a head", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               ParameterParts p(m, vocabulary);
               p.keys = p.values = p.dim;
               return p.total(m.tie_weights);
             });
  CHECK_SAYS("value_dim sets the width", "count_parameters",
             [](const ModelOptions& m, int64_t vocabulary) {
               ParameterParts p(m, vocabulary);
               p.values = p.keys;
               return p.total(m.tie_weights);
             });
}

}  // namespace
}  // namespace heed::course
