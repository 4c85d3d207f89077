// Defines nn/forms/positional.h: the forms that are not in nn/positions.cpp, then their options,
// then the layer. Those that bias scores are in nn/forms/score_bias.cpp.
#include "nn/forms/positional.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/ops.h"
#include "core/parallel_for.h"
#include "nn/init.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr Named<RotaryLayout> layouts[] = {{"interleaved", RotaryLayout::interleaved},
                                           {"halves", RotaryLayout::halves}};
constexpr Named<PositionalCombine> combinations[] = {{"add", PositionalCombine::add},
                                                     {"concat", PositionalCombine::concat}};

// The coordinates of all cells, for each axis.
std::vector<Ids> cell_coordinates(std::span<const int64_t> grid) {
  const int64_t cells = Shape(grid).size();
  check(cells > 0, "positional encoding: the grid {} has no cells", Shape(grid));
  std::vector<Ids> all;
  int64_t stride = cells;  // cells from one coordinate to the next
  for (int64_t length : grid) {
    stride /= length;
    Ids along = Ids::empty({cells});
    for (int64_t t = 0; t < cells; ++t)
      along.mutable_data()[t] = static_cast<int32_t>(t / stride % length);
    all.push_back(along);
  }
  return all;
}

void check_divisible(int64_t width, size_t axes, const PositionalOptions& options) {
  const char* const key = options.combine == PositionalCombine::concat ? "positional.dim" : "dim";
  const int64_t parts = static_cast<int64_t>(axes) * options.kind->columns_per_frequency;
  check_input(
      width % parts == 0,
      "`{}` = {} must be divisible by {}: {} positions over a grid of {} axes give each axis "
      "as many columns",
      key, width, parts, options.kind->name, axes);
}

}  // namespace

Tensor sinusoidal_positions(int64_t length, int64_t dim, const PositionalOptions& options) {
  check_fields(options, "sinusoidal positions");
  return positional_encodings::sinusoidal.table(length, dim, options);
}

// φ(t) = t in every column, a counterexample: φ(s)·φ(t) = s · t grows with the positions and does
// not depend on their distance, and a late token is dominated by its position.
const PositionalRule positional_encodings::integer = {
    .name = "integer", .table = [](int64_t length, int64_t dim, const PositionalOptions&) {
      Tensor table = Tensor::empty({length, dim});
      real* to = table.mutable_data();
      parallel_for(length, chunk_rows(dim), [=](int64_t first, int64_t last) {
        for (int64_t t = first; t < last; ++t) std::fill_n(to + t * dim, dim, static_cast<real>(t));
      });
      return table;
    }};

// The kernel that Pitié asks for, φ(s)·φ(t) = exp(-λ (s - t)²), by the first terms of its Fourier
// series over a period P = 2 max_length, in which no distance is larger than P / 2:
//   exp(-λ g²) = Σₖ aₖ cos ωₖg,  ωₖ = 2πk / P,
//   a₀ = √(π/λ) / P,  aₖ = 2 a₀ exp(-ωₖ² / 4λ)            (the Gaussian's Fourier transform at ωₖ)
//   φ(t) = [√a₀ sin ω₀t, √a₀ cos ω₀t, √a₁ sin ω₁t, √a₁ cos ω₁t, …],  then zeros
// The coefficients are those of the sum of the kernels of all periods, which differ from it by
// exp(-λ max_length²) at most, where the distance is P / 2.
const PositionalRule positional_encodings::gaussian = {
    .name = "gaussian",
    .table =
        [](int64_t length, int64_t dim, const PositionalOptions& o) {
          check_input(
              2 * o.terms <= dim,
              "`positional.terms` = {} needs {} columns for its sines and cosines, and there "
              "are {}",
              o.terms, 2 * o.terms, dim);
          const int64_t columns = o.terms > 0 ? 2 * o.terms : dim / 2 * 2;
          Tensor table = Tensor::zeros({std::min(length, o.max_length), dim});
          const double period = 2 * static_cast<double>(o.max_length);
          for (int64_t c = 0; c < columns && !scope().shapes_only; ++c) {
            const double omega = 2 * std::numbers::pi * static_cast<double>(c / 2) / period;
            const double a = (c < 2 ? 1 : 2) * std::sqrt(std::numbers::pi / o.lambda) / period *
                             std::exp(-omega * omega / (4 * o.lambda));
            for (int64_t t = 0; t < table.dim(0); ++t) {
              const double angle = omega * static_cast<double>(t);
              table.mutable_data()[t * dim + c] =
                  static_cast<real>(std::sqrt(a) * (c % 2 ? std::cos(angle) : std::sin(angle)));
            }
          }
          return table;
        },
    .is_limited = true,
    .columns_per_frequency = 2};

