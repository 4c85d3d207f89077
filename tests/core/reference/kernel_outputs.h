// The outputs of every kernel that core/reference defines, for random arguments: odd sizes, every
// option, rows where everything is hidden.
//
// All of it is in the namespace `kernels`. Where the macro `kernels` is defined as `reference`, it
// computes with the definitions of core/reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/activation_names.h"
#include "core/kernels/attention/attention.h"
#include "core/kernels/gemm/gemm.h"
#include "core/kernels/linear.h"
#include "core/kernels/more_kernels.h"
#include "core/precision.h"
#include "core/random.h"

namespace heed::inline HEED_REAL::testing {

// An array that a kernel wrote, and the arguments.
struct Output {
  std::string name;
  std::vector<double> values;
};

}  // namespace heed::inline HEED_REAL::testing

namespace heed::inline HEED_REAL::kernels {

using Array = std::vector<real>;

// Draws arguments and keeps outputs. Two runs with one seed draw the same.
class Cases {
 public:
  explicit Cases(uint64_t seed) : random_(seed, Purpose::test) {}

  int64_t below(int64_t n) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(n))); }
  int64_t size(int64_t limit) { return 1 + below(limit); }
  bool flip() { return below(2) == 1; }
  real normal() { return static_cast<real>(random_.normal()); }
  Array normal(int64_t n) {
    Array x(static_cast<size_t>(n));
    for (real& value : x) value = normal();
    return x;
  }
  // Normal values, a fifth of them replaced by `other`.
  Array normal_or(int64_t n, real other) {
    Array x = normal(n);
    for (real& value : x)
      if (below(5) == 0) value = other;
    return x;
  }
  std::vector<int32_t> ids(int64_t n, int64_t limit) {
    std::vector<int32_t> x(static_cast<size_t>(n));
    for (int32_t& value : x) value = static_cast<int32_t>(below(limit));
    return x;
  }
  Ids ids_of(const Shape& shape, int64_t limit) {
    Ids x = Ids::empty(shape);
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<int32_t>(below(limit));
    return x;
  }

  // Calls write(destination) for an array of n elements, which it overwrites or adds to.
  template <class Write>
  void keep(const std::string& name, int64_t n, Write write) {
    const bool accumulate = flip();
    Array y = accumulate ? normal(n) : Array(static_cast<size_t>(n), NAN);
    write(Destination{y.data(), accumulate});
    keep(name + (accumulate ? ", accumulated" : ""), y);
  }
  template <class T>
  void keep(const std::string& name, const std::vector<T>& y) {
    outputs.push_back({name, {y.begin(), y.end()}});
  }

  std::vector<testing::Output> outputs;

 private:
  Random random_;
};

inline std::vector<testing::Output> gemm_outputs() {
  Cases draw(1);
  for (int i = 0; i < 60; ++i) {
    const int64_t limit = i % 3 ? 20 : 150;
    const int64_t m = draw.size(limit), n = draw.size(limit), k = draw.size(limit) - 1;
    const bool transposed_a = draw.flip(), transposed_b = draw.flip();
    const Array a_values = draw.normal(m * k), b_values = draw.normal(k * n), bias = draw.normal(n);
    const Matrix a =
        transposed_a ? Matrix{a_values.data(), k, m}.t() : Matrix{a_values.data(), m, k};
    const Matrix b =
        transposed_b ? Matrix{b_values.data(), n, k}.t() : Matrix{b_values.data(), k, n};
    const bool biased = draw.flip();
    const std::string name = fmt::format("{} × {} × {}, transposed {} {}, bias {}", m, n, k,
                                         transposed_a, transposed_b, biased);
    draw.keep("gemm " + name, m * n,
              [&](Destination c) { gemm(a, b, c, biased ? bias.data() : nullptr); });
  }
  for (const Shape& shape_a : {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 1}, Shape{5, 1, 3}})
    for (const Shape& shape_b : {Shape{3}, Shape{2, 3}, Shape{1, 1}}) {
      const int64_t m = draw.size(9), n = draw.size(9), k = draw.size(9);
      const Shape batch = broadcast("gemm_outputs", shape_a, shape_b);
      const Array a = draw.normal(shape_a.size() * m * k), b = draw.normal(shape_b.size() * n * k);
      draw.keep(fmt::format("gemm_batched {} by {}", shape_a, shape_b), batch.size() * m * n,
                [&](Destination c) {
                  gemm_batched(broadcast_axes(batch, shape_a, shape_b), {a.data(), m, k},
                               Matrix{b.data(), n, k}.t(), c);
                });
    }
  return draw.outputs;
}

