#include "core/flops.h"
#include "course/grader/language_model.h"

namespace heed::course {

[[gnu::weak]] double count_flops(const ModelOptions& model, int64_t vocabulary, int64_t batch,
                                 int64_t time);

namespace {
namespace count_flops_answers {

// The factors of the count. Each mistake changes some of them.
struct Parts {
  double dim, hidden, keys, values, heads, layers, batch, length, vocabulary;
  double feed_forward;  // of the config, where 0 stands for 4 · dim
  double all = 1, per_pair = 2, scores = 1, sums = 1, inputs = 1, output = 1, products = 2,
         logits = 1;

  Parts(const ModelOptions& m, int64_t tokens, int64_t batch_, int64_t time)
      : dim(static_cast<double>(m.dim)),
        hidden(static_cast<double>(m.feed_forward > 0 ? m.feed_forward : 4 * m.dim)),
        keys(static_cast<double>(head_widths(m.attention, m.dim, m.heads).keys())),
        values(static_cast<double>(head_widths(m.attention, m.dim, m.heads).values())),
        heads(static_cast<double>(m.heads)),
        layers(static_cast<double>(m.layers)),
        batch(static_cast<double>(batch_)),
        length(static_cast<double>(time)),
        vocabulary(static_cast<double>(tokens)),
        feed_forward(static_cast<double>(m.feed_forward)) {}

  // `seen`: keys per query
  double total(double rows, double seen) const {
    const double attention = per_pair * rows * seen * (scores * keys + sums * values);
    const double linear =
        2 * rows * dim * (inputs * (2 * keys + values) + output * values + products * hidden);
    return all * (layers * (attention + linear) + logits * 2 * rows * dim * vocabulary);
  }
  double total() const { return total(batch * length, length); }
};

template <auto count>
double counted(const ModelOptions& m, int64_t vocabulary, int64_t batch, int64_t time) {
  return count(Parts(m, vocabulary, batch, time));
}
template <auto change>
double changed(const ModelOptions& m, int64_t vocabulary, int64_t batch, int64_t time) {
  Parts parts(m, vocabulary, batch, time);
  change(parts);
  return parts.total();
}

const std::vector<WrongAnswer<decltype(&count_flops)>> wrong_counts{
    {"", counted<[](const Parts& p) { return p.total(); }>},
    {"These are the logits alone: the layers are missing.",
     changed<[](Parts& p) { p.layers = 0; }>},
    {"A multiplication and an addition are 2 FLOPs: this counts them as 1.",
     changed<[](Parts& p) { p.all = 0.5; }>},
    {"That is a training step: a forward pass alone is a third of it.",
     changed<[](Parts& p) { p.all = 3; }>},
    {"Only one sequence is counted: there are `batch` of them.",
     changed<[](Parts& p) { p.batch = 1; }>},
    {"The logits are missing: each position needs a product with the (vocab, D) matrix, even if it "
     "is tied.",
     changed<[](Parts& p) { p.logits = 0; }>},
    {"The embedding look-up is not a matrix product: it costs no FLOPs.",
     changed<[](Parts& p) { p.logits = 2; }>},
    {"Attention itself is missing: scores, and weights times values. They have no parameters, but "
     "cost T² (K + V) for each head.",
     changed<[](Parts& p) { p.per_pair = 0; }>},
    {"The H heads of width K are counted as if each were H·K wide.",
     changed<[](Parts& p) { p.per_pair = 2 * p.heads; }>},
    {"Scores and weighted sums are counted for one key. Each query has T keys.",
     counted<[](const Parts& p) { return p.total(p.batch * p.length, 1); }>},
    {"Only the pairs that the causal mask keeps are counted; the task counts all.",
     counted<[](const Parts& p) { return p.total(p.batch * p.length, (p.length + 1) / 2); }>},
    {"The output projection of attention is missing, H·V to D.",
     changed<[](Parts& p) { p.output = 0; }>},
    {"The projections of queries, keys and values are missing.",
     changed<[](Parts& p) { p.inputs = 0; }>},
    {"The feed-forward network has two products: one of them is missing.",
     changed<[](Parts& p) { p.products = 1; }>},
    {"The feed-forward network is missing.",
     changed<[](Parts& p) { p.products = p.feed_forward == 0 ? p.products : 0; }>},
    {"feed_forward = 0 stands for 4 · dim.", changed<[](Parts& p) { p.hidden = p.feed_forward; }>},
    {"key_dim and value_dim set the widths of a head: queries and keys have H·K columns, values "
     "H·V, not dim.",
     changed<[](Parts& p) { p.keys = p.values = p.dim; }>},
    {"value_dim sets the width of values; only if it is 0 are they as wide as keys.",
     changed<[](Parts& p) { p.values = p.keys; }>},
    {"Only one layer is counted: there are model.layers of them.",
     changed<[](Parts& p) { p.layers = 1; }>},
    {"One of the two products of attention is missing: the scores, (T, K) with (K, T), or the "
     "weighted sum of the values, (T, T) with (T, V), which is often forgotten.",
     changed<[](Parts& p) { p.scores = p.keys == p.values ? 0 : 1; }>},
    {"One of the two products of attention is missing: the scores, (T, K) with (K, T), or the "
     "weighted sum of the values, (T, T) with (T, V), which is often forgotten.",
     changed<[](Parts& p) { p.sums = p.keys == p.values ? 0 : 1; }>},
    {"The scores are missing: (T, K) with (K, T) for each head.",
     changed<[](Parts& p) { p.scores = p.keys == p.values ? 1 : 0; }>},
    {"The weighted sum of the values is missing: (T, T) with (T, V) for each head.",
     changed<[](Parts& p) { p.sums = p.keys == p.values ? 1 : 0; }>}};

}  // namespace count_flops_answers
}  // namespace

void grade_count_flops(Grader& g, decltype(&count_flops) answer) {
  const auto check = [&](auto change, int64_t batch, int64_t time) {
    const auto flops = [&](const CountedModel& model) {
      FlopCounter counter;
      ScopeGuard here;
      here->shapes_only = true;
      here->gradients = false;
      const auto made = model.make();
      const ObserverScope observing(counter);
      made->logits({.input = Ids::full({batch, time}, 0)});
      return counter.flops();
    };
    const auto count = [&](decltype(answer) of, const CountedModel& model) {
      return of(model.options, model.vocabulary, batch, time);
    };
    const CountedModel model =
        clear_model(g, change, flops, count_flops_answers::wrong_counts, count);
    g.expect_near(fmt::format("FLOPs of {} sequences of {}, {}", batch, time, model.name()),
                  count(answer, model), flops(model), {}, 1e-12);
  };
  const int64_t batch = g.size(5, 7), time = g.size(9, 14), key = g.size(9, 11);
  check([](ModelOptions&) {}, batch, time);
  check([](ModelOptions& o) { o.tie_weights = true; }, 5, time);
  check([](ModelOptions& o) { o.feed_forward = 0; }, 4, g.size(15, 18));
  check([=](ModelOptions& o) { o.attention.key_dim = key, o.attention.value_dim = 4; }, 5, time);
  check([](ModelOptions& o) { o.attention.key_dim = 3; }, 5, 4);
}

static const Exercise count_flops_exercise("count_flops", grade_count_flops, {count_flops},
                                           count_flops_answers::wrong_counts);

}  // namespace heed::course