void PositionalOptions::fields(Fields& f) {
  f.choice("kind", kind, positional_encodings::all, "encoding of the positions of tokens");
  namespace rules = positional_encodings;
  const bool has_waves = kind != &rules::none && kind != &rules::learned &&
                         kind != &rules::integer && kind != &rules::alibi &&
                         kind != &rules::relative && kind != &rules::gaussian;
  f.integer("max_length", max_length, {1, 1 << 20},
            "positions in the table (kind = learned), or half a period (kind = gaussian)")
      .when(kind->is_limited);
  f.choice("layout", layout, layouts,
           "each sine next to its cosine, or all sines first (sinusoidal); the pairs of rotary "
           "likewise")
      .when(has_waves);
  f.integer("first_k", first_k, {0, 1},
            "index of the first sinusoid, of frequency base^(-2 first_k / dim); the paper's: 0")
      .when(has_waves && kind != &rules::rotary);
  f.number("base", base, {1, 1e12}, "sinusoidal and rotary frequencies range from 1 to 1/base")
      .when(has_waves);
  f.choice("combine", combine, combinations, "add positions to tokens, or concatenate them");
  f.integer("dim", dim, {0, 1 << 16}, "columns of the model for positions (combine = concat)");
  f.integer("buckets", buckets, {4, 1 << 16}, "buckets of distances, even (kind = relative)")
      .when(kind == &rules::relative);
  f.integer("max_distance", max_distance, {2, 1 << 20},
            "distance from which on all share one bucket (kind = relative)")
      .when(kind == &rules::relative);
  f.number("lambda", lambda, {1e-9, 1e3}, "λ of φ(s)·φ(t) = exp(-λ (s - t)²) (kind = gaussian)")
      .when(kind == &rules::gaussian);
  f.integer("terms", terms, {0, 1 << 15},
            "terms of the Fourier series of that kernel, two columns each; 0: all that fit")
      .when(kind == &rules::gaussian);
}

void PositionalOptions::validate(int64_t model_dim) const {
  check_fields(*this, "positional encoding");
  const bool concatenated = combine == PositionalCombine::concat;
  check_input(!concatenated || kind->is_vector(),
              "`positional.combine` = \"concat\" needs positions that are vectors, and "
              "`positional.kind` = \"{}\" has none: choose one of {}",
              kind->name, names_where(positional_encodings::all, &PositionalRule::is_vector));
  check_input(
      !concatenated || dim > 0,
      "`positional.combine` = \"concat\" needs a width for positions: set `positional.dim`");
  check_input(concatenated || dim == 0,
              "`positional.dim` = {} is the width of concatenated positions: set "
              "`positional.combine` = \"concat\", or leave it at 0",
              dim);
  check_input(dim < model_dim,
              "`positional.dim` = {} leaves tokens none of the {} columns of the model", dim,
              model_dim);
  check_input(!concatenated || dim % kind->columns_per_frequency == 0,
              "`positional.dim` = {} must be even: a sine and a cosine for each frequency", dim);
  if (kind->validate) kind->validate(*this);
}

PositionalEncoding::PositionalEncoding(int64_t dim, const PositionalOptions& o, double std,
                                       std::span<const int64_t> grid)
    : Positions((o.validate(dim), o), o.dim > 0 ? o.dim : dim,
                o.kind->is_learned && grid.empty()
                    ? normal_parameter({o.max_length, o.dim > 0 ? o.dim : dim}, std)
                    : Tensor()),
      token_width_(token_width(dim, o)),
      grid_(grid.begin(), grid.end()) {
  if (!o.kind->is_vector() || grid.empty()) return;
  check_divisible(width_, grid.size(), o);
  coordinates_ = cell_coordinates(grid);
  for (int64_t length : grid)
    if (o.kind->is_learned)
      learned_.emplace_back(this, fmt::format("axis_{}", learned_.size()),
                            normal_parameter({length, width_ / std::ssize(grid)}, std));
}

Tensor PositionalEncoding::rows(int64_t first, int64_t last) const {
  if (grid_.empty()) return Positions::rows(first, last);
  check(last - first == coordinates_[0].size(),
        "positional encoding: {} positions do not fill the grid {}", last - first, Shape(grid_));
  const bool learned = options_.kind->is_learned;
  const auto compute = [&] {
    const int64_t width = width_ / static_cast<int64_t>(grid_.size());
    std::vector<Tensor> parts;
    for (size_t a = 0; a < grid_.size(); ++a) {
      const Tensor along =
          learned ? Tensor(learned_[a]) : options_.kind->table(grid_[a], width, options_);
      parts.push_back(embedding(along, coordinates_[a]));
    }
    return concat(parts, -1);
  };
  return learned ? compute() : table_.get([](const Tensor&) { return true; }, compute);
}

Tensor PositionalEncoding::operator()(const Tensor& x, int64_t first, const Ids& at) const {
  if (options_.combine == PositionalCombine::add) return Positions::operator()(x, first, at);
  const ModuleScope here(*this);
  check(x.rank() == 3 && x.dim(2) == token_width_,
        "positional encoding: x must have shape [B, T, {}], has {}", token_width_, x.shape());
  const int64_t length = x.dim(1);
  const Tensor zeros = Tensor::zeros({x.dim(0), length, width_});
  const Tensor parts[] = {
      x, at ? Positions::operator()(zeros, 0, at) : zeros + rows(first, first + length)};
  return concat(parts, -1);
}

std::unique_ptr<Positions> make_positions(int64_t dim, const PositionalOptions& o, double std,
                                          std::span<const int64_t> grid) {
  return std::make_unique<PositionalEncoding>(dim, o, std, grid);
}

}  // namespace heed::inline HEED_REAL
