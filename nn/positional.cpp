#include "nn/positional.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "nn/current_part.h"
#include "nn/init.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr const char* kind_names[] = {"none",   "sinusoidal", "learned", "integer",
                                      "rotary", "alibi",      "relative"};

bool is_vector(PositionalKind kind) {
  return kind == PositionalKind::sinusoidal || kind == PositionalKind::learned ||
         kind == PositionalKind::integer;
}

// φ(t) = t in each column.
Tensor integer_positions(int64_t length, int64_t dim) {
  Tensor table = Tensor::empty({length, dim});
  real* to = table.mutable_data();
  parallel_for(length, chunk_rows(dim), [=](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) std::fill_n(to + t * dim, dim, static_cast<real>(t));
  });
  return table;
}

Tensor computed_positions(int64_t length, int64_t dim, const PositionalOptions& options) {
  return options.kind == PositionalKind::integer ? integer_positions(length, dim)
                                                 : sinusoidal_positions(length, dim, options);
}

// The coordinate of every cell along each axis.
std::vector<Ids> cell_coordinates(std::span<const int64_t> grid) {
  const int64_t cells = Shape(grid).size();
  check(cells > 0, "positional encoding: the grid {} has no cells", Shape(grid));
  std::vector<Ids> all;
  int64_t stride = cells;  // cells from one coordinate to the next
  for (int64_t length : grid) {
    stride /= length;
    Ids along = Ids::empty({cells});
    for (int64_t t = 0; t < cells; ++t) along.data()[t] = static_cast<int32_t>(t / stride % length);
    all.push_back(along);
  }
  return all;
}

void check_shared(int64_t width, size_t axes, const PositionalOptions& options) {
  const char* const key =
      options.combine == PositionalCombine::concat ? "model.positional.dim" : "model.dim";
  const auto parts = static_cast<int64_t>(axes) *
                     (options.kind == PositionalKind::sinusoidal ? 2 : 1);  // a sine and a cosine
  check_input(width % parts == 0,
              "{} = {} must be divisible by {}: {} positions over a grid of {} axes give each axis "
              "as many columns",
              key, width, parts, kind_names[static_cast<int>(options.kind)], axes);
}

}  // namespace

void PositionalOptions::fields(Fields& f) {
  static constexpr const char* layouts[] = {"interleaved", "halves"};
  static constexpr const char* combinations[] = {"add", "concat"};
  f.choice("kind", kind, kind_names, "how a token knows its place");
  f.integer("max_length", max_length, {1, 1 << 20}, "places there are to learn (kind = learned)");
  f.choice("layout", layout, layouts,
           "sine beside its cosine, or all sines first (sinusoidal); likewise the pairs of rotary");
  f.integer("first_k", first_k, {0, 1},
            "the first frequency of sinusoids is base^(-2 first_k / dim); the paper's: 0");
  f.number("base", base, {1, 1e12}, "frequencies of sinusoidal and rotary run from 1 to 1/base");
  f.choice("combine", combine, combinations, "add positions to tokens, or set them beside");
  f.integer("dim", dim, {0, 1 << 16}, "columns of the model for positions (combine = concat)");
  f.integer("buckets", buckets, {4, 1 << 16}, "distances told apart, even (kind = relative)");
  f.integer("max_distance", max_distance, {2, 1 << 20},
            "from here on all distances are one (kind = relative)");
}

void PositionalOptions::validate(int64_t model_dim) const {
  const bool concatenated = combine == PositionalCombine::concat;
  check_input(!concatenated || is_vector(kind),
              "model.positional.combine = \"concat\": there is nothing to set beside a token with "
              "model.positional.kind = \"{}\"; take sinusoidal, learned or integer",
              kind_names[static_cast<int>(kind)]);
  check_input(!concatenated || dim > 0,
              "model.positional.combine = \"concat\" needs a width for positions: set "
              "model.positional.dim");
  check_input(concatenated || dim == 0,
              "model.positional.dim = {} is the width of concatenated positions: set "
              "model.positional.combine = \"concat\", or leave it at 0",
              dim);
  check_input(dim < model_dim,
              "model.positional.dim = {} leaves tokens none of the {} columns of the model", dim,
              model_dim);
  check_input(!concatenated || kind != PositionalKind::sinusoidal || dim % 2 == 0,
              "model.positional.dim = {} must be even: a sine and a cosine for each frequency",
              dim);
  if (kind != PositionalKind::relative) return;
  check_input(buckets % 2 == 0,
              "model.positional.buckets = {} must be even: half of them for each direction",
              buckets);
  check_input(max_distance > buckets / 2,
              "model.positional.max_distance = {} must be more than the {} distances that have "
              "buckets of their own (half of model.positional.buckets)",
              max_distance, buckets / 2);
}

