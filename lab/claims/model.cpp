#include "lab/claims/model.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/scope.h"
#include "data/augment.h"
#include "lab/claims/samples.h"
#include "nn/options.h"
#include "nn/recorder.h"

namespace heed::claims {
namespace {

// Above float32's rounding through a stack of layers, below any difference that matters.
constexpr Bound same = at_most(1e-4);

// Returns whether the model reads the edges of a graph.
bool reads_edges(const ModelOptions& options) {
  return options.mixing.kind->needs_edges || options.attention.graph_distances > 0;
}

Ids random_tokens(int64_t count, int64_t vocabulary) {
  Random random(scope().next_stream(Purpose::test));
  return ids_of({1, count},
                [&](int64_t) { return random.below(static_cast<uint64_t>(vocabulary)); });
}

// Random different tokens at [first, last), unless the vocabulary has only one.
Ids with_replaced(const Ids& tokens, int64_t first, int64_t last, int64_t vocabulary) {
  Random random(scope().next_stream(Purpose::test));
  return ids_of(tokens.shape(), [&](int64_t t) {
    const int64_t token = tokens[t];
    if (t < first || t >= last || vocabulary == 1) return token;
    return (token + 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(vocabulary - 1)))) %
           vocabulary;
  });
}

// An edge between any two nodes with probability 0.3, and from each node to itself.
Edges random_edges(int64_t nodes, int64_t features) {
  Random random(scope().next_stream(Purpose::test));
  std::vector<int64_t> senders, receivers;
  for (int64_t to = 0; to < nodes; ++to)
    for (int64_t from = 0; from < nodes; ++from)
      if (from == to || random.uniform() < 0.3) {
        senders.push_back(from);
        receivers.push_back(to);
      }
  const auto count = static_cast<int64_t>(senders.size());
  return {Ids::from({count}, senders), Ids::from({count}, receivers),
          features > 0 ? normal(count, features) : Tensor()};
}

// One random example for a model, and changed copies of it.
struct RandomInputs {
  Inputs inputs;
  int64_t time;

  // For the encoder or the only stack: the positions of the grid, or 12 and `padding`, or as many
  // of these as the model can read. The decoder of a seq2seq model reads 8 more. Throws InputError
  // for fewer than 3 positions without padding.
  explicit RandomInputs(const Subject& subject, int64_t padding = 0)
      : is_seq2seq_(subject.options.kind == ModelKind::seq2seq), sizes_(subject.sizes) {
    const ModelOptions& o = subject.options;
    const bool learned = o.positional.kind == &positional_encodings::learned;
    const auto readable = [&](int64_t count) {
      return learned ? std::min(count, o.positional.max_length) : count;
    };
    time = readable(12 + padding);
    if (o.mixing.kind == &mixings::dense) time = std::min(time, o.mixing.length);
    if (!sizes_.grid.empty()) time = Shape(sizes_.grid).size();
    check_input(!sizes_.grid.empty() || time - padding >= 3,
                "the model reads {} positions, which is too few to permute", time);
    if (sizes_.features > 0)
      inputs.features = normal(1, time, sizes_.features);
    else
      tokens(inputs) = random_tokens(time, vocabulary());
    lengths(inputs) = Ids::full({1}, static_cast<int32_t>(time));
    if (reads_edges(o)) inputs.edges = random_edges(time, sizes_.edge_features);
    if (sizes_.global > 0) inputs.global = normal(1, sizes_.global);
    if (!is_seq2seq_) return;
    const int64_t target = readable(8);
    inputs.input = random_tokens(target, sizes_.vocabulary);
    inputs.input_lengths = Ids::full({1}, static_cast<int32_t>(target));
  }

