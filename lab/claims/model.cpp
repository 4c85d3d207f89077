#include "lab/claims/model.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "lab/claims/random_inputs.h"
#include "lab/claims/samples.h"
#include "nn/recorder.h"

namespace heed::claims {
namespace {

// Above float32's rounding through a stack of layers, below any difference that matters.
constexpr Bound same = at_most(1e-4);

// The hidden states of the encoder, or of the only stack: (1, T, D).
Tensor states(const Subject& s, const Inputs& inputs) {
  if (const auto* model = dynamic_cast<const Seq2Seq*>(s.model.get())) return model->encode(inputs);
  if (const auto* model = dynamic_cast<const LanguageModel*>(s.model.get()))
    return model->hidden(inputs.input);
  return dynamic_cast<const Classifier&>(*s.model).encode(inputs);
}

// The properties that the options guarantee, whatever the weights. Two are not guaranteed, because
// of rounding: similarities that are not exponential may sum to nearly 0, and the maximum of two
// equal scores may be either.
struct Guarantees {
  bool sums_to_one, order_free, ignores_positions, shift, causal;

  explicit Guarantees(const ModelOptions& o) {
    const MultiHeadOptions& a = o.attention;
    const bool decoder_only = o.kind == ModelKind::language_model;
    const bool attends = o.mixing.kind == &mixings::attention;
    const bool convolves = o.mixing.kind == &mixings::convolution;
    const bool by_graph = o.mixing.kind == &mixings::graph_attention;
    const bool no_positions = o.positional.kind == &positional_encodings::none;
    sums_to_one = a.is_softmax();
    causal = decoder_only || (a.causal && (attends || convolves)) || o.mixing.kind == &mixings::gru;
    const bool sees_all = attends && !causal && a.window == 0 && a.axes.empty() && sums_to_one;
    order_free = no_positions && (sees_all || by_graph || (convolves && o.mixing.kernel_size == 1));
    const bool circular = convolves && o.mixing.padding == Padding::circular;
    shift = order_free || (no_positions && circular);
    ignores_positions =
        no_positions && ((attends && sums_to_one && a.graph_distances == 0) || circular);
  }
};

// The maximum of f(order) over random permutations, fewer of them for longer inputs. With
// `keep_first` the first position stays in place.
double max_over_orders(int64_t time, bool keep_first, const std::function<double(const Ids&)>& f) {
  const int64_t count = std::clamp<int64_t>(1200 / time, 3, 100);
  double max = 0;
  for (int64_t i = 0; i < count; ++i) {
    Ids order = random_permutation(time);
    int32_t* ids = order.mutable_data();
    if (keep_first) std::swap(ids[0], *std::find(ids, ids + time, 0));
    const double value = f(order);
    max = std::isnan(value) ? value : std::max(max, value);
  }
  return max;
}

double equivariance_error(const Subject& s, const RandomInputs& x, const Ids& order) {
  return distance(states(s, x.selected(order)), permuted(states(s, x.inputs()), order));
}

double difference_of_logits(const Subject& s, const Inputs& a, const Inputs& b) {
  return distance(s.model->logits(a), s.model->logits(b));
}

// How much the states of the first half change when the second half of the input does.
double error_of_causality(const Subject& s) {
  const RandomInputs x(s);
  const int64_t time = x.time(), half = time / 2;
  return distance(slice(states(s, x.replaced(half, time)), 1, 0, half),
                  slice(states(s, x.inputs()), 1, 0, half));
}

// The same for the logits of a decoder and its own input.
double error_of_decoder_causality(const Subject& s) {
  const RandomInputs x(s);
  const int64_t time = x.inputs().input.dim(1), half = time / 2;
  const Tensor changed = s.model->logits(x.with_another_target(half, time));
  return distance(slice(changed, 1, 0, half), slice(s.model->logits(x.inputs()), 1, 0, half));
}

// The smallest change of a state with one position of the input, over some positions.
double min_influence(const Subject& s) {
  const RandomInputs x(s);
  const int64_t time = x.time();
  const Tensor before = states(s, x.inputs());
  double min = 1;
  for (int64_t i = 0; i < time; i += std::max<int64_t>(1, time / 12)) {
    const Tensor after = states(s, x.replaced(i, i + 1));
    for (int64_t t = 0; t < time; ++t)
      min = std::min(min, distance(slice(after, 1, t, t + 1), slice(before, 1, t, t + 1)));
  }
  return min;
}

double difference_of_equal_inputs(const Subject& s) {
  const RandomInputs x(s);
  const Tensor y = states(s, x.selected(Ids::full({x.time()}, 0)));
  return distance(y, Tensor::zeros(y.shape()) + slice(y, 1, 0, 1));
}

double error_of_shuffled_memory(const Subject& s) {
  const auto& model = dynamic_cast<const Seq2Seq&>(*s.model);
  const RandomInputs x(s);
  const Tensor memory = model.encode(x.inputs());
  const Ids &in = x.inputs().input, &lengths = x.inputs().source_lengths;
  const Tensor y = model.decode(in, memory, lengths);
  return max_over_orders(x.time(), false, [&](const Ids& order) {
    return distance(model.decode(in, permuted(memory, order), lengths), y);
  });
}

double error_of_padding(const Subject& s) {
  constexpr int64_t padding = 3;
  const RandomInputs x(s, padding);
  const int64_t time = x.time() - padding;
  return difference_of_logits(s, x.padded_after(time), x.truncated(time));
}

bool has_attention(const ModelOptions& o) {
  return o.mixing.kind == &mixings::attention || o.mixing.kind == &mixings::graph_attention ||
         o.kind == ModelKind::seq2seq ||
         (o.kind == ModelKind::classifier && o.pool == Pool::learned);
}

// The maximum of f(weights) over all layers.
double max_over_weights(const Subject& s, double (*f)(const Tensor& weights)) {
  const RandomInputs x(s);
  const Recorder recorder;
  (void)s.model->logits(x.inputs());
  double max = 0;
  for (const AttentionRecord& record : recorder.records(*s.model))
    max = std::max(max, f(record.weights));
  return max;
}

}  // namespace

void measure_model(Measurements& m, const Subject& s) {
  const ModelOptions& o = s.options;
  const Guarantees guaranteed(o);
  const bool is_seq2seq = o.kind == ModelKind::seq2seq;
  const auto property = [&](const char* id, bool is_guaranteed, Bound bound, const char* source,
                            const char* claim, const std::function<double()>& measure) {
    m.measure({id, claim, source, bound, !is_guaranteed}, measure);
  };
  m.section(s.title);
  property("A16", guaranteed.order_free, same, "S0 thm 1",
           "equivariant: a permutation of the input permutes the states", [&] {
             const RandomInputs x(s);
             return max_over_orders(x.time(), false, [&](const Ids& order) {
               return equivariance_error(s, x, order);
             });
           });
  if (o.kind != ModelKind::language_model) {
    const bool keep_first = o.kind == ModelKind::classifier && o.pool == Pool::first;
    property("A17", guaranteed.order_free, same, "S0 thm 1",
             keep_first ? "invariant: a permutation of all but the first position changes nothing"
                        : "invariant: a permutation of the input changes nothing",
             [&] {
               const RandomInputs x(s);
               return max_over_orders(x.time(), keep_first, [&](const Ids& order) {
                 return difference_of_logits(s, x.selected(order), x.inputs());
               });
             });
  }
  property("A20", guaranteed.shift, same, "S0",
           "translation equivariant: a circular shift of the input shifts the states", [&] {
             const RandomInputs x(s);
             const int64_t line = s.sizes.grid.empty() ? x.time() : s.sizes.grid.back();
             return equivariance_error(s, x, circular_shift(x.time(), line));
           });
  if (!reads_edges(o))
    property("A46", guaranteed.ignores_positions, same, "S4",
             "blind to positions: equal inputs give equal states",
             [&] { return difference_of_equal_inputs(s); });
  property("A44", guaranteed.causal, at_most(1e-6), "S4",
           "causal: later positions do not change earlier states",
           [&] { return error_of_causality(s); });
  property("A5", false, at_least(1e-6), "S0",
           "every state depends on every position (smallest change)",
           [&] { return min_influence(s); });
  if (is_seq2seq) {
    property("A44", true, at_most(1e-6), "S4",
             "its decoder is causal: later tokens do not change earlier outputs",
             [&] { return error_of_decoder_causality(s); });
    property("A19", guaranteed.sums_to_one, same, "S4 exercise",
             "shuffling keys and values of cross-attention together changes nothing",
             [&] { return error_of_shuffled_memory(s); });
  }
  if (o.kind != ModelKind::language_model && s.sizes.grid.empty())
    property("Q18", true, same, "S4", "any length: padding changes nothing, whatever it contains",
             [&] { return error_of_padding(s); });
  if (!has_attention(o) || o.layers == 0) return;
  property("A23", guaranteed.sums_to_one, equal, "S3",
           "the weights of every query and head sum to 1 (error)",
           [&] { return max_over_weights(s, error_of_sums); });
  property("Q9", guaranteed.sums_to_one, at_most(0), "S0 eq. 1",
           "no weight is negative (size of the most negative one)", [&] {
             return max_over_weights(
                 s, [](const Tensor& weights) { return number(max(relu(neg(weights)))); });
           });
}

}  // namespace heed::claims
