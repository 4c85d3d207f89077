#include "lab/onnx/positions.h"

#include <cmath>
#include <numbers>

#include "nn/forms/positional.h"
#include "nn/forms/score_bias.h"

namespace heed::onnx {

Value positions_of(Graph& g, const Value& x) {
  const Value time = g.gather(g.node("Shape", {x}), g.integer(1));
  return g.node("Range", {g.integer(0), time, g.integer(1)});
}

Value real_keys(Graph& g, const Value& x, const Value& lengths) {
  const Value real = g.node("Less", {positions_of(g, x), g.unsqueeze(lengths, {1})});  // (B, T)
  return g.unsqueeze(real, {1, 2});
}

PositionContext self_context(Graph& g, const Value& x, const ModelOptions& block,
                             const Value& real) {
  const MultiHeadAttentionOptions& a = block.attention;
  const bool relates = a.causal || a.window > 0 || block.positional.kind->score_bias;
  PositionContext context{.keep = real, .causal = a.causal};
  const auto restrict_to = [&](const Value& keep) {
    context.keep = context.keep.empty() ? keep : g.node("And", {context.keep, keep});
  };
  if (!relates && !block.positional.kind->rotate) return context;
  const Value t = context.positions = positions_of(g, x);
  if (!relates) return context;
  const Value d = context.distances = g.node("Sub", {g.unsqueeze(t, {1}), g.unsqueeze(t, {0})});
  if (a.causal) restrict_to(g.node("GreaterOrEqual", {d, g.integer(0)}));
  if (a.window > 0) restrict_to(g.node("Less", {g.node("Abs", {d}), g.integer(a.window)}));
  return context;
}

namespace {

// Returns sin(t ω + phase) for each position t (T) and each column. The angles are float64, as in
// heed: in float32 the error at position 10,000 would be 1e-3.
Value waves(Graph& g, const Value& t, const std::vector<double>& frequencies,
            const std::vector<double>& phases) {
  const Value times = g.unsqueeze(g.cast(t, Element::float64), {1});
  const Value angles = g.add(g.mul(times, g.numbers(frequencies)), g.numbers(phases));
  return g.cast(g.node("Sin", {angles}), Element::float32);
}

// A column of sinusoids or of a rotated head: the first or the second one of a pair.
struct Column {
  int64_t pair;
  bool second;
};

Column column(int64_t c, int64_t width, RotaryLayout layout) {
  const int64_t firsts = (width + 1) / 2;
  if (layout == RotaryLayout::interleaved) return {c / 2, c % 2 == 1};
  return {c % firsts, c >= firsts};
}

double frequency(int64_t k, int64_t width, double base) {
  return std::pow(base, -2 * static_cast<double>(k) / static_cast<double>(width));
}

// φ(t): sines, and cosines as sin(x + π/2).
Value sinusoids(Graph& g, const Value& t, int64_t width, const PositionalOptions& o) {
  std::vector<double> frequencies, phases;
  for (int64_t c = 0; c < width; ++c) {
    const Column at = column(c, width, o.layout);
    frequencies.push_back(frequency(o.first_k + at.pair, width, o.base));
    phases.push_back(at.second ? std::numbers::pi / 2 : 0);
  }
  return waves(g, t, frequencies, phases);
}

// φ(t) for positions t (T): (T, width). `learned` is the name of learned vectors.
Value vectors(Graph& g, const Value& t, int64_t width, const PositionalOptions& o,
              const std::string& learned) {
  if (o.kind->is_learned) return g.gather(learned, t);
  if (o.kind != &positional_encodings::integer) return sinusoids(g, t, width, o);
  const Value column = g.cast(g.unsqueeze(t, {1}), Element::float32);
  return g.node("Expand", {column, g.integers({1, width})});
}

// φ of the coordinates of all cells of a grid, one axis after the other.
Value grid_vectors(Graph& g, const std::string& name, int64_t width,
                   const PositionalOptions& options, const std::vector<int64_t>& grid) {
  std::vector<Value> parts;
  const int64_t cells = Shape(grid).size();
  int64_t stride = cells;
  for (size_t a = 0; a < grid.size(); ++a) {
    stride /= grid[a];
    std::vector<int64_t> coordinates;
    for (int64_t t = 0; t < cells; ++t) coordinates.push_back(t / stride % grid[a]);
    parts.push_back(vectors(g, g.integers(coordinates), width / std::ssize(grid), options,
                            fmt::format("{}.axis_{}", name, a)));
  }
  return g.node("Concat", parts, {{"axis", int64_t{-1}}});
}

}  // namespace

Value with_positions(Graph& g, const Value& x, const std::string& name, int64_t dim,
                     const PositionalOptions& options, const std::vector<int64_t>& grid) {
  if (!options.kind->is_vector()) return x;
  const bool added = options.combine == PositionalCombine::add;
  const int64_t width = added ? dim : options.dim;
  const Value all = grid.empty() ? vectors(g, positions_of(g, x), width, options, name + ".weight")
                                 : grid_vectors(g, name, width, options, grid);
  if (added) return g.add(x, all);
  const Value batch_and_time = g.node("Shape", {x}, {{"end", int64_t{2}}});
  const Value shape =
      g.node("Concat", {batch_and_time, g.integers({width})}, {{"axis", int64_t{0}}});
  return g.node("Concat", {x, g.node("Expand", {all, shape})}, {{"axis", int64_t{-1}}});
}

// (a, b) → (a cos - b sin, b cos + a sin) = x cos + swapped(x) (∓ sin), with -sin x = sin(x + π)
Value rotated(Graph& g, const Value& x, int64_t width, const PositionalOptions& options,
              const PositionContext& context) {
  if (!options.kind->rotate || context.positions.empty()) return x;
  const int64_t offset = options.layout == RotaryLayout::interleaved ? 1 : width / 2;
  std::vector<double> frequencies, cosine, sine;
  std::vector<int64_t> partners;
  for (int64_t c = 0; c < width; ++c) {
    const Column at = column(c, width, options.layout);
    frequencies.push_back(frequency(at.pair, width, options.base));
    cosine.push_back(std::numbers::pi / 2);
    sine.push_back(at.second ? 0 : std::numbers::pi);
    partners.push_back(at.second ? c - offset : c + offset);
  }
  const Value swapped = g.gather(x, g.integers(partners), -1);
  return g.add(g.mul(x, waves(g, context.positions, frequencies, cosine)),
               g.mul(swapped, waves(g, context.positions, frequencies, sine)));
}

Value biased(Graph& g, const Value& scores, const std::string& layer, int64_t heads,
             const PositionalOptions& options, const PositionContext& context) {
  if (!options.kind->score_bias || context.distances.empty()) return scores;
  if (options.kind == &positional_encodings::alibi) {
    std::vector<double> factors;
    for (const double slope : alibi_slopes(heads)) factors.push_back(-slope);
    const Value magnitude = g.cast(g.node("Abs", {context.distances}), Element::float32);
    const Value slopes = g.cast(g.numbers(factors), Element::float32);
    return g.add(scores, g.mul(g.unsqueeze(slopes, {1, 2}), magnitude));
  }
  // The bucket of each distance i - j from -max_distance to max_distance. All larger ones share the
  // last bucket.
  const int64_t far = options.max_distance;
  std::vector<int64_t> buckets;
  for (int64_t distance = -far; distance <= far; ++distance)
    buckets.push_back(relative_bucket(-distance, options.buckets, far, !context.causal));
  const Value clipped = g.node("Clip", {context.distances, g.integer(-far), g.integer(far)});
  const Value bucket = g.gather(g.integers(buckets), g.add(clipped, g.integer(far)));
  const Value bias = g.gather(layer + ".position.weight", bucket);  // (T, T, H)
  return g.add(scores, g.transpose(bias, {2, 0, 1}));
}

}  // namespace heed::onnx