  // Position t holds position from[t]. Keeps the edges between these positions, which must be
  // different if there are edges.
  Inputs selected(const Ids& from) const {
    Inputs moved = inputs;
    lengths(moved) = Ids::full({1}, static_cast<int32_t>(from.size()));
    if (inputs.features)
      moved.features = permuted(inputs.features, from);
    else
      tokens(moved) =
          ids_of({1, from.size()}, [&, old = tokens(moved)](int64_t t) { return old[from[t]]; });
    if (inputs.edges) moved.edges = selected_edges(from);
    return moved;
  }
  // Other values at the positions [first, last), of the encoder's or of the decoder's input.
  Inputs replaced(int64_t first, int64_t last) const {
    Inputs changed = inputs;
    if (const Tensor& x = inputs.features) {
      const Tensor others = slice(normal(x.shape()), 1, first, last);
      changed.features = concat({slice(x, 1, 0, first), others, slice(x, 1, last, time)}, 1);
    } else {
      tokens(changed) = with_replaced(tokens(changed), first, last, vocabulary());
    }
    return changed;
  }
  Inputs with_another_target(int64_t first, int64_t last) const {
    Inputs changed = inputs;
    changed.input = with_replaced(inputs.input, first, last, sizes_.vocabulary);
    return changed;
  }
  // Without the positions from `length` on.
  Inputs truncated(int64_t length) const {
    return selected(ids_of({length}, [](int64_t t) { return t; }));
  }
  // These positions are padding, and keep their values.
  Inputs padded_after(int64_t length) const {
    Inputs padded = inputs;
    lengths(padded) = Ids::full({1}, static_cast<int32_t>(length));
    padded.edges = truncated(length).edges;
    return padded;
  }

 private:
  Ids& tokens(Inputs& of) const { return is_seq2seq_ ? of.source : of.input; }
  Ids& lengths(Inputs& of) const { return is_seq2seq_ ? of.source_lengths : of.input_lengths; }
  int64_t vocabulary() const { return is_seq2seq_ ? sizes_.source_vocabulary : sizes_.vocabulary; }

  Edges selected_edges(const Ids& from) const {
    const Edges& edges = inputs.edges;
    std::vector<int64_t> moved_to(static_cast<size_t>(time), -1);  // the inverse of `from`
    for (int64_t t = 0; t < from.size(); ++t) moved_to[static_cast<size_t>(from[t])] = t;
    std::vector<int64_t> kept, senders, receivers;
    for (int64_t e = 0; e < edges.sender.size(); ++e) {
      const int64_t sender = moved_to[static_cast<size_t>(edges.sender[e])];
      const int64_t receiver = moved_to[static_cast<size_t>(edges.receiver[e])];
      if (sender < 0 || receiver < 0) continue;
      kept.push_back(e);
      senders.push_back(sender);
      receivers.push_back(receiver);
    }
    const Shape count{static_cast<int64_t>(kept.size())};
    return {Ids::from(count, senders), Ids::from(count, receivers),
            edges.features ? embedding(edges.features, Ids::from(count, kept)) : Tensor()};
  }

  bool is_seq2seq_;
  const ModelSizes& sizes_;
};

// The maximum of f(order) over random permutations, fewer of them for longer inputs. With
// `keep_first` the first position stays in place.
double max_over_orders(int64_t time, bool keep_first, const std::function<double(const Ids&)>& f) {
  return max_of(std::clamp<int64_t>(1200 / time, 3, 100), [&](int64_t) {
    Ids order = random_permutation(time);
    int32_t* ids = order.mutable_data();
    if (keep_first) std::swap(ids[0], *std::find(ids, ids + time, 0));
    return f(order);
  });
}

double equivariance_error(const Subject& s, const RandomInputs& x, const Ids& order) {
  return distance(s.model->encode(x.selected(order)), permuted(s.model->encode(x.inputs), order));
}
double invariance_error(const Subject& s, const RandomInputs& x, const Ids& order) {
  return distance(s.model->logits(x.selected(order)), s.model->logits(x.inputs));
}

// The maximum of f(shift) over the axes of the input along which its layers may shift: those with
// circular padding, or else all.
double max_over_shifts(const Subject& s, const RandomInputs& x,
                       const std::function<double(const Ids&)>& f) {
  const std::vector<int64_t> grid = s.sizes.grid.empty() ? std::vector{x.time} : s.sizes.grid;
  const std::vector<int64_t>& chosen = s.options.mixing.circular_axes;
  int64_t stride = 1;
  double max = 0;
  for (int64_t axis = std::ssize(grid); axis-- > 0;) {
    const int64_t length = grid[static_cast<size_t>(axis)];
    if (chosen.empty() || std::ranges::find(chosen, axis) != chosen.end())
      max = larger(max, f(circular_shift(x.time, length, stride)));
    stride *= length;
  }
  return max;
}

