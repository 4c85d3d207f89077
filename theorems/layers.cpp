// Attention among other layers: what it can do that they cannot, stacks of it, and graphs.
#include <algorithm>
#include <cmath>

#include "core/scope.h"
#include "nn/block.h"
#include "nn/graph_attention.h"
#include "nn/gru.h"
#include "nn/time_dense.h"
#include "theorems/samples.h"
#include "theorems/theorem.h"

namespace heed::theorems {
namespace {

constexpr int64_t examples = 500, length = 16;

// Sentences of 16 places (mark, value, is verb), of which one, at random, is the subject, with the
// mark; the verb, at the end, is to find the subject's value.
struct Sentences {
  Tensor x = Tensor::zeros({examples, length, 3});
  std::vector<double> subject;

  Sentences() {
    Random random(scope().next_stream(Purpose::test));
    real* to = x.mutable_data();
    for (int64_t b = 0; b < examples; ++b) {
      const auto place = static_cast<int64_t>(random.below(length - 1));
      for (int64_t t = 0; t < length - 1; ++t)
        to[(b * length + t) * 3 + 1] = static_cast<real>(random.normal());
      to[(b * length + place) * 3] = 1;
      to[(b * length + length - 1) * 3 + 2] = 1;
      subject.push_back(static_cast<double>(to[(b * length + place) * 3 + 1]));
    }
  }
  // The error of what a layer gives at the verb, over the size of what is right.
  double error_of(const Tensor& y) const {
    double wrong = 0, size = 0;
    for (size_t b = 0; b < subject.size(); ++b) {
      const auto row = static_cast<int64_t>(b) * length + length - 1;
      wrong += std::pow(static_cast<double>(y.data()[row * 3 + 1]) - subject[b], 2);
      size += std::pow(subject[b], 2);
    }
    return std::sqrt(wrong / size);
  }
};

// Weights made: the verb asks for the mark, and reads the value that stands with it.
double error_of_attention() {
  const Sentences data;
  AttentionSetup setup = plain();
  setup.form.combine = Combine::concat;
  const MultiHeadAttention attention(3, 1, setup);
  set(attention, "query.weight", tensor({3, 3}, {0, 0, 50, 0, 0, 0, 0, 0, 0}));
  set(attention, "key.weight", tensor({3, 3}, {1, 0, 0, 0, 0, 0, 0, 0, 0}));
  set(attention, "value.weight", tensor({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  return data.error_of(attention(data.x, SequenceContext{}));
}

// Weights fixed: each of the 15 places is the subject as often, so that 1/15 each is the best.
double error_of_dense() {
  const Sentences data;
  const TimeDense dense(3, length, {false});
  set(dense, "weight", Tensor::full({length, length}, 1 / static_cast<real>(length - 1)));
  const Tensor identity = tensor({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  set(dense, "value.weight", identity);
  set(dense, "output.weight", identity);
  return data.error_of(dense(data.x, {}));
}

// The same of the two places that a kernel of 5 reads before the verb.
double error_of_convolution() {
  const Sentences data;
  const Convolution convolution(3, 5, Padding::zero, false, {false});
  Tensor kernel = Tensor::zeros({3, 15});
  for (int64_t j = 0; j < 5; ++j)
    kernel.mutable_data()[15 + j * 3 + 1] = 1 / static_cast<real>(length - 1);
  set(convolution, "weight", kernel);
  return data.error_of(convolution(data.x, {}));
}

// How much the places [first, last) of the result move when place `changed` of 9 does.
double moved(const Mixing& layer, int64_t changed, int64_t first, int64_t last) {
  const Tensor x = normal({1, 9, 4});
  Tensor other = x.clone();
  for (int64_t c = 0; c < 4; ++c) other.mutable_data()[changed * 4 + c] += 1;
  return distance(slice(layer(other, {}), 1, first, last), slice(layer(x, {}), 1, first, last));
}

void against_other_layers(Measurements& m) {
  m.at_most("A43", 1e-3, "S4",
            "the verb finds its subject at any distance: attention, weights generated",
            error_of_attention);
  m.at_least("A43", 0.5, "S4", "… a dense layer, the best fixed weights", error_of_dense);
  m.at_least("A43", 0.5, "S4", "… a convolution of 5, the best fixed kernel", error_of_convolution);
  m.at_most("A44", 0, "S4", "a recurrent network sees the past alone: what a later place changes",
            [] { return moved(Gru(4), 5, 0, 5); });
  m.at_least("A44", different, "S4", "… and attention what comes later too",
             [] { return moved(MultiHeadAttention(4, 2), 5, 0, 5); });
  m.at_most("A44", 0, "S4", "a convolution of 3 sees its neighbours alone, whatever they hold",
            [] { return moved(Convolution(4, 3, Padding::zero, false), 5, 0, 4); });
}

BlockOptions small_block() {
  BlockOptions options;
  options.dim = 16;
  options.heads = 2;
  options.feed_forward = 16;
  return options;
}

// How much place 4 of 9 moves what layers in a window of one place to each side give: the most at
// those beyond their reach, or the least within it.
double in_window(bool beyond) {
  KeepMask window;
  window.window = 2;
  double most = 0, least = 1;
  for (const int64_t layers : {1, 2, 3}) {
    const Encoder encoder(small_block(), layers);
    const Tensor x = normal({1, 9, 16});
    const Tensor parts[] = {slice(x, 1, 0, 4), normal({1, 1, 16}), slice(x, 1, 5, 9)};
    const Tensor other = concat(parts, 1);
    const Tensor before = encoder(x, SequenceContext{window, {}});
    const Tensor after = encoder(other, SequenceContext{window, {}});
    for (int64_t t = 0; t < 9; ++t) {
      const double change = distance(slice(after, 1, t, t + 1), slice(before, 1, t, t + 1));
      if (std::abs(t - 4) > layers)
        most = std::max(most, change);
      else
        least = std::min(least, change);
    }
  }
  return beyond ? most : least;
}

// An encoder, and another that was given its weights.
double error_of_transfer() {
  const Encoder first(small_block(), 2), second(small_block(), 2);
  copy_parameters(first, second);
  const Tensor x = normal({1, 9, 16});
  return distance(second(x, SequenceContext{}), first(x, SequenceContext{}));
}

void stacks(Measurements& m) {
  m.at_most("A48", 0, "S4", "an encoder's weights, copied by name, give its states elsewhere",
            error_of_transfer);
  m.at_most("A51", 0, "S4",
            "n layers of attention in a window of 1 to each side reach no further than n",
            [] { return in_window(true); });
  m.at_least("A51", 1e-5, "S4",
             "… and as far as n, as chained convolutions do (the smallest change)",
             [] { return in_window(false); });
}

Edges complete_graph(int64_t nodes) {
  Edges edges{Ids::empty({nodes * nodes}), Ids::empty({nodes * nodes}), {}};
  for (int64_t e = 0; e < nodes * nodes; ++e) {
    edges.receiver.data()[e] = static_cast<int32_t>(e / nodes);
    edges.sender.data()[e] = static_cast<int32_t>(e % nodes);
  }
  return edges;
}

void graphs(Measurements& m) {
  m.at_most("A49", rounding, "S3 12.11", "on a complete graph, graph attention is self-attention",
            [] {
              const GraphAttention graph(6, 2, 0);
              const MultiHeadAttention attention(6, 2);
              copy_parameters(graph, attention);
              const Tensor x = normal({1, 5, 6});
              return distance(graph(x, {{}, complete_graph(5)}), attention(x, SequenceContext{}));
            });
  m.at_most("A49", rounding, "S3 12.18", "the weights of the edges into a node add up to 1", [] {
    const Ids receivers = Ids::from({6}, {0, 0, 0, 1, 2, 2});
    const Tensor sums = segment_sum(segment_softmax(normal({6, 2}), receivers, 3), receivers, 3);
    return greatest_difference(sums, {1, 1, 1, 1, 1, 1});
  });
  m.at_most("A49", 0, "S3 12.11", "a node hears those with an edge to it and no one else", [] {
    const GraphAttention graph(6, 2, 0);
    const Edges edges{Ids::from({3}, {1, 2, 3}), Ids::from({3}, {0, 1, 3}), {}};
    const Tensor x = normal({1, 4, 6});
    Tensor other = x.clone();
    for (int64_t c = 0; c < 6; ++c) other.mutable_data()[2 * 6 + c] += 1;  // heard by 1 alone
    const Tensor a = graph(x, {{}, edges}), b = graph(other, {{}, edges});
    return distance(slice(b, 1, 0, 1), slice(a, 1, 0, 1)) +
           distance(slice(b, 1, 2, 4), slice(a, 1, 2, 4));
  });
}

// How many of these calls, of shapes that do not fit, are answered all the same.
double accepted_misfits() {
  const MultiHeadAttention attention(6, 2);
  const std::function<void()> calls[] = {
      [&] {
        (void)attention(normal({1, 5, 4}), SequenceContext{});
      },
      [&] {
        (void)attention(normal({1, 5, 6}), normal({2, 5, 6}), {});
      },
      [&] {
        (void)attention(normal({1, 5, 6}), normal({1, 5, 6}), normal({1, 4, 6}), {}, {});
      },
      [&] {
        (void)attention(normal({5, 6}), SequenceContext{});
      },
      [] { (void)MultiHeadAttention(6, 4); },
      [] {
        (void)matmul(normal({2, 3}), normal({2, 3}));
      }};
  double accepted = 0;
  for (const auto& call : calls) try {
      call();
      ++accepted;
    } catch (const Error& error) {
      if (std::string_view(error.what()).find_first_of("0123456789") == std::string_view::npos)
        ++accepted;  // an error that does not say the sizes is no answer
    }
  return accepted;
}

}  // namespace

void measure_layers(Measurements& m) {
  m.section("Among other layers");
  against_other_layers(m);
  stacks(m);
  graphs(m);
  m.at_most("A52", 0, "S3",
            "of six calls whose shapes do not fit, so many are not refused with the sizes",
            accepted_misfits);
}

}  // namespace heed::theorems
