#include "core/flops.h"
#include "course/grader/language_model.h"

namespace heed::course {

[[gnu::weak]] double count_flops(const ModelOptions& model, int64_t vocabulary, int64_t batch,
                                 int64_t time);

void grade_count_flops(Grader& g,
                       double (*count_flops)(const ModelOptions& model, int64_t vocabulary,
                                             int64_t batch, int64_t time)) {
  const auto flops = [](const CountedModel& model, int64_t batch, int64_t time) {
    FlopCounter counter;
    ScopeGuard here;
    here->shapes_only = true;
    here->gradients = false;
    const auto made = model.make();
    const ObserverScope observing(counter);
    made->logits({.input = Ids::full({batch, time}, 0)});
    return counter.flops();
  };
  const auto check = [&](auto change, int64_t batch, int64_t time) {
    const auto count_of = [=](const CountedModel& model) {
      const ModelOptions& o = model.options;
      const auto with = [&](auto other_change) {
        CountedModel other = model;
        other_change(other.options);
        return flops(other, batch, time);
      };
      const double all = flops(model, batch, time);
      const HeadWidths widths = o.attention.widths(o.dim, o.heads);
      const auto layers = static_cast<double>(o.layers), dim = static_cast<double>(o.dim);
      const auto hidden = static_cast<double>(o.feed_forward > 0 ? o.feed_forward : 4 * o.dim);
      const auto keys = static_cast<double>(widths.keys());
      const auto values = static_cast<double>(widths.values());
      const auto heads = static_cast<double>(o.heads), length = static_cast<double>(time);
      const double rows = static_cast<double>(batch) * length;
      const double logits = 2 * rows * dim * static_cast<double>(model.vocabulary);
      const double pairs = 2 * layers * rows * length;  // times the width: a product of attention
      const double attention = pairs * (keys + values);
      Count count{
          all,
          {{logits, "These are the logits alone: the layers are missing."},
           {all / 2, "A multiplication and an addition are 2 FLOPs: all is counted once."},
           {all * 3, "That is a training step: a forward pass alone is a third of it."},
           {all / static_cast<double>(batch), "Only one sequence is counted: there are `batch`."},
           {all - logits,
            "The logits are missing: a product with the (V, D) matrix for each "
            "position. With tied weights, too."},
           {all + logits, "The look-up of an embedding is no matrix product: it costs nothing."},
           {all - attention,
            "Attention itself is missing: scores, and weights times values. They "
            "have no parameters, but cost T² (K + V) for each head."},
           {all + (heads - 1) * attention,
            "The H heads of width K are counted as if each were H·K wide."},
           {all - attention * (1 - 1 / length),
            "Scores and weighted sums are counted for one key. There are T for each query."},
           {all - attention * (1 - (length + 1) / (2 * length)),
            "Only the pairs that the causal mask keeps are counted; the task counts all."},
           {all - 2 * layers * rows * values * dim,
            "The output projection of attention is missing, H·V to D."},
           {all - 2 * layers * rows * dim * (2 * keys + values),
            "The projections of queries, keys and values are missing."},
           {all - 2 * layers * rows * hidden * dim,
            "The feed-forward network has two products: one of them is missing."},
           {with([](ModelOptions& other) {
              other.attention.key_dim = other.attention.value_dim = 0;
            }),
            "key_dim and value_dim set the widths of a head: queries and keys have H·K columns, "
            "values H·V, not dim."},
           {with([](ModelOptions& other) { other.attention.value_dim = 0; }),
            "value_dim sets the width of values; only if it is 0 are they as wide as keys."},
           {flops(model, batch, time) - (layers - 1) * (all - logits) / layers,
            "Only one layer is counted: there are model.layers."}}};
      const auto add = [&](double value, const char* sentence) {
        count.mistakes.push_back({value, sentence});
      };
      if (keys == values) {
        add(all - pairs * keys,
            "One of the two products of attention is missing: the scores, (T, K) with (K, T), or "
            "the weighted sum of the values, (T, T) with (T, V), which is often forgotten.");
      } else {
        add(all - pairs * keys, "The scores are missing: (T, K) with (K, T) for each head.");
        add(all - pairs * values,
            "The weighted sum of the values is missing: (T, T) with (T, V) for each head.");
      }
      add(all - 4 * layers * rows * hidden * dim, o.feed_forward > 0
                                                      ? "The feed-forward network is missing."
                                                      : "feed_forward = 0 stands for 4 · dim.");
      return count;
    };
    const auto [model, count] = clear_count(g, change, count_of);
    g.expect_near(fmt::format("FLOPs of {} sequences of {}, {}", batch, time, model.name()),
                  count_flops(model.options, model.vocabulary, batch, time), count.expected,
                  count.mistakes, 1e-12);
  };
  const int64_t batch = g.size(5, 7), time = g.size(9, 14), key = g.size(9, 11);
  check([](ModelOptions&) {}, batch, time);
  check([](ModelOptions& o) { o.tie_weights = true; }, 5, time);
  check([](ModelOptions& o) { o.feed_forward = 0; }, 4, g.size(15, 18));
  check([=](ModelOptions& o) { o.attention.key_dim = key, o.attention.value_dim = 4; }, 5, time);
  check([](ModelOptions& o) { o.attention.key_dim = 3; }, 5, 4);
}
HEED_GRADE(count_flops, count_flops);

}  // namespace heed::course