inline std::vector<testing::Output> softmax_outputs() {
  Cases draw(2);
  for (int i = 0; i < 40; ++i) {
    const Rows n{draw.size(300), draw.size(40)};
    const int64_t size = n.rows * n.width;
    Array x = draw.normal_or(size, -INFINITY), y(x.size()), log_y(x.size());
    const Array dy = draw.normal(size);
    std::fill_n(x.begin(), n.width, -INFINITY);
    const std::string name = fmt::format("({}, {})", n.rows, n.width);
    softmax_forward(n, x.data(), y.data());
    draw.keep("softmax " + name, y);
    log_softmax_forward(n, x.data(), log_y.data());
    draw.keep("log_softmax " + name, log_y);
    draw.keep("softmax_backward " + name, size,
              [&](Destination dx) { softmax_backward(n, dy.data(), y.data(), dx); });
    draw.keep("log_softmax_backward " + name, size,
              [&](Destination dx) { log_softmax_backward(n, dy.data(), log_y.data(), dx); });
  }
  return draw.outputs;
}

inline std::vector<testing::Output> loss_outputs() {
  Cases draw(3);
  for (int i = 0; i < 40; ++i) {
    const CrossEntropySizes n{draw.size(70) - 1, 3 + draw.below(i % 2 ? 20 : 400), -100};
    // Label smoothing: none, over the other classes, over the others but one that is never a
    // target.
    const double epsilon = i % 3 ? 0.1 : 0;
    const int32_t never = i % 3 == 2 ? static_cast<int32_t>(n.classes - 1) : -1;
    const TargetDistribution p{
        1 - epsilon, epsilon / static_cast<double>(n.classes - (never < 0 ? 1 : 2)), never};
    const Array x = i % 4 || epsilon > 0 ? draw.normal(n.rows * n.classes)
                                         : draw.normal_or(n.rows * n.classes, -INFINITY);
    std::vector<int32_t> targets = draw.ids(n.rows, n.classes - 1);
    for (int32_t& target : targets)
      if (draw.below(4) == 0) target = n.ignored;
    const std::string name =
        fmt::format("({}, {}), smoothing {}, never {}", n.rows, n.classes, epsilon, never);
    Array gradient(x.size(), NAN), in_place = x;
    const double rows = std::max<double>(1, static_cast<double>(n.rows));
    draw.keep(
        "cross_entropy " + name,
        std::vector<double>{cross_entropy(n, p, x.data(), targets.data(), nullptr) / rows,
                            cross_entropy(n, p, x.data(), targets.data(), gradient.data()) / rows});
    draw.keep("cross_entropy gradient " + name, gradient);
    Array losses(static_cast<size_t>(n.rows), NAN);
    cross_entropy(n, p, x.data(), targets.data(), nullptr, losses.data());
    draw.keep("cross_entropy of each row " + name, losses);
    draw.keep("scale_rows " + name, n.rows * n.classes, [&](Destination to) {
      scale_rows({n.rows, n.classes}, losses.data(), gradient.data(), to);
    });
    cross_entropy(n, p, in_place.data(), targets.data(), in_place.data());
    draw.keep("cross_entropy gradient in place " + name, in_place);

    const int64_t size = draw.size(5000);
    const Array a = draw.normal(size), b = draw.normal(size);
    draw.keep("squared_distance", std::vector<double>{squared_distance(size, a.data(), b.data()) /
                                                      static_cast<double>(size)});
    draw.keep("scaled_difference", size,
              [&](Destination to) { scaled_difference(size, real{-1.5}, a.data(), b.data(), to); });
  }
  return draw.outputs;
}

