#include "course/grader/language_model.h"

namespace heed::course {

[[gnu::weak]] int64_t count_parameters(const ModelOptions& model, int64_t vocabulary);

namespace {
namespace count_parameters_answers {

// The parts of the count. Each mistake changes some of them.
struct Parts {
  int64_t dim, hidden, keys, values, bias, tokens, positions, layers, heads;
  int64_t feed_forward;  // of the config, where 0 stands for 4 · dim
  bool tied;

  Parts(const ModelOptions& m, int64_t vocabulary)
      : dim(m.dim),
        hidden(m.feed_forward > 0 ? m.feed_forward : 4 * m.dim),
        keys(head_widths(m.attention, m.dim, m.heads).keys()),
        values(head_widths(m.attention, m.dim, m.heads).values()),
        bias(m.bias),
        tokens(vocabulary),
        positions(m.positional.max_length),
        layers(m.layers),
        heads(m.heads),
        feed_forward(m.feed_forward),
        tied(m.tie_weights) {}
  int64_t linear(int64_t inputs, int64_t outputs) const { return (inputs + bias) * outputs; }
  int64_t norm() const { return (1 + bias) * dim; }
  int64_t norms() const { return 2 * layers + 1; }
  int64_t inputs() const { return 2 * linear(dim, keys) + linear(dim, values); }
  int64_t attention() const { return inputs() + linear(values, dim); }
  int64_t layer() const {
    return 2 * norm() + attention() + linear(dim, hidden) + linear(hidden, dim);
  }
  int64_t total() const {
    return (tied ? 1 : 2) * tokens * dim + positions * dim + layers * layer() + norm();
  }
};

template <auto count>
int64_t counted(const ModelOptions& m, int64_t vocabulary) {
  return count(Parts(m, vocabulary));
}
template <auto change>
int64_t changed(const ModelOptions& m, int64_t vocabulary) {
  Parts parts(m, vocabulary);
  change(parts);
  return parts.total();
}
// All but this.
template <auto part>
int64_t without(const ModelOptions& m, int64_t vocabulary) {
  const Parts parts(m, vocabulary);
  return parts.total() - part(parts);
}

const std::vector<WrongAnswer<decltype(&count_parameters)>> wrong_counts{
    {"", counted<[](const Parts& p) { return p.total(); }>},
    {"This is the embedding alone: the layers, the positions and the rest are missing.",
     counted<[](const Parts& p) { return p.tokens * p.dim; }>},
    {"The biases are missing, of linear layers and of norms: model.bias is true.",
     changed<[](Parts& p) { p.bias = 0; }>},
    {"Biases are counted, but model.bias is false: neither linear layers nor norms have one.",
     changed<[](Parts& p) { p.bias = 1; }>},
    {"The norms are missing: two in each layer, and one after the last.",
     without<[](const Parts& p) { return p.norms() * p.norm(); }>},
    {"The norm after the last layer is missing.", without<[](const Parts& p) { return p.norm(); }>},
    {"The norms in the layers are missing: there are two in each.",
     without<[](const Parts& p) { return 2 * p.layers * p.norm(); }>},
    {"Each layer has two norms: one of them is missing.",
     without<[](const Parts& p) { return p.layers * p.norm(); }>},
    {"A LayerNorm has a weight and a bias: its biases are missing.",
     without<[](const Parts& p) { return p.norms() * p.bias * p.dim; }>},
    {"The tied matrix is counted twice: with tie_weights the logits are computed by the embedding.",
     changed<[](Parts& p) { p.tied = false; }>},
    {"The matrix of the logits is missing: without tie_weights the logits have their own.",
     changed<[](Parts& p) { p.tied = true; }>},
    {"The layer that computes the logits has no bias.",
     without<[](const Parts& p) { return p.tied ? 0 : -p.tokens; }>},
    {"The table of positions is missing: max_length rows of dim.",
     changed<[](Parts& p) { p.positions = 0; }>},
    {"Only one layer is counted: there are model.layers of them.",
     changed<[](Parts& p) { p.layers = 1; }>},
    {"The output projection of attention is missing: a fourth matrix, H·V to D.",
     without<[](const Parts& p) { return p.layers * p.linear(p.values, p.dim); }>},
    {"Each head is counted at the width of all heads: H heads of width K have a matrix of H·K "
     "columns together.",
     without<[](const Parts& p) {
       return (1 - p.heads) * p.layers * (p.inputs() + p.values * p.dim);
     }>},
    {"The second matrix of the feed-forward network is missing.",
     without<[](const Parts& p) { return p.layers * p.linear(p.hidden, p.dim); }>},
    {"feed_forward = 0 stands for 4 · dim.", changed<[](Parts& p) { p.hidden = p.feed_forward; }>},
    {"key_dim and value_dim set the widths of a head: queries and keys have H·K columns, values "
     "H·V, not dim.",
     changed<[](Parts& p) { p.keys = p.values = p.dim; }>},
    {"value_dim sets the width of values; only if it is 0 are they as wide as keys.",
     changed<[](Parts& p) { p.values = p.keys; }>}};

}  // namespace count_parameters_answers
}  // namespace

void grade_count_parameters(Grader& g, decltype(&count_parameters) answer) {
  const auto parameters = [](const CountedModel& model) {
    ScopeGuard here;
    here->shapes_only = true;  // counts without computing values
    return static_cast<double>(model.make()->parameter_count());
  };
  const auto count = [](decltype(answer) of, const CountedModel& model) {
    return static_cast<double>(of(model.options, model.vocabulary));
  };
  const auto check = [&](auto change) {
    const CountedModel model =
        clear_model(g, change, parameters, count_parameters_answers::wrong_counts, count);
    g.expect_near("parameters of " + model.name(), count(answer, model), parameters(model), {},
                  1e-12);
  };
  check([](ModelOptions&) {});
  check([](ModelOptions& o) { o.tie_weights = true; });
  check([](ModelOptions& o) { o.bias = false; });
  check([](ModelOptions& o) { o.feed_forward = 0; });
  const int64_t key = g.size(9, 11), value = g.size(3, 4);
  check([=](ModelOptions& o) { o.attention.key_dim = key, o.attention.value_dim = value; });
  check([=](ModelOptions& o) { o.attention.key_dim = value; });
}

static const Exercise count_parameters_exercise("count_parameters", grade_count_parameters,
                                                {count_parameters},
                                                count_parameters_answers::wrong_counts);

}  // namespace heed::course
