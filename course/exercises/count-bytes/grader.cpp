#include <array>

#include "course/grader/language_model.h"
#include "nn/cache.h"
#include "optim/save.h"

namespace heed::course {

[[gnu::weak]] std::array<int64_t, 4> count_bytes(const ModelOptions& model,
                                                 const OptimOptions& optimizer, int64_t parameters,
                                                 int64_t sequences, int64_t tokens);

namespace {
namespace count_bytes_answers {

// The factors of the count. Each mistake changes some of them.
struct Parts {
  bool sgd, momentum, amsgrad;
  int64_t bytes = 4, gradient_bytes = 4, state_bytes = 4, cache_bytes = 4;
  int64_t arrays, keys, values, heads, dim, layers, sequences, tokens;

  Parts(const ModelOptions& m, const OptimOptions& o, int64_t sequences_, int64_t tokens_)
      : sgd(o.kind == &optimizers::sgd),
        momentum(o.momentum > 0),
        amsgrad(o.amsgrad),
        arrays(sgd ? (momentum ? 1 : 0) : (amsgrad ? 3 : 2)),
        keys(head_widths(m.attention, m.dim, m.heads).keys()),
        values(head_widths(m.attention, m.dim, m.heads).values()),
        heads(m.heads),
        dim(m.dim),
        layers(m.layers),
        sequences(sequences_),
        tokens(tokens_) {}
};

template <auto change>
std::array<int64_t, 4> changed(const ModelOptions& m, const OptimOptions& o, int64_t parameters,
                               int64_t sequences, int64_t tokens) {
  Parts p(m, o, sequences, tokens);
  change(p);
  return {p.bytes * parameters, p.gradient_bytes * parameters,
          p.arrays * p.state_bytes * parameters,
          p.cache_bytes * p.layers * p.sequences * p.tokens * (p.keys + p.values)};
}

const std::vector<WrongAnswer<decltype(&count_bytes)>> wrong_counts{
    {"", changed<[](Parts&) {}>},
    {"This is the number of values: each has 4 bytes.", changed<[](Parts& p) { p.bytes = 1; }>},
    {"This is the number of values: each has 4 bytes.",
     changed<[](Parts& p) { p.gradient_bytes = 1; }>},
    {"This is the number of values: each has 4 bytes.",
     changed<[](Parts& p) { p.state_bytes = 1; }>},
    {"This is the number of values: each has 4 bytes.",
     changed<[](Parts& p) { p.cache_bytes = 1; }>},
    {"These are bytes of double. float32 has 4.", changed<[](Parts& p) { p.bytes = 8; }>},
    {"These are bytes of double. float32 has 4.", changed<[](Parts& p) { p.gradient_bytes = 8; }>},
    {"These are bytes of half precision. float32 has 4.", changed<[](Parts& p) { p.bytes = 2; }>},
    {"These are bytes of half precision. float32 has 4.",
     changed<[](Parts& p) { p.gradient_bytes = 2; }>},
    {"Every weight has a gradient.", changed<[](Parts& p) { p.gradient_bytes = 0; }>},
    {"Adam keeps two means for each weight.", changed<[](Parts& p) { p.arrays = 0; }>},
    {"Adam keeps two means: of the gradient, and of its square.",
     changed<[](Parts& p) { p.arrays = 1; }>},
    {"The two means are Adam's: SGD has none.", changed<[](Parts& p) { p.arrays = 2; }>},
    {"Without amsgrad there is no third array.", changed<[](Parts& p) { p.arrays = 3; }>},
    {"With amsgrad there is a third array.",
     changed<[](Parts& p) { p.arrays = p.amsgrad ? 2 : p.arrays; }>},
    {"Without momentum SGD keeps nothing.",
     changed<[](Parts& p) { p.arrays = p.sgd ? 1 : p.arrays; }>},
    {"With momentum SGD keeps the last update.",
     changed<[](Parts& p) { p.arrays = p.sgd ? 0 : p.arrays; }>},
    {"Only keys are counted: values are cached as well.", changed<[](Parts& p) { p.values = 0; }>},
    {"Only values are counted: keys are cached as well.",
     changed<[](Parts& p) { p.keys = p.keys == p.values ? p.keys : 0; }>},
    {"Queries are not cached: no later token needs them.",
     changed<[](Parts& p) { p.values += p.keys; }>},
    {"Only one layer is counted: each layer has its own cache.",
     changed<[](Parts& p) { p.layers = 1; }>},
    {"Only one sequence is counted.", changed<[](Parts& p) { p.sequences = 1; }>},
    {"Only one token is counted: all are kept.", changed<[](Parts& p) { p.tokens = 1; }>},
    {"key_dim and value_dim set the widths: H·K and H·V elements, not dim.",
     changed<[](Parts& p) { p.keys = p.values = p.dim; }>},
    {"The heads are counted twice: H·K is the width of all heads together.",
     changed<[](Parts& p) { p.keys *= p.heads, p.values *= p.heads; }>}};

// Elements of keys and values after the model has read.
double cached(const CountedModel& counted, int64_t sequences, int64_t tokens) {
  ScopeGuard here;
  here->shapes_only = true;
  here->gradients = false;
  const auto model = counted.make();
  KeyValueCache cache(sequences);
  model->hidden(Ids::full({sequences, tokens}, 0), &cache);
  double total = 0;
  for (const auto& [part, name] : model->part_names()) {
    if (!name.ends_with(".attention")) continue;
    const KeyValues& past = cache.past(*part);
    total += static_cast<double>(past.length * sequences * (past.keys.dim(2) + past.values.dim(2)));
  }
  return total;
}

double elements(const std::vector<NamedParameter>& tensors) {
  double total = 0;
  for (const NamedParameter& each : tensors) total += static_cast<double>(each.tensor.size());
  return total;
}

}  // namespace count_bytes_answers
}  // namespace

void grade_count_bytes(Grader& g, decltype(&count_bytes) answer) {
  using namespace count_bytes_answers;
  constexpr double bytes = sizeof(float);  // the grader computes in double, a training in float32
  const auto check = [&](auto change, OptimOptions optimizer) {
    const int64_t sequences = g.size(6, 7), tokens = g.size(8, 11);
    const auto of_cache = [=](const CountedModel& model) {
      return bytes * cached(model, sequences, tokens);
    };
    const auto counts = [=](decltype(answer) of, const CountedModel& model, int64_t parameters) {
      return of(model.options, optimizer, parameters, sequences, tokens);
    };
    const CountedModel model = clear_model(g, change, of_cache, wrong_counts,
                                           [&](decltype(answer) of, const CountedModel& each) {
                                             return static_cast<double>(counts(of, each, 0)[3]);
                                           });
    ScopeGuard here;
    here->shapes_only = true;
    const auto made = model.make();
    const double weights = elements(made->parameters());
    const Optimizer made_optimizer(optimizer, made->parameters());
    const auto got = counts(answer, model, made->parameter_count());
    const std::string named = fmt::format(
        "({}{}{}, {})", optimizer.kind->name,
        optimizer.momentum > 0 ? fmt::format(", momentum = {}", optimizer.momentum) : "",
        optimizer.amsgrad ? ", amsgrad" : "", model.name());
    const auto expect = [&](size_t which, const std::string& what, double expected) {
      g.expect_near(fmt::format("bytes of the {} {}", what, named), static_cast<double>(got[which]),
                    expected, {}, 1e-12);
    };
    expect(0, "weights", bytes * weights);
    expect(1, "gradients", bytes * weights);
    expect(2, "optimizer's state", bytes * elements(state_of(made_optimizer)));
    expect(3, fmt::format("cache for {} sequences of {}", sequences, tokens), of_cache(model));
  };
  const int64_t key = g.size(9, 11);
  check([](ModelOptions&) {}, {.kind = &optimizers::adamw});
  check([=](ModelOptions& o) { o.attention.key_dim = key, o.attention.value_dim = 4; },
        {.kind = &optimizers::sgd});
  check([](ModelOptions& o) { o.tie_weights = true; }, {.kind = &optimizers::sgd, .momentum = 0.9});
  check([](ModelOptions& o) { o.attention.key_dim = 3; },
        {.kind = &optimizers::adamw, .amsgrad = true});
}

static const Exercise count_bytes_exercise("count_bytes", grade_count_bytes, {count_bytes},
                                           count_bytes_answers::wrong_counts);

}  // namespace heed::course
