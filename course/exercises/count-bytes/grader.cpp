#include <array>

#include "course/grader/language_model.h"
#include "nn/cache.h"
#include "optim/optimizer.h"

namespace heed::course {

[[gnu::weak]] std::array<int64_t, 4> count_bytes(const ModelOptions& model,
                                                 const OptimOptions& optimizer, int64_t parameters,
                                                 int64_t sequences, int64_t tokens);

void grade_count_bytes(Grader& g, std::array<int64_t, 4> (*count_bytes)(
                                      const ModelOptions& model, const OptimOptions& optimizer,
                                      int64_t parameters, int64_t sequences, int64_t tokens)) {
  constexpr double bytes = sizeof(float);  // the grader computes in double, a training in float32
  const auto elements = [](const std::vector<NamedParameter>& tensors) {
    double total = 0;
    for (const NamedParameter& each : tensors) total += static_cast<double>(each.tensor.size());
    return total;
  };
  // Elements of keys and values after the model has read.
  const auto cached = [](const CountedModel& counted, int64_t sequences, int64_t tokens) {
    ScopeGuard here;
    here->gradients = false;
    const auto model = counted.make();
    KeyValueCache cache(sequences);
    model->hidden(Ids::full({sequences, tokens}, 0), &cache);
    double total = 0;
    for (const auto& [part, name] : model->part_names()) {
      if (!name.ends_with(".attention")) continue;
      const KeyValues& past = cache.past(*part);
      total +=
          static_cast<double>(past.length * sequences * (past.keys.dim(2) + past.values.dim(2)));
    }
    return total;
  };
  const auto wrong_units = [=](double count) -> std::vector<WrongNumber> {
    return {{count, "This is the number of values: each has 4 bytes."},
            {8 * count, "These are bytes of double. float32 has 4."},
            {2 * count, "These are bytes of half precision. float32 has 4."}};
  };

  const auto check = [&](auto change, OptimOptions optimizer) {
    const int64_t sequences = g.size(6, 7), tokens = g.size(8, 11);
    const auto count_of = [=](const CountedModel& model) {
      const ModelOptions& o = model.options;
      const HeadWidths widths = o.attention.widths(o.dim, o.heads);
      const double all = bytes * cached(model, sequences, tokens);
      const auto positions = bytes * static_cast<double>(o.layers * sequences * tokens);
      Count count{all, {{all / bytes, "This is the number of values: each has 4 bytes."}}};
      const auto add = [&](double value, const char* sentence) {
        count.mistakes.push_back({value, sentence});
      };
      const auto keys = static_cast<double>(widths.keys());
      const auto values = static_cast<double>(widths.values());
      add(positions * keys, "Only keys are counted: the values are cached, too.");
      if (keys != values)
        add(positions * values, "Only values are counted: the keys are cached, too.");
      add(positions * (2 * keys + values), "Queries are not cached: no later token needs them.");
      add(all / static_cast<double>(o.layers), "Only one layer is counted: each has its own.");
      add(all / static_cast<double>(sequences), "Only one sequence is counted.");
      add(all / static_cast<double>(tokens), "Only one token is counted: all are kept.");
      if (keys + values != static_cast<double>(2 * o.dim))
        add(positions * static_cast<double>(2 * o.dim),
            "key_dim and value_dim set the widths: H·K and H·V elements, not dim.");
      add(all * static_cast<double>(o.heads),
          "The heads are counted twice: H·K is the width of all heads together.");
      return count;
    };
    const auto [model, count] = clear_count(g, change, count_of);
    const auto made = model.make();
    const double weights = elements(made->parameters());
    const Optimizer made_optimizer(optimizer, made->parameters());
    const double state = elements(made_optimizer.state());
    const auto answer =
        count_bytes(model.options, optimizer, made->parameter_count(), sequences, tokens);
    const auto expect = [&](size_t which, const char* what, double expected,
                            std::vector<WrongNumber> mistakes) {
      g.expect_near(what, static_cast<double>(answer[which]), expected, mistakes, 1e-12);
    };
    const std::string named = fmt::format(
        "({}{}{}, {})", optimizer.kind->name,
        optimizer.momentum > 0 ? fmt::format(", momentum = {}", optimizer.momentum) : "",
        optimizer.amsgrad ? ", amsgrad" : "", model.name());
    expect(0, fmt::format("bytes of the weights {}", named).c_str(), bytes * weights,
           wrong_units(weights));
    std::vector<WrongNumber> of_gradients = wrong_units(weights);
    of_gradients.push_back({0, "Every weight has a gradient."});
    expect(1, fmt::format("bytes of the gradients {}", named).c_str(), bytes * weights,
           of_gradients);
    expect(
        2, fmt::format("bytes of the optimizer's state {}", named).c_str(), bytes * state,
        optimizer.kind == &optimizers::sgd
            ? std::vector<WrongNumber>{{2 * bytes * weights,
                                        "The two means are Adam's: SGD has none."},
                                       {bytes * weights, "Without momentum SGD keeps nothing."},
                                       {0, "With momentum SGD keeps the last update."},
                                       {weights, "This is the number of values: each has 4 bytes."}}
            : std::vector<WrongNumber>{
                  {0, "Adam keeps two means for each weight."},
                  {bytes * weights, "Adam keeps two means: of the gradient, and of its square."},
                  {2 * bytes * weights, "With amsgrad there is a third array."},
                  {3 * bytes * weights, "Without amsgrad there is no third array."},
                  {state, "This is the number of values: each has 4 bytes."}});
    expect(3,
           fmt::format("bytes of the cache for {} sequences of {} {}", sequences, tokens, named)
               .c_str(),
           count.expected, count.mistakes);
  };
  const int64_t key = g.size(9, 11);
  check([](ModelOptions&) {}, {.kind = &optimizers::adamw});
  check([=](ModelOptions& o) { o.attention.key_dim = key, o.attention.value_dim = 4; },
        {.kind = &optimizers::sgd});
  check([](ModelOptions& o) { o.tie_weights = true; }, {.kind = &optimizers::sgd, .momentum = 0.9});
  check([](ModelOptions& o) { o.attention.key_dim = 3; },
        {.kind = &optimizers::adamw, .amsgrad = true});
}
HEED_GRADE(count_bytes, count_bytes);

}  // namespace heed::course
