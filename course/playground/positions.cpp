#include "course/playground/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/inference/attention_map.h"
#include "core/scope.h"
#include "nn/forms/score_bias.h"

namespace heed {
namespace {

constexpr int64_t max_biased = 24;  // positions in a picture of a bias

// A picture of the values (rows, columns) that start at `values`.
Json picture(std::string name, const std::vector<std::string>& rows, int64_t columns,
             const real* values) {
  Json numbers = Json::array();
  for (int64_t i = 0; i < std::ssize(rows) * columns; ++i)
    numbers.push(std::round(double{values[i]} * 1e6) / 1e6);  // for shorter text
  return Json::object()
      .set("name", std::move(name))
      .set("rows", int64_t{std::ssize(rows)})
      .set("columns", columns)
      .set("row_names", rows)
      .set("values", std::move(numbers));
}

std::vector<std::string> numbered_labels(int64_t count) { return position_labels(count, {}); }

// The parts of a model that are a Part, by their names. A cast finds them, because a module knows
// its parts only as modules.
template <class Part>
std::map<std::string, const Part*> parts_of(const Model& model) {
  std::map<std::string, const Part*> parts;
  for (const auto& [module, name] : model.part_names())
    if (const auto* part = dynamic_cast<const Part*>(module)) parts[name] = part;
  return parts;
}

// What is added to, or concatenated with, a token of zeros.
void add_vectors(const Experiment& experiment, const Corpus& corpus, const Model& model,
                 Json& pictures) {
  const ModelOptions& options = experiment.model;
  for (const auto& [name, part] : parts_of<Positions>(model)) {
    const bool is_source = name.starts_with("source");
    const int64_t dim = is_source ? options.encoder_stack().dim : options.dim;
    const int64_t length =
        is_source
            ? corpus.longest_source
            : std::max(corpus.longest_input, options.share_embeddings ? corpus.longest_source : 0);
    const int64_t width = token_width(dim, options.positional);
    const Tensor all = (*part)(Tensor::zeros({1, length, width}));
    const int64_t first = dim - (width == dim ? dim : options.positional.dim);
    const Tensor shown = slice(all, -1, first, dim);
    pictures.push(picture(name, position_labels(length, corpus.grid), shown.dim(-1), shown.data()));
  }
}

// The positions that attend to each other: on a grid, those along the attended axis.
int64_t attended_positions(const Experiment& experiment, const Corpus& corpus) {
  const std::vector<int64_t>& axes = experiment.model.attention.axes;
  if (!corpus.grid.empty() && axes.size() == 1) return corpus.grid[static_cast<size_t>(axes[0])];
  return std::max(corpus.longest_source, corpus.longest_input);
}

// Each pair of columns of a query starts at angle 0, where its cosine is 1 and its sine 0.
Json rotation(const Experiment& experiment, int64_t positions) {
  const ModelOptions& options = experiment.model;
  const int64_t width = head_widths(options.attention, options.dim, options.heads).key[0];
  const bool interleaved = options.positional.layout == RotaryLayout::interleaved;
  Tensor query = Tensor::zeros({1, positions, width});
  real* const values = query.mutable_data();
  for (int64_t i = 0; i < query.size(); ++i) {
    const int64_t column = i % width;
    values[i] = (interleaved ? column % 2 == 0 : column < width / 2) ? 1 : 0;
  }
  const Tensor rotated = options.positional.kind->rotate(query, 1, 0, options.positional);
  return picture("rotation of queries and keys", numbered_labels(positions), width, rotated.data());
}

void add_biases(const Model& model, int64_t positions, Json& pictures) {
  const int64_t shown = std::min(positions, max_biased);
  for (const auto& [name, part] : parts_of<ScoreBias>(model)) {
    const Tensor bias = (*part)(shown, shown);
    for (int64_t head = 0; head < bias.dim(0); ++head)
      pictures.push(picture(fmt::format("{}, head {}", name, head), numbered_labels(shown), shown,
                            bias.data() + head * shown * shown));
    if (part->parameters().empty()) return;  // the same in every layer
  }
}

}  // namespace

Json position_pictures(const Experiment& experiment, const Corpus& corpus, const Model& model) {
  ScopeGuard here;
  here->training = here->gradients = false;
  const PositionalRule& rule = *experiment.model.positional.kind;
  Json pictures = Json::array();
  if (rule.is_vector()) add_vectors(experiment, corpus, model, pictures);
  const int64_t positions = attended_positions(experiment, corpus);
  if (rule.rotate) pictures.push(rotation(experiment, positions));
  if (rule.score_bias) add_biases(model, positions, pictures);
  return pictures;
}

}  // namespace heed
