// Attention compared with other layers, stacks of attention, and attention on graphs.
#include <algorithm>
#include <cmath>

#include "core/scope.h"
#include "lab/claims/claim.h"
#include "lab/claims/samples.h"
#include "nn/block.h"
#include "nn/forms/graph_attention.h"
#include "nn/forms/recurrent.h"
#include "nn/forms/time_dense.h"

namespace heed::claims {
namespace {

// 500 sentences of 16 positions with the features (mark, value, is verb). One random position is
// the subject, which has the mark. The verb is at the end and must find the value of the subject.
struct SentenceData {
  Tensor x = Tensor::zeros({500, 16, 3});
  std::vector<double> target;

  SentenceData() {
    Random random(scope().next_stream(Purpose::test));
    for (int64_t b = 0; b < 500; ++b) {
      real* sentence = x.mutable_data() + b * 16 * 3;
      const auto subject = static_cast<int64_t>(random.below(15));
      for (int64_t t = 0; t < 15; ++t) sentence[t * 3 + 1] = static_cast<real>(random.normal());
      sentence[subject * 3] = 1;
      sentence[15 * 3 + 2] = 1;
      target.push_back(static_cast<double>(sentence[subject * 3 + 1]));
    }
  }
  // ‖prediction - target‖ / ‖target‖ of a layer's output at the verb.
  double error_of(const Tensor& y) const {
    double squares = 0, size = 0;
    for (size_t b = 0; b < target.size(); ++b) {
      squares += std::pow(static_cast<double>(y.values()[(b * 16 + 15) * 3 + 1]) - target[b], 2);
      size += std::pow(target[b], 2);
    }
    return std::sqrt(squares / size);
  }
};

// x (1, T, D) plus 1 at one position.
Tensor with_ones_added(const Tensor& x, int64_t position) {
  Tensor changed = x.clone();
  const int64_t width = x.dim(2);
  for (int64_t c = 0; c < width; ++c) changed.mutable_data()[position * width + c] += 1;
  return changed;
}

// How much the outputs [first, last) change with input `changed` of 9.
double change_by(const Mixing& layer, int64_t changed, int64_t first, int64_t last) {
  const Tensor x = normal(1, 9, 4);
  return distance(slice(layer(with_ones_added(x, changed), {}), 1, first, last),
                  slice(layer(x, {}), 1, first, last));
}

// The output of graph attention on a complete graph, and what its global vector u becomes.
std::pair<Tensor, Tensor> with_global(const GraphAttention& graph, const Tensor& x, Tensor u) {
  const Edges edges = complete_graph(x.dim(1));
  const Tensor y = graph(x, {.edges = &edges, .global = &u});
  return {y, u};
}

const ModelOptions small_block = {.dim = 16, .heads = 2, .feed_forward = 16};

// Replaces position 4 of 9 in the input of 1, 2 and 3 layers with a window of one position to each
// side. Returns the largest change of the outputs beyond the reach of the layers, or the smallest
// change of those within it.
double change_in_window(bool beyond) {
  const SequenceContext window{.mask = {.window = 2}};
  double max = 0, min = 1;
  for (const int64_t layers : {1, 2, 3}) {
    const Encoder encoder(small_block, layers);
    const Tensor x = normal(1, 9, 16);
    const Tensor other = concat({slice(x, 1, 0, 4), normal(1, 1, 16), slice(x, 1, 5, 9)}, 1);
    const Tensor before = encoder(x, window), after = encoder(other, window);
    for (int64_t t = 0; t < 9; ++t) {
      const double moved = distance(slice(after, 1, t, t + 1), slice(before, 1, t, t + 1));
      if (std::abs(t - 4) > layers)
        max = std::max(max, moved);
      else
        min = std::min(min, moved);
    }
  }
  return beyond ? max : min;
}

}  // namespace

const std::vector<Claim> topics::layers = {
    {"A43", at_most(1e-3), "S4",
     "the verb finds its subject at any distance: attention, with generated weights (error)",
     [] {
       // Weights chosen by hand: the verb's query matches the mark, and values are copied.
       const SentenceData data;
       const AttentionForm attention(3, 1, {.linear = {.bias = false}, .combine = Combine::concat});
       set_parameter(attention, "query.weight", Tensor::from({3, 3}, {0, 0, 50, 0, 0, 0, 0, 0, 0}));
       set_parameter(attention, "key.weight", Tensor::from({3, 3}, {1, 0, 0, 0, 0, 0, 0, 0, 0}));
       set_parameter(attention, "value.weight", identity(3));
       return data.error_of(attention(data.x, {}));
     }},
    {"A43", at_least(0.5), "S4", "… a dense layer with the best fixed weights does not (error)",
     [] {
       // The best fixed weights are 1/15 each: each of the 15 positions is the subject equally
       // often.
       const SentenceData data;
       const TimeDense dense(3, 16, {.bias = false});
       set_parameter(dense, "weight", Tensor::full({16, 16}, 1 / static_cast<real>(15)));
       set_parameter(dense, "value.weight", identity(3));
       set_parameter(dense, "output.weight", identity(3));
       return data.error_of(dense(data.x, {}));
     }},
    {"A43", at_least(0.5), "S4", "… a convolution of 5 with the best fixed kernel does not (error)",
     [] {
       // The same weights for the two positions before the verb that a kernel of 5 covers.
       const SentenceData data;
       const Convolution convolution(3, 5, Padding::zero, false, {.bias = false});
       set_parameter(convolution, "weight", matrix(3, 15, [](int64_t to, int64_t from) {
                       return to == 1 && from % 3 == 1 ? 1 / static_cast<real>(15) : 0;
                     }));
       return data.error_of(convolution(data.x, {}));
     }},
    {"A44", at_most(0), "S4", "a recurrent network sees only the past (change by a later position)",
     [] { return std::max(change_by(Gru(4), 5, 0, 5), change_by(Lstm(4), 5, 0, 5)); }},
    {"A44", differs, "S4", "… and attention sees later positions too",
     [] { return change_by(MultiHeadAttention(4, 2), 5, 0, 5); }},
    {"A44", at_most(0), "S4",
     "a convolution of 3 sees only its neighbours, whatever the input (change)",
     [] { return change_by(Convolution(4, 3), 5, 0, 4); }},
    {"A48", at_most(0), "S4",
     "an encoder's weights, copied by name, give the same states elsewhere",
     [] {
       const Encoder first(small_block, 2), second(small_block, 2);
       copy_parameters(first, second);
       const Tensor x = normal(1, 9, 16);
       const SequenceContext sequence;
       return distance(second(x, sequence), first(x, sequence));
     }},
    {"A51", at_most(0), "S4",
     "n layers of attention with a window of 1 to each side reach no further than n positions "
     "(change)",
     [] { return change_in_window(true); }},
    {"A51", at_least(1e-5), "S4",
     "… and do reach n positions, like chained convolutions (smallest change)",
     [] { return change_in_window(false); }},
    {"A49", equal, "S3 12.11", "on a complete graph, graph attention is self-attention",
     [] {
       const GraphAttention graph(6, 2, 0);
       const MultiHeadAttention attention(6, 2);
       copy_parameters(graph, attention);
       const Tensor x = normal(1, 5, 6);
       const Edges edges = complete_graph(5);
       return distance(graph(x, {{}, &edges}), attention(x, {}));
     }},
    {"A49", equal, "S3 12.18", "the weights of the edges into a node sum to 1",
     [] {
       const Ids receivers = Ids::from({6}, {0, 0, 0, 1, 2, 2});
       const Tensor sums = segment_sum(segment_softmax(normal(6, 2), receivers, 3), receivers, 3);
       return max_difference(sums, {1, 1, 1, 1, 1, 1});
     }},
    {"A49", at_most(0), "S3 12.11", "a node depends only on the nodes with an edge to it (change)",
     [] {
       // Node 2 changes, and sends an edge only to node 1: how much the other nodes change.
       const GraphAttention graph(6, 2, 0);
       const Edges edges{Ids::from({3}, {1, 2, 3}), Ids::from({3}, {0, 1, 3}), {}};
       const Tensor x = normal(1, 4, 6);
       const Tensor a = graph(x, {{}, &edges}), b = graph(with_ones_added(x, 2), {{}, &edges});
       return distance(slice(b, 1, 0, 1), slice(a, 1, 0, 1)) +
              distance(slice(b, 1, 2, 4), slice(a, 1, 2, 4));
     }},
    {"A49", equal, "S3 12.12",
     "with a vector u: u' is invariant, nodes equivariant, 1,000 random P",
     [] {
       const GraphAttention graph(6, 2, 0, {}, {}, 4);
       const Tensor x = normal(1, 5, 6), u = normal(1, 4);
       const auto before = with_global(graph, x, u);
       return max_of(1000, [&](int64_t) {
         const Ids order = random_permutation(5);
         const auto moved = with_global(graph, permuted(x, order), u);
         return larger(distance(moved.first, permuted(before.first, order)),
                       distance(moved.second, before.second));
       });
     }},
    {"A49", differs, "S3 12.12", "… and another u changes the nodes",
     [] {
       const GraphAttention graph(6, 2, 0, {}, {}, 4);
       const Tensor x = normal(1, 5, 6);
       return distance(with_global(graph, x, normal(1, 4)).first,
                       with_global(graph, x, normal(1, 4)).first);
     }},
    {"A52", at_most(0), "S3",
     "calls with wrong shapes, of six, that are not rejected with an error that has the sizes",
     [] {
       const AttentionForm attention(6, 2);
       const Tensor x = normal(1, 5, 6);
       const Tensor narrow = normal(1, 5, 4), two = normal(2, 5, 6), shorter = normal(1, 4, 6),
                    matrix = normal(5, 6);
       const std::function<void()> calls[] = {[&] { (void)attention(narrow, {}); },
                                              [&] { (void)attention(x, two, {}); },
                                              [&] { (void)attention(x, x, shorter, {}, {}); },
                                              [&] { (void)attention(matrix, {}); },
                                              [&] { (void)MultiHeadAttention(6, 4); },
                                              [&] { (void)matmul(matrix, matrix); }};
       double accepted = 0;
       for (const auto& call : calls) try {
           call();
           ++accepted;
         } catch (const Error& error) {
           if (std::string_view(error.what()).find_first_of("0123456789") == std::string_view::npos)
             ++accepted;
         }
       return accepted;
     }},
};

}  // namespace heed::claims