inline std::vector<testing::Output> norm_outputs() {
  Cases draw(4);
  for (int i = 0; i < 40; ++i) {
    const int64_t rows = draw.size(100) - 1, width = 1 + draw.size(i % 2 ? 20 : 300);
    const Array x = draw.normal(rows * width), weight = draw.normal(width),
                bias = draw.normal(width), dy = draw.normal(rows * width);
    Array y(x.size()), mean(static_cast<size_t>(rows)), scale = mean;
    const Rows n{rows, width};
    const std::string name = fmt::format("({}, {})", rows, width);
    norm_forward(n, real{1e-5}, x.data(), weight.data(), bias.data(), y.data(), mean.data(),
                 scale.data());
    draw.keep("layer_norm " + name, y);
    draw.keep("layer_norm mean " + name, mean);
    draw.keep("layer_norm scale " + name, scale);
    const NormBackwardInputs in{dy.data(), x.data(), weight.data(), mean.data(), scale.data()};
    const NormBackwardInputs only_dy{dy.data(), nullptr, nullptr, nullptr, nullptr};
    Array dw(static_cast<size_t>(width)), db = dw;
    const NormGradients to{{}, {dw.data(), false}, {db.data(), false}};
    draw.keep("layer_norm dx " + name, rows * width, [&](Destination dx) {
      norm_backward(n, in, {dx, to.dweight, to.dbias});
    });
    draw.keep("layer_norm dw " + name, dw);
    draw.keep("layer_norm db " + name, db);
    draw.keep("layer_norm db without the rest " + name, width, [&](Destination dbias) {
      norm_backward(n, only_dy, {{}, {}, dbias});
    });

    norm_forward(n, real{1e-5}, x.data(), weight.data(), nullptr, y.data(), nullptr, scale.data());
    const NormBackwardInputs without_mean{dy.data(), x.data(), weight.data(), nullptr,
                                          scale.data()};
    draw.keep("rms_norm " + name, y);
    draw.keep("rms_norm scale " + name, scale);
    draw.keep("rms_norm dx " + name, rows * width, [&](Destination dx) {
      norm_backward(n, without_mean, {dx, {}, {}});
    });
    draw.keep("rms_norm dw " + name, width, [&](Destination dweight) {
      norm_backward(n, without_mean, {{}, dweight, {}});
    });
  }
  return draw.outputs;
}

inline std::vector<testing::Output> normalise_outputs() {
  Cases draw(5);
  for (int i = 0; i < 40; ++i) {
    const int64_t rows = draw.size(20), width = draw.size(70);
    Array x = draw.normal(rows * width), y(x.size()), sums(static_cast<size_t>(rows));
    for (real& value : x) value = std::round(2 * value);  // so that there are ties
    const Array dy = draw.normal(rows * width);
    std::fill_n(x.begin(), width, -INFINITY);
    if (rows > 1) x[static_cast<size_t>(width)] = NAN;
    hardmax({rows, width}, x.data(), y.data());
    draw.keep("hardmax", y);
    for (real& value : x) value = std::isfinite(value) ? std::abs(value) : 0;
    sum_normalize_forward({rows, width}, real{1e-6}, x.data(), y.data(), sums.data());
    draw.keep("sum_normalize", y);
    draw.keep("sum_normalize sums", sums);
    draw.keep("sum_normalize_backward", rows * width, [&](Destination dx) {
      sum_normalize_backward({rows, width}, dy.data(), y.data(), sums.data(), dx);
    });
  }
  return draw.outputs;
}

inline std::vector<testing::Output> reduce_outputs() {
  Cases draw(6);
  const Shape shapes[] = {{}, {7}, {0, 3}, {5, 1, 6}, {2, 3, 4, 5}, {900, 17}, {3, 2000}};
  for (const Shape& shape : shapes)
    for (int kept = 0; kept < 1 << shape.rank(); ++kept)
      for (const bool short_target : {false, true}) {
        Shape target = shape;  // an axis that is not kept has length 1, or is missing at the front
        for (int axis = 0; axis < shape.rank(); ++axis)
          if (!(kept >> axis & 1)) target = target.with(axis, 1);
        while (short_target && target.rank() > 0 && target[0] == 1) target = target.without(0);
        Array x = draw.normal(shape.size()), y(static_cast<size_t>(target.size()));
        const std::string name = fmt::format("{} to {}", shape, target);
        draw.keep("sum " + name, target.size(),
                  [&](Destination to) { sum_to(x.data(), shape, target, to); });
        if (!x.empty()) x[x.size() / 2] = NAN;
        max_to(x.data(), shape, target, y.data());
        draw.keep("max " + name, y);
      }
  return draw.outputs;
}

