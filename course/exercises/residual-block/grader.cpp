#include "course/grader/grader.h"

#include <cmath>

#include "course/exercises/residual-block/block.h"

namespace heed::course {

[[gnu::weak]] Tensor pre_norm_block(const Tensor& x, const Tensor& gain_1, const Tensor& gain_2,
                                    const Sublayer& attention, const Sublayer& feed_forward);

void grade_residual_block(Grader& g, decltype(&pre_norm_block) answer) {
  const auto check = [&](int64_t time, int64_t width, double mixed, double squared) {
    // "Attention" mixes the rows of its argument in fixed proportions, "feed_forward" squares.
    const Array mix = g.array({time, time}, -mixed, mixed);
    const Tensor weights = Tensor::from(mix.shape, mix.values);
    const Sublayer attention = [=](const Tensor& x) { return matmul(weights, x); };
    const Sublayer feed_forward = [=](const Tensor& x) { return squared * x * x; };

    const auto normed = [=](const auto& row, const Array& gain, int64_t d) {
      const double squares = sum_over(width, [&](int64_t e) { return row(e) * row(e); });
      return gain(Index{{d}, 1}) * row(d) /
             std::sqrt(squares / static_cast<double>(width) + norm_epsilon);
    };
    const auto definition = [=](Arrays x, const Index& i) {
      const auto stream = [&](int64_t t) {
        return [&, t](int64_t d) { return x[0](Index{{t, d}, 2}); };
      };
      const auto h = [&](int64_t d) {
        return stream(i[0])(d) + sum_over(time, [&](int64_t t) {
                 return mix(Index{{i[0], t}, 2}) * normed(stream(t), x[1], d);
               });
      };
      const double n = normed(h, x[2], i[1]);
      return h(i[1]) + squared * n * n;
    };
    g.check({.name = fmt::format("block of x {}", Shape{time, width}),
             .inputs = {{time, width}, {width}, {width}},
             .result = {time, width},
             .op = [=](Tensors x) { return answer(x[0], x[1], x[2], attention, feed_forward); },
             .definition = definition,
             .low = 0.5,
             .high = 2,
             .arguments = {"x", "gain_1", "gain_2"}});
  };
  check(g.size(2, 3), g.size(4, 5), 1, 0.5);
  check(g.size(4, 5), g.size(2, 3), 1, -0.5);
  check(1, 1, 0, 0);
}

namespace {
namespace residual_block_answers {

Tensor norm(const Tensor& x, const Tensor& gain) { return rms_norm(x, gain, norm_epsilon); }

struct Block {
  const Tensor &x, &gain_1, &gain_2;
  const Sublayer &attention, &feed_forward;

  Tensor first() const { return x + attention(norm(x, gain_1)); }
  Tensor second(const Tensor& h) const { return h + feed_forward(norm(h, gain_2)); }
};

template <auto compute>
Tensor block(const Tensor& x, const Tensor& gain_1, const Tensor& gain_2, const Sublayer& attention,
             const Sublayer& feed_forward) {
  return compute(Block{x, gain_1, gain_2, attention, feed_forward});
}

const Exercise residual_block_exercise(
    "residual_block", grade_residual_block, {pre_norm_block},
    {{"", block<[](const Block& b) { return b.second(b.first()); }>},
     {"This is a post-norm block: the norm comes after the sum. Here each sublayer reads a "
      "normalised stream, and the stream itself is never normalised.",
      block<[](const Block& b) {
        const Tensor h = norm(b.x + b.attention(b.x), b.gain_1);
        return norm(h + b.feed_forward(h), b.gain_2);
      }>},
     {"What the sublayers return is normalised. Their arguments must be.",
      block<[](const Block& b) {
        const Tensor h = b.x + norm(b.attention(b.x), b.gain_1);
        return h + norm(b.feed_forward(h), b.gain_2);
      }>},
     {"The sublayers are added to the normalised stream, not to the stream itself.",
      block<[](const Block& b) {
        const Tensor n = norm(b.x, b.gain_1), h = n + b.attention(n), m = norm(h, b.gain_2);
        return m + b.feed_forward(m);
      }>},
     {"Attention is added to norm(x), not to x.", block<[](const Block& b) {
        const Tensor n = norm(b.x, b.gain_1);
        return b.second(n + b.attention(n));
      }>},
     {"The feed-forward network is added to norm(h), not to h.", block<[](const Block& b) {
        const Tensor m = norm(b.first(), b.gain_2);
        return m + b.feed_forward(m);
      }>},
     {"The first residual connection is missing: h is x plus what attention returns.",
      block<[](const Block& b) { return b.second(b.attention(norm(b.x, b.gain_1))); }>},
     {"The second residual connection is missing: y is h plus what the feed-forward network "
      "returns.",
      block<[](const Block& b) { return b.feed_forward(norm(b.first(), b.gain_2)); }>},
     {"Both residual connections are missing.", block<[](const Block& b) {
        return b.feed_forward(norm(b.attention(norm(b.x, b.gain_1)), b.gain_2));
      }>},
     {"The feed-forward network reads x, not h: both sublayers run side by side, as in GPT-J.",
      block<[](const Block& b) { return b.first() + b.feed_forward(norm(b.x, b.gain_2)); }>},
     {"The feed-forward network reads h, but its result is added to x: attention is lost on the "
      "way.",
      block<[](const Block& b) { return b.x + b.feed_forward(norm(b.first(), b.gain_2)); }>},
     {"Attention reads x without a norm.",
      block<[](const Block& b) { return b.second(b.x + b.attention(b.x)); }>},
     {"The feed-forward network reads h without a norm.", block<[](const Block& b) {
        const Tensor h = b.first();
        return h + b.feed_forward(h);
      }>},
     {"There is no norm.", block<[](const Block& b) {
        const Tensor h = b.x + b.attention(b.x);
        return h + b.feed_forward(h);
      }>},
     {"The gains are exchanged: gain_1 belongs to attention, gain_2 to the feed-forward network.",
      block<[](const Block& b) {
        const Block other{b.x, b.gain_2, b.gain_1, b.attention, b.feed_forward};
        return other.second(other.first());
      }>},
     {"Both norms have gain_1. The second has a gain of its own.", block<[](const Block& b) {
        const Block other{b.x, b.gain_1, b.gain_1, b.attention, b.feed_forward};
        return other.second(other.first());
      }>},
     {"The sublayers are exchanged: attention comes first.", block<[](const Block& b) {
        const Block other{b.x, b.gain_1, b.gain_2, b.feed_forward, b.attention};
        return other.second(other.first());
      }>},
     {"The result is normalised once more. That norm comes after the last block of a model, not "
      "in each.",
      block<[](const Block& b) {
        return norm(b.second(b.first()), Tensor::full(b.gain_2.shape(), 1));
      }>},
     {"This is h: the feed-forward network is missing.",
      block<[](const Block& b) { return b.first(); }>},
     {"This is x itself.", block<[](const Block& b) { return b.x + 0; }>}});

}  // namespace residual_block_answers
}  // namespace
}  // namespace heed::course