// The maximum of f(order) over the mirrored and the rotated picture.
double max_over_turns(const Subject& s, const std::function<double(const Ids&)>& f) {
  const std::vector<int64_t>& grid = s.sizes.grid;
  const bool is_square = grid.back() == grid[grid.size() - 2];
  return max_of(8, [&](int64_t n) {
    const int turns = static_cast<int>(n / 2);
    if (turns % 2 == 1 && !is_square) return 0.0;
    const std::vector<int32_t> cells = moved_cells(grid, {.mirrored = n % 2 == 1, .turns = turns});
    return f(Ids::from({std::ssize(cells)}, cells));
  });
}

// The maximum of f(weights) over all layers.
double max_over_weights(const Subject& s, double (*f)(const Tensor& weights)) {
  const RandomInputs x(s);
  const Recorder recorder;
  (void)s.model->logits(x.inputs);
  return max_over(recorder.records(*s.model),
                  [&](const AttentionRecord& record) { return f(record.weights); });
}

}  // namespace

Topic properties_of(const Subject& s) {
  check_input(!s.sizes.two_sources, "--model: the properties are those of a model of one source");
  const ModelOptions& o = s.options;
  const MultiHeadAttentionOptions& a = o.attention;
  const bool is_seq2seq = o.kind == ModelKind::seq2seq;
  const bool is_classifier = o.kind == ModelKind::classifier;
  const bool attends = o.mixing.kind == &mixings::attention;
  const bool convolves = o.mixing.kind == &mixings::convolution;
  const bool by_graph = o.mixing.kind->needs_edges;
  // What the options guarantee, whatever the weights. Two properties are not guaranteed, because of
  // rounding: similarities that are not exponential may sum to nearly 0, and the maximum of two
  // equal scores may be either.
  const bool no_positions = o.positional.kind == &positional_encodings::none;
  const bool sums_to_one = is_softmax(a);
  const bool circular = convolves && o.mixing.padding == Padding::circular;
  const bool causal = o.kind == ModelKind::language_model || (a.causal && (attends || convolves)) ||
                      o.mixing.kind == &mixings::gru || o.mixing.kind == &mixings::lstm;
  const bool induced = o.mixing.kind->attends_across;
  const bool sees_all = (attends && !causal && a.window == 0 && a.axes.empty() && sums_to_one) ||
                        (induced && sums_to_one);
  const bool order_free =
      no_positions && (sees_all || by_graph || (convolves && o.mixing.kernel_size == 1));
  const bool shift = order_free || (no_positions && circular);
  const bool ignores_positions =
      no_positions && ((attends && sums_to_one && a.graph_distances == 0) ||
                       (induced && sums_to_one) || (circular && o.mixing.circular_axes.empty()));
  const bool keep_first = is_classifier && o.pool == Pool::first;
  const bool has_pictures = s.sizes.grid.size() >= 2;
  // Its output is one for the whole input.
  const bool has_pool = is_seq2seq || (is_classifier && o.pool != Pool::none);
  struct Property {
    Claim claim;
    bool is_guaranteed, applies = true;
  };
  const Property properties[] = {
      {{"A16", same, "S0 thm 1", "equivariant: a permutation of the input permutes the states",
        [&s] {
          const RandomInputs x(s);
          return max_over_orders(x.time, false,
                                 [&](const Ids& order) { return equivariance_error(s, x, order); });
        }},
       order_free},
      {{"A17", same, "S0 thm 1",
        keep_first ? "invariant: a permutation of all but the first position changes nothing"
                   : "invariant: a permutation of the input changes nothing",
        [&s, keep_first] {
          const RandomInputs x(s);
          return max_over_orders(x.time, keep_first,
                                 [&](const Ids& order) { return invariance_error(s, x, order); });
        }},
       order_free,
       has_pool},
      {{"A16", same, "S0", "equivariant: the states of a rotated or mirrored picture are, too",
        [&s] {
          const RandomInputs x(s);
          return max_over_turns(s,
                                [&](const Ids& order) { return equivariance_error(s, x, order); });
        }},
       order_free,
       has_pictures},
      {{"A17", same, "S0", "invariant: a rotation or reflection of the picture changes nothing",
        [&s] {
          const RandomInputs x(s);
          return max_over_turns(s, [&](const Ids& order) { return invariance_error(s, x, order); });
        }},
       order_free && !keep_first,
       has_pictures && has_pool},
      {{"A20", same, "S0",
        "translation equivariant: a circular shift of the input shifts the states",
        [&s] {
          const RandomInputs x(s);
          return max_over_shifts(s, x,
                                 [&](const Ids& order) { return equivariance_error(s, x, order); });
        }},
       shift},
      {{"A46", same, "S4", "blind to positions: equal inputs give equal states",
        [&s] {
          const RandomInputs x(s);
          const Tensor y = s.model->encode(x.selected(Ids::full({x.time}, 0)));
          return distance(y, Tensor::zeros(y.shape()) + slice(y, 1, 0, 1));
        }},
       ignores_positions,
       !reads_edges(o)},
      {{"A44", at_most(1e-6), "S4", "causal: later positions do not change earlier states",
        [&s] {
          const RandomInputs x(s);
          const int64_t time = x.time, half = time / 2;
          return distance(slice(s.model->encode(x.replaced(half, time)), 1, 0, half),
                          slice(s.model->encode(x.inputs), 1, 0, half));
        }},
       causal},
      {{"A5", at_least(1e-6), "S0", "every state depends on every position (smallest change)",
        [&s] {
          const RandomInputs x(s);
          const int64_t time = x.time;
          const Tensor before = s.model->encode(x.inputs);
          double min = 1;
          for (int64_t i = 0; i < time; i += std::max<int64_t>(1, time / 12)) {
            const Tensor after = s.model->encode(x.replaced(i, i + 1));
            for (int64_t t = 0; t < time; ++t)
              min = std::min(min, distance(slice(after, 1, t, t + 1), slice(before, 1, t, t + 1)));
          }
          return min;
        }},
       false},
      {{"A44", at_most(1e-6), "S4",
        "its decoder is causal: later tokens do not change earlier outputs",
        [&s] {
          const RandomInputs x(s);
          const int64_t time = x.inputs.input.dim(1), half = time / 2;
          const Tensor changed = s.model->logits(x.with_another_target(half, time));
          return distance(slice(changed, 1, 0, half), slice(s.model->logits(x.inputs), 1, 0, half));
        }},
       true,
       is_seq2seq},
      {{"A19", same, "S4 exercise",
        "shuffling keys and values of cross-attention together changes nothing",
        [&s] {
          const auto& model = *s.model;
          const RandomInputs x(s);
          const Ids &in = x.inputs.input, &lengths = x.inputs.source_lengths;
          const Tensor memory = model.encode(x.inputs), y = model.decode(in, memory, lengths);
          return max_over_orders(x.time, false, [&](const Ids& order) {
            return distance(model.decode(in, permuted(memory, order), lengths), y);
          });
        }},
       sums_to_one,
       is_seq2seq},
      {{"Q18", same, "S4", "any length: padding changes nothing, whatever it contains",
        [&s] {
          const RandomInputs x(s, 3);
          const int64_t time = x.time - 3;
          return distance(s.model->logits(x.padded_after(time)),
                          s.model->logits(x.truncated(time)));
        }},
       true,
       (is_seq2seq || is_classifier) && s.sizes.grid.empty()},
      {{"A23", equal, "S3", "the weights of every query and head sum to 1 (error)",
        [&s] { return max_over_weights(s, error_of_sums); }},
       sums_to_one,
       has_attention(o)},
      {{"Q9", at_most(0), "S0 eq. 1", "no weight is negative (size of the most negative one)",
        [&s] {
          return max_over_weights(s, [](const Tensor& w) { return number(max(relu(-w))); });
        }},
       sums_to_one,
       has_attention(o)},
  };
  Topic topic{s.title, {}};
  for (const Property& property : properties) {
    if (!property.applies) continue;
    topic.claims.push_back(property.claim);
    topic.claims.back().is_question = !property.is_guaranteed;
  }
  return topic;
}

}  // namespace heed::claims