inline std::vector<testing::Output> segment_outputs() {
  Cases draw(7);
  for (int i = 0; i < 30; ++i) {
    const SegmentSizes n{draw.size(200) - 1, draw.size(100), draw.size(20)};
    const std::vector<int32_t> ids = draw.ids(n.entries, n.segments);
    std::vector<int32_t> start(static_cast<size_t>(n.segments + 1)), by_segment(ids.size());
    sort_by_segment(n, ids.data(), start.data(), by_segment.data());
    draw.keep("segment start", start);
    draw.keep("by_segment", by_segment);
    const int64_t size = n.entries * n.columns;
    Array x = draw.normal_or(size, -INFINITY), y(x.size());
    const Array dy = draw.normal(size);
    const std::string name = fmt::format("({}, {}), {}", n.entries, n.columns, n.segments);
    segment_softmax_forward(n, {start.data(), by_segment.data()}, x.data(), y.data());
    draw.keep("segment_softmax " + name, y);
    draw.keep("segment_softmax_backward " + name, size, [&](Destination dx) {
      segment_softmax_backward(n, {start.data(), by_segment.data()}, dy.data(), y.data(), dx);
    });
  }
  return draw.outputs;
}

inline std::vector<testing::Output> rotary_and_dropout_outputs() {
  Cases draw(8);
  for (int i = 0; i < 30; ++i) {
    const RotarySizes n{draw.size(3), draw.size(40), draw.size(4), 2 * draw.size(20), draw.flip()};
    const int64_t size = n.batch * n.time * n.heads * n.width;
    Array cosine(static_cast<size_t>(n.time * n.width / 2)), sine = cosine;
    const Array x = draw.normal(size);
    rotary_angles(n, 10000, draw.below(1000), cosine.data(), sine.data());
    draw.keep("cosine", cosine);
    draw.keep("sine", sine);
    draw.keep("rotate", size, [&](Destination to) {
      rotate(n, draw.flip() ? real{1} : real{-1}, cosine.data(), sine.data(), x.data(), to);
    });

    draw.keep("dropout", size, [&](Destination to) {
      dropout(size, StreamKey(5, Purpose::dropout, 3, 0, 1), 0.3, x.data(), to);
    });
  }
  return draw.outputs;
}

inline KeepMask random_mask(Cases& draw, const AttentionSizes& n) {
  KeepMask mask;
  mask.causal = draw.flip();
  if (draw.flip()) mask.window = draw.size(n.keys + 3);
  if (draw.flip()) mask.key_lengths = draw.ids_of({n.batch}, n.keys + 1);
  if (draw.flip()) {
    const Shape shape{draw.flip() ? n.batch : 1, draw.flip() ? n.heads : 1, n.queries, n.keys};
    mask.dense = draw.ids_of(shape, 3);
  }
  return mask;
}

