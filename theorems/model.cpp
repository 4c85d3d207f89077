#include "theorems/model.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "nn/recorder.h"
#include "theorems/random_inputs.h"
#include "theorems/samples.h"

namespace heed::theorems {
namespace {

// More than float32's rounding through a stack of layers, less than any difference that matters.
constexpr double same = 1e-4;

// The states of what the model reads: of its encoder, or its only stack. (1, T, D)
Tensor states(const Subject& s, const Inputs& inputs) {
  if (const auto* model = dynamic_cast<const Seq2Seq*>(s.model.get())) return model->encode(inputs);
  if (const auto* model = dynamic_cast<const LanguageModel*>(s.model.get()))
    return model->hidden(inputs.input);
  return dynamic_cast<const Classifier&>(*s.model).encode(inputs);
}

// What the options promise of a model, whatever its weights. An f that is no exponential may have
// sums near 0, and the greatest of two scores may change with their rounding: they promise nothing.
struct Promises {
  bool sums_to_one, order_free, all_alike, shift, causal;

  explicit Promises(const ModelOptions& o) {
    const MultiHeadOptions& a = o.attention;
    const bool decoder_only = o.kind == ModelKind::language_model;
    const bool attends = o.block.kind == MixingKind::attention;
    const bool convolves = o.block.kind == MixingKind::convolution;
    const bool by_graph = o.block.kind == MixingKind::graph_attention;
    const bool nowhere = o.positional.kind == PositionalKind::none;
    sums_to_one = a.normaliser == NormaliserKind::softmax ||
                  (a.normaliser == NormaliserKind::sum && is_exponential(a.similarity.kind));
    causal =
        decoder_only || (a.causal && (attends || convolves)) || o.block.kind == MixingKind::gru;
    const bool sees_all = attends && !causal && a.window == 0 && a.axes.empty() && sums_to_one;
    order_free = nowhere && (sees_all || by_graph || (convolves && o.block.kernel_size == 1));
    const bool ring = convolves && o.block.padding == Padding::circular;
    shift = order_free || (nowhere && ring);
    all_alike = nowhere && ((attends && sums_to_one && a.graph_distances == 0) || ring);
  }
};

// The greatest f(order) over random permutations, fewer of them for longer inputs; the first place
// stays where it is if `keep_first`.
double over_orders(int64_t time, bool keep_first, const std::function<double(const Ids&)>& f) {
  const int64_t count = std::clamp<int64_t>(1200 / time, 3, 100);
  double most = 0;
  for (int64_t i = 0; i < count; ++i) {
    Ids order = random_permutation(time);
    if (keep_first) std::swap(order.data()[0], *std::find(order.data(), order.data() + time, 0));
    const double value = f(order);
    most = std::isnan(value) ? value : std::max(most, value);
  }
  return most;
}

// One step along the last axis of the grid, or the only one.
Ids shifted(const ModelSizes& sizes, int64_t time) {
  const int64_t line = sizes.grid.empty() ? time : sizes.grid.back();
  Ids order = Ids::empty({time});
  for (int64_t t = 0; t < time; ++t)
    order.data()[t] = static_cast<int32_t>(t / line * line + (t % line + line - 1) % line);
  return order;
}

double error_of_states(const Subject& s, const RandomInputs& x, const Ids& order) {
  return distance(states(s, x.permuted(order)), permuted(states(s, x.inputs()), order));
}

double error_of_answer(const Subject& s, const Inputs& a, const Inputs& b) {
  return distance(s.model->logits(a), s.model->logits(b));
}

// How much the states of the places before `first` move when all from there on are others.
double error_of_causality(const Subject& s) {
  const int64_t time = places_of(s, 0), first = time / 2;
  const RandomInputs x(s, time);
  return distance(slice(states(s, x.replaced(first, time)), 1, 0, first),
                  slice(states(s, x.inputs()), 1, 0, first));
}

// The least that a state moves when what stands at one place is another, over some places.
double least_influence(const Subject& s) {
  const int64_t time = places_of(s, 0);
  const RandomInputs x(s, time);
  const Tensor before = states(s, x.inputs());
  double least = 1;
  for (int64_t i = 0; i < time; i += std::max<int64_t>(1, time / 12)) {
    const Tensor after = states(s, x.replaced(i, i + 1));
    for (int64_t t = 0; t < time; ++t)
      least = std::min(least, distance(slice(after, 1, t, t + 1), slice(before, 1, t, t + 1)));
  }
  return least;
}

double difference_of_equals(const Subject& s) {
  const RandomInputs x(s, places_of(s, 0));
  const Tensor y = states(s, x.all_alike());
  return distance(y, Tensor::zeros(y.shape()) + slice(y, 1, 0, 1));
}

void order(Measurements& m, const Subject& s, const Promises& promises) {
  const ModelOptions& o = s.options;
  const bool keep_first = o.kind == ModelKind::classifier && o.pool == Pool::first;
  m.property("A16", promises.order_free, false, same, "S0 thm 1",
             "equivariant: shuffled places give shuffled states", [&] {
               const RandomInputs x(s, places_of(s, 0));
               return over_orders(x.time(), false,
                                  [&](const Ids& order) { return error_of_states(s, x, order); });
             });
  if (o.kind != ModelKind::language_model)
    m.property("A17", promises.order_free, false, same, "S0 thm 1",
               keep_first ? "invariant: all but the first place shuffled, the same answer"
                          : "invariant: what it reads shuffled, the same answer",
               [&] {
                 const RandomInputs x(s, places_of(s, 0));
                 return over_orders(x.time(), keep_first, [&](const Ids& order) {
                   return error_of_answer(s, x.permuted(order), x.inputs());
                 });
               });
  m.property("A20", promises.shift, false, same, "S0",
             "translation equivariant: places shifted around give shifted states", [&] {
               const RandomInputs x(s, places_of(s, 0));
               return error_of_states(s, x, shifted(s.sizes, x.time()));
             });
  if (!reads_edges(o))
    m.property("A46", promises.all_alike, false, same, "S4",
               "blind to positions: the same at every place, all states alike",
               [&] { return difference_of_equals(s); });
}

void reach(Measurements& m, const Subject& s, const Promises& promises) {
  m.property("A44", promises.causal, false, 1e-6, "S4",
             "causal: later places leave earlier states alone",
             [&] { return error_of_causality(s); });
  m.property("A5", false, true, 1e-6, "S0",
             "every state depends on every place (the smallest change)",
             [&] { return least_influence(s); });
  if (s.options.kind == ModelKind::seq2seq) {
    m.property("A44", true, false, 1e-6, "S4",
               "its decoder is causal: later symbols leave earlier answers alone", [&] {
                 const RandomInputs x(s, places_of(s, 0));
                 const int64_t time = x.inputs().input.dim(1), first = time / 2;
                 const Tensor a = s.model->logits(x.with_another_target(first, time));
                 return distance(slice(a, 1, 0, first),
                                 slice(s.model->logits(x.inputs()), 1, 0, first));
               });
    m.property("A19", promises.sums_to_one, false, same, "S4 exercise",
               "keys and values of cross-attention shuffled together, the same answers", [&] {
                 const auto& model = dynamic_cast<const Seq2Seq&>(*s.model);
                 const RandomInputs x(s, places_of(s, 0));
                 const Tensor memory = model.encode(x.inputs());
                 const Ids &in = x.inputs().input, &lengths = x.inputs().source_lengths;
                 const Tensor y = model.decode(in, memory, lengths);
                 return over_orders(x.time(), false, [&](const Ids& order) {
                   return distance(model.decode(in, permuted(memory, order), lengths), y);
                 });
               });
  }
  if (s.options.kind != ModelKind::language_model && s.sizes.grid.empty())
    m.property("Q18", true, false, same, "S4",
               "any length: padding, whatever it holds, changes nothing", [&] {
                 constexpr int64_t padding = 3;
                 const int64_t real = places_of(s, padding);
                 const RandomInputs x(s, real + padding);
                 return error_of_answer(s, x.cut(real), x.short_of(real));
               });
}

bool attends(const ModelOptions& o) {
  return o.block.kind == MixingKind::attention || o.block.kind == MixingKind::graph_attention ||
         o.kind == ModelKind::seq2seq ||
         (o.kind == ModelKind::classifier && o.pool == Pool::learned);
}

// f of the weights of every layer and head, the greatest.
double of_weights(const Subject& s, double (*f)(const Tensor& weights)) {
  const RandomInputs x(s, places_of(s, 0));
  const Recorder watching;
  (void)s.model->logits(x.inputs());
  double most = 0;
  for (const AttentionRecord& record : watching.records(*s.model))
    most = std::max(most, f(record.weights));
  return most;
}

void weights(Measurements& m, const Subject& s, const Promises& promises) {
  if (!attends(s.options) || s.options.layers == 0) return;
  m.property("A23", promises.sums_to_one, false, rounding, "S3",
             "the weights of every query of every head add up to 1 (error)",
             [&] { return of_weights(s, greatest_error_of_sums); });
  m.property("Q9", promises.sums_to_one, false, 0, "S0 eq. 1",
             "no weight is negative (the greatest negative one)", [&] {
               return of_weights(s, [](const Tensor& weights) {
                 return static_cast<double>(max(relu(neg(weights))).item());
               });
             });
}

}  // namespace

void measure_model(Measurements& m, const Subject& subject) {
  m.section(subject.title);
  const Promises promises(subject.options);
  order(m, subject, promises);
  reach(m, subject, promises);
  weights(m, subject, promises);
}

}  // namespace heed::theorems