int64_t token_width(int64_t dim, const PositionalOptions& options) {
  return options.combine == PositionalCombine::concat ? dim - options.dim : dim;
}

Tensor sinusoidal_positions(int64_t length, int64_t dim, const PositionalOptions& options) {
  const int64_t sines = (dim + 1) / 2;
  const bool interleaved = options.layout == RotaryLayout::interleaved;
  Tensor table = Tensor::empty({length, dim});
  real* to = table.mutable_data();
  constexpr int64_t cost = 32;  // of a power and a sine, in simple steps
  parallel_for(length, chunk_rows(cost * dim), [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t)
      for (int64_t c = 0; c < dim; ++c) {
        const int64_t k = options.first_k + (interleaved ? c / 2 : c % sines);
        const bool sine = interleaved ? c % 2 == 0 : c < sines;
        const double exponent = static_cast<double>(2 * k) / static_cast<double>(dim);
        const double angle = static_cast<double>(t) * std::pow(options.base, -exponent);
        to[t * dim + c] = static_cast<real>(sine ? std::sin(angle) : std::cos(angle));
      }
  });
  return table;
}

PositionalEncoding::PositionalEncoding(int64_t dim, const PositionalOptions& options, double std,
                                       std::span<const int64_t> grid)
    : options_(options),
      token_width_(token_width(dim, options)),
      width_(options.combine == PositionalCombine::concat ? options.dim : dim),
      grid_(grid.begin(), grid.end()) {
  options.validate(dim);
  if (!is_vector(options.kind)) return;
  if (!grid.empty()) {
    check_shared(width_, grid.size(), options);
    coordinates_ = cell_coordinates(grid);
  }
  if (options.kind != PositionalKind::learned) return;
  if (grid.empty()) learned_.push_back(normal_parameter({options.max_length, width_}, std));
  for (int64_t length : grid)
    learned_.push_back(normal_parameter({length, width_ / static_cast<int64_t>(grid.size())}, std));
  for (size_t a = 0; a < learned_.size(); ++a)
    add(grid.empty() ? "weight" : fmt::format("axis_{}", a), learned_[a]);
}

Tensor PositionalEncoding::of_sequence(int64_t first, int64_t last) const {
  const bool learned = options_.kind == PositionalKind::learned;
  if (!learned && (!table_ || table_.dim(0) < last))
    table_ = computed_positions(std::max<int64_t>(64, 2 * last), width_, options_);
  const Tensor& positions = learned ? learned_[0] : table_;
  check(last <= positions.dim(0),
        "positional encoding: a sequence of {} is longer than the {} positions there are; raise "
        "model.positional.max_length",
        last, positions.dim(0));
  return first == 0 && last == positions.dim(0) ? positions : slice(positions, 0, first, last);
}

Tensor PositionalEncoding::of_grid() const {
  if (table_) return table_;
  const bool learned = options_.kind == PositionalKind::learned;
  const int64_t width = width_ / static_cast<int64_t>(grid_.size());
  std::vector<Tensor> parts;
  for (size_t a = 0; a < grid_.size(); ++a) {
    const Tensor along = learned ? learned_[a] : computed_positions(grid_[a], width, options_);
    parts.push_back(embedding(along, coordinates_[a]));
  }
  const Tensor all = concat(parts, -1);
  if (!learned) table_ = all;
  return all;
}

Tensor PositionalEncoding::operator()(const Tensor& x, int64_t first) const {
  const CurrentPart here(*this);
  if (!is_vector(options_.kind)) return x;
  check(x.rank() == 3 && x.dim(2) == token_width_,
        "positional encoding: x must have shape (batch, time, {}), has {}", token_width_,
        x.shape());
  const int64_t length = x.dim(1);
  check(grid_.empty() || length == coordinates_[0].size(),
        "positional encoding: {} places do not fill the grid {}", length, Shape(grid_));
  const Tensor positions = grid_.empty() ? of_sequence(first, first + length) : of_grid();
  if (options_.combine == PositionalCombine::add) return x + positions;
  const Tensor parts[] = {x, Tensor::zeros({x.dim(0), length, width_}) + positions};
  return concat(parts, -1);
}

}  // namespace heed::inline HEED_REAL