inline std::vector<testing::Output> linear_outputs() {
  Cases draw(10);
  for (int i = 0; i < 48; ++i) {
    const auto& entry = activation_names[static_cast<size_t>(i) % std::size(activation_names)];
    const char* const activation_name = entry.name;
    const Activation activation = entry.value;
    const LinearSizes n{draw.size(i % 4 ? 50 : 600), draw.size(70), draw.size(70)};
    const Array x = draw.normal(n.rows * n.inputs), w = draw.normal(n.outputs * n.inputs),
                b = draw.normal(n.outputs), dy = draw.normal(n.rows * n.outputs);
    Array y(dy.size(), NAN), slope = y;
    const std::string name =
        fmt::format("({}, {}) to {}, {}", n.rows, n.inputs, n.outputs, activation_name);
    const bool keeps = draw.flip();  // for a backward
    const bool has_bias = draw.flip();
    const auto forward = [&](real* kept_slope, real* hidden) {
      linear_forward(n, activation, x.data(), w.data(), has_bias ? b.data() : nullptr, y.data(),
                     kept_slope, nullptr, hidden);
    };
    forward(keeps ? slope.data() : nullptr, nullptr);
    draw.keep("linear " + name, y);
    draw.keep("linear slope " + name, slope);
    if (!keeps) continue;
    const bool from_hidden = keeps_slope(activation) && i % 4 == 0;
    Array h(dy.size(), NAN);
    if (from_hidden) {
      forward(nullptr, h.data());
      draw.keep("linear that keeps h " + name, y);
      draw.keep("linear h " + name, h);
      Array again(dy.size(), NAN), slope_again = h;
      activate_again(activation, std::ssize(h), slope_again.data(), again.data());
      draw.keep("linear y again " + name, again);
      draw.keep("linear slope again " + name, slope_again);
    }
    const Array& kept = keeps_slope(activation) ? slope : y;
    const auto keep = [&](const std::string& what, int64_t size, auto gradients) {
      draw.keep("linear " + what + name, size, [&](Destination to) {
        Array dh = h;
        linear_backward(n, activation,
                        {dy.data(),
                         {x.data()},
                         w.data(),
                         from_hidden || activation == Activation::none ? nullptr : kept.data(),
                         activation == Activation::none ? nullptr : dh.data()},
                        gradients(to));
      });
    };
    keep("dx ", n.rows * n.inputs, [](Destination to) { return LinearGradients{to, {}, {}}; });
    keep("dw ", n.outputs * n.inputs, [](Destination to) { return LinearGradients{{}, to, {}}; });
    keep("db ", n.outputs, [](Destination to) { return LinearGradients{{}, {}, to}; });
  }
  return draw.outputs;
}

inline std::vector<testing::Output> attention_outputs() {
  Cases draw(9);
  for (int i = 0; i < 60; ++i) {
    const int64_t limit = i % 4 ? 40 : 330;
    AttentionSizes n{draw.size(3),     draw.size(3),  draw.size(limit),
                     draw.size(limit), draw.size(20), draw.size(20)};
    n.capacity = n.keys + (draw.flip() ? draw.size(5) : 0);
    const int64_t queries = n.batch * n.heads * n.queries;
    AttentionSettings settings;
    settings.scale = 1 / std::sqrt(static_cast<real>(n.width));
    settings.mask = random_mask(draw, n);
    if (draw.flip()) settings.dropout = 0.2;
    settings.dropout_key = StreamKey(7, Purpose::dropout, static_cast<uint32_t>(i));
    const std::string name = fmt::format(
        "{} queries, {} keys, widths {} and {}, causal {}, window {}, lengths {}, dense {}, "
        "dropout {}",
        n.queries, n.keys, n.width, n.value_width, settings.mask.causal, settings.mask.window,
        bool(settings.mask.key_lengths), bool(settings.mask.dense), settings.dropout);
    const int64_t keys = n.batch * n.heads * n.capacity;
    const Array q = draw.normal(queries * n.width), k = draw.normal(keys * n.width),
                v = draw.normal(keys * n.value_width),
                d_output = draw.normal(queries * n.value_width);
    Array output(d_output.size(), NAN), log_sum(static_cast<size_t>(queries), NAN);
    const AttentionInputs in{q.data(), k.data(), v.data()};
    attention_forward(n, settings, in, output.data(), log_sum.data());
    draw.keep("attention " + name, output);
    draw.keep("attention log_sum " + name, log_sum);
    if (n.capacity > n.keys) continue;  // a cache, which has no gradient
    const bool accumulate = draw.flip();
    Array dq = draw.normal(queries * n.width), dk = draw.normal(keys * n.width),
          dv = draw.normal(keys * n.value_width);
    attention_backward(n, settings, {in}, {output.data(), log_sum.data(), d_output.data()},
                       {{dq.data(), accumulate}, {dk.data(), accumulate}, {dv.data(), accumulate}});
    draw.keep("attention dq " + name, dq);
    draw.keep("attention dk " + name, dk);
    draw.keep("attention dv " + name, dv);
  }
  return draw.outputs;
}

inline std::vector<testing::Output> arithmetic_outputs() {
  Cases draw(12);
  for (const Shape& shape_a : {Shape{}, Shape{300}, Shape{40, 1}, Shape{40, 300}, Shape{0, 300}})
    for (const Shape& shape_b : {Shape{1}, Shape{300}, Shape{5, 1, 1}, Shape{1, 300}}) {
      const Shape whole = broadcast("arithmetic_outputs", shape_a, shape_b);
      const Array a_values = draw.normal(shape_a.size()), b_values = draw.normal(shape_b.size());
      const Operand<real> a{a_values.data(), shape_a}, b{b_values.data(), shape_b};
      const std::string name = fmt::format(" {} and {}", shape_a, shape_b);
      draw.keep("add" + name, whole.size(), [&](Destination to) { add(whole, a, b, to); });
      draw.keep("multiply" + name, whole.size(),
                [&](Destination to) { multiply(whole, a, b, to); });
    }
  for (int i = 0; i < 30; ++i) {
    const int64_t size = draw.size(3000);
    const Array x = draw.normal(size);
    const real factor = draw.normal();
    draw.keep("scale", size, [&](Destination to) { scale(size, x.data(), factor, to); });
  }
  return draw.outputs;
}

inline std::vector<testing::Output> copy_outputs() {
  Cases draw(11);
  for (int i = 0; i < 30; ++i) {
    const int64_t rows = draw.size(40), width = draw.size(60), count = draw.size(50);
    const Array x = draw.normal(rows * width), dy = draw.normal(count * width);
    const std::vector<int32_t> ids = draw.ids(count, rows);
    draw.keep("copy", rows * width, [&](Destination to) { copy(rows * width, x.data(), to); });
    Array filled(x.size(), NAN);
    fill(rows * width, real{2.5}, filled.data());
    draw.keep("fill", filled);
    const int64_t part = draw.size(width), step = width + draw.below(4);
    draw.keep("copy_rows", rows * step,
              [&](Destination to) { copy_rows(rows, part, x.data(), width, to, step); });
    draw.keep("zero_rows", rows * step,
              [&](Destination to) { zero_rows(rows, part, to.data, step); });
    draw.keep("gather_rows", count * width,
              [&](Destination to) { gather_rows(count, width, ids.data(), x.data(), to); });
    draw.keep("scatter_rows", rows * width,
              [&](Destination to) { scatter_rows(count, width, ids.data(), dy.data(), rows, to); });
  }
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{70, 40}, Shape{3, 1, 5}, Shape{4, 33, 2, 35},
                             Shape{2, 3, 0}, Shape{2, 3, 4, 5, 3, 2}}) {
    std::vector<int> axes(static_cast<size_t>(shape.rank()));
    for (size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int>(k);
    const Array x = draw.normal(shape.size());
    for (int i = 0; i < 6; ++i) {
      for (size_t k = 1; k < axes.size(); ++k)
        std::swap(axes[k], axes[static_cast<size_t>(draw.below(static_cast<int64_t>(k) + 1))]);
      draw.keep(fmt::format("permute {}", shape), shape.size(),
                [&](Destination to) { permute(x.data(), shape, axes, to); });
    }
  }
  for (int i = 0; i < 20; ++i) {
    const AttentionSizes n{draw.size(3), draw.size(3), draw.size(20), draw.size(20), 1, 1};
    const Shape shape{n.batch, n.heads, n.queries, n.keys};
    const KeepMask mask = random_mask(draw, n);
    const Array x = draw.normal(shape.size());
    draw.keep("fill_hidden", shape.size(), [&](Destination to) {
      fill_hidden(shape, mask, x.data(), to.accumulate ? 0 : -INFINITY, to);
    });
  }
  return draw.outputs;
}

// `tolerance`: how many units of rounding the fast kernel may be off, relative to the largest value
// of an output, or to 1 if that is larger.
struct Family {
  const char* name;
  double tolerance;
  std::vector<testing::Output> (*outputs)();
};
inline constexpr Family families[] = {
    {"gemm", 10, gemm_outputs},
    {"linear", 100, linear_outputs},  // sums over up to 600 rows
    {"softmax", 5, softmax_outputs},
    {"loss", 5, loss_outputs},
    {"norm", 300, norm_outputs},  // a row of nearly equal values has a large gradient
    {"normalise", 5, normalise_outputs},
    {"reduce", 100, reduce_outputs},  // sums of up to 15,300 elements
    {"segment", 5, segment_outputs},
    {"rotary and dropout", 5, rotary_and_dropout_outputs},
    {"attention", 30, attention_outputs},
    {"arithmetic", 5, arithmetic_outputs},
    {"copy", 5, copy_outputs},
};

}  // namespace heed::inline HEED_REAL::kernels
