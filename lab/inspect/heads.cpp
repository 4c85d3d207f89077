#include "lab/inspect/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/inference/evaluation.h"
#include "core/inference_scope.h"
#include "core/joined.h"
#include "core/ops.h"
#include "core/random.h"
#include "lab/inspect/eigenvalues.h"
#include "lab/inspect/induction.h"

namespace heed {
namespace {

// Sums over the queries of one head.
struct HeadSums {
  double weight = 0, queries = 0;
  double previous = 0, duplicate = 0, induction = 0, entropy = 0, distance = 0, first = 0;
};

// The tokens at the positions of a self-attention, or none.
const Ids& tokens_of(const Inspected& inspected, const Batch& batch, const std::string& layer) {
  const bool reads_source =
      inspected.options.kind == ModelKind::seq2seq && layer.starts_with("encoder");
  return reads_source ? batch.source : batch.input;
}

void add_row(HeadSums& sums, const real* a, int64_t q, int64_t keys, const int32_t* tokens) {
  double total = 0;
  for (int64_t k = 0; k < keys; ++k) {
    const double weight = a[k];
    total += weight;
    if (weight > 0) sums.entropy -= weight * std::log(weight);
    sums.distance += weight * std::abs(static_cast<double>(q - k));
    if (k == q - 1) sums.previous += weight;
    if (!tokens) continue;
    if (k < q && tokens[k] == tokens[q]) sums.duplicate += weight;
    if (k >= 1 && k <= q && tokens[k - 1] == tokens[q]) sums.induction += weight;
  }
  sums.weight += total;
  sums.first += a[0];
  ++sums.queries;
}

struct LayerSums {
  std::vector<HeadSums> heads;
  bool has_lengths = true;  // its queries are the positions of an example
  bool has_positions = true, has_tokens = true;
  bool has_order = true;  // its positions are not those of a set or graph
};

// Returns whether the order of positions changes what a self-attention computes.
bool has_order(const ModelOptions& o, const std::string& layer) {
  return o.positional.kind != &positional_encodings::none || layer.starts_with("decoder") ||
         o.attention.causal || o.attention.window > 0;
}

// The loss at nine tenths of an example minus that at one tenth.
struct InContext {
  double sum = 0, count = 0;

  void add(const Tensor& logits, const Batch& batch) {
    const Tensor losses = batch_loss(logits, batch, Reduction::none);
    for (int64_t b = 0; b < batch.target.dim(0); ++b) {
      const int64_t at = b * batch.target.dim(1), length = batch.input_lengths[b];
      const int64_t early = at + length / 10, late = at + 9 * length / 10;
      if (batch.target[early] == ignored || batch.target[late] == ignored) continue;
      sum += static_cast<double>(losses.data()[late]) - static_cast<double>(losses.data()[early]);
      ++count;
    }
  }
};

// Adds the weights p (B, H, Tq, Tk) of a layer. Attention along axes of a grid has more rows than
// examples.
void add_weights(LayerSums& layer, const Tensor& p, const Ids& lengths, const Ids& tokens) {
  const int64_t rows = p.dim(0), heads = p.dim(1), queries = p.dim(2), keys = p.dim(3);
  layer.heads.resize(static_cast<size_t>(heads));
  for (int64_t b = 0; b < rows; ++b) {
    const int64_t last = layer.has_lengths ? std::min<int64_t>(queries, lengths[b]) : queries;
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t q = 0; q < last; ++q)
        add_row(layer.heads[static_cast<size_t>(h)],
                p.data() + ((b * heads + h) * queries + q) * keys, q, keys,
                layer.has_tokens ? tokens.data() + b * tokens.dim(1) : nullptr);
  }
}

bool sees_weights(const std::string&, Site site) { return site == Site::weights; }

// What all batches show: the sums of every layer, in the order of computation. The weights of one
// layer are in memory at a time.
std::vector<std::pair<std::string, LayerSums>> sums_of(const Inspected& inspected,
                                                       InContext& in_context) {
  std::vector<std::pair<std::string, LayerSums>> layers;
  std::map<std::string, size_t> index;
  for (const Batch& batch : inspected.batches) {
    const NamedTap tap(
        inspected, sees_weights, [&](const std::string& name, Site, const Tensor& p) {
          const auto [at, is_new] = index.emplace(name, layers.size());
          if (is_new) layers.push_back({name, {}});
          LayerSums& layer = layers[at->second].second;
          layer.has_lengths = !name.starts_with("pool") &&
                              inspected.options.attention.axes.empty() &&
                              (is_cross(name) || p.dim(2) == p.dim(3));
          layer.has_positions = layer.has_lengths && !is_cross(name);
          layer.has_order = layer.has_positions && has_order(inspected.options, name);
          const Ids& tokens = tokens_of(inspected, batch, name);
          layer.has_tokens = layer.has_positions && static_cast<bool>(tokens);
          add_weights(layer, p, inspected.lengths(batch, name), tokens);
          return Tensor();
        });
    const Tensor logits = inspected.model.logits(batch);
    if (inspected.options.kind == ModelKind::language_model) in_context.add(logits, batch);
  }
  return layers;
}

std::optional<double> ratio(double part, double whole, bool has) {
  return has && whole > 0 ? std::optional(part / whole) : std::nullopt;
}

// Σ λ / Σ |λ| of U W_O W_V E, whose eigenvalues other than 0 are those of W_V Eᵀ U W_O.
std::optional<double> copying(const Inspected& inspected, const Sublayer& s, int64_t head) {
  const ModelOptions& options = inspected.options;
  const bool is_only_sublayer = options.kind == ModelKind::language_model && options.layers == 1 &&
                                !options.mixing.feed_forward;
  if (options.kind == ModelKind::classifier || !s.name.starts_with("decoder") || is_cross(s.name) ||
      s.width == 0 || (!options.mixing.residual && !is_only_sublayer))
    return {};
  const std::map<std::string, Tensor>& parameters = inspected.parameters;
  const auto e = parameters.find("embedding.token.weight"),
             w = parameters.find(s.name + ".value.weight"),
             o = parameters.find(s.name + ".output.weight");
  const Tensor& u = inspected.model.head().weight;
  if (e == parameters.end() || w == parameters.end() || o == parameters.end() ||
      !s.is_sum_of_heads || e->second.shape() != u.shape())
    return {};
  const int64_t first = head * s.width, last = first + s.width;
  const Tensor values = slice(w->second, 0, first, last);   // (K, D)
  const Tensor outputs = slice(o->second, 1, first, last);  // (D, K)
  const Tensor m = matmul(matmul(values, transpose(e->second, 0, 1)), matmul(u, outputs));
  double sum = 0, size = 0;
  for (const auto& value :
       eigenvalues({m.values().begin(), m.values().end()}, static_cast<int>(s.width))) {
    sum += value.real();
    size += std::abs(value);
  }
  return ratio(sum, size, true);
}

// A matrix L R of low rank: L (D, K), R (K, D), and LᵀL and R Rᵀ (K, K).
struct Factors {
  Tensor left, right, left_squares, right_squares;
  Factors(Tensor l, Tensor r)
      : left(std::move(l)),
        right(std::move(r)),
        left_squares(matmul(transpose(left, 0, 1), left)),
        right_squares(matmul(right, transpose(right, 0, 1))) {}
};

// The root of Σ a ∘ b
double root_of_products(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a.data()[i]) * b.data()[i];
  return std::sqrt(std::max(0.0, sum));
}

// ‖B A‖ / (‖A‖ ‖B‖), in the Frobenius norm, without matrices (D, D): with M = R_B L_A,
// ‖B A‖² = Σ (L_BᵀL_B M) ∘ (M R_A R_Aᵀ), and ‖A‖² = Σ (L_AᵀL_A) ∘ (R_A R_Aᵀ).
double composed(const Factors& b, const Factors& a) {
  const double size = root_of_products(a.left_squares, a.right_squares) *
                      root_of_products(b.left_squares, b.right_squares);
  const Tensor m = matmul(b.right, a.left);
  const double product = root_of_products(matmul(b.left_squares, m), matmul(m, a.right_squares));
  return size > 0 ? product / size : 0;
}

// The mean of composed() for random matrices b of rank `reads` and a of rank `writes`, (D, D).
double random_composition(int64_t dim, int64_t reads, int64_t writes) {
  constexpr int draws = 16;
  Random random(0, Purpose::task, 1);
  const auto draw = [&](const Shape& shape) {
    Tensor x = Tensor::empty(shape);
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<real>(random.normal());
    return x;
  };
  double sum = 0;
  for (int i = 0; i < draws; ++i) {
    const Factors b{draw({dim, reads}), draw({reads, dim})};
    sum += composed(b, {draw({dim, writes}), draw({writes, dim})});
  }
  return sum / draws;
}

// The matrices of one head, from its W_Q, W_K, W_V (K, D) and W_O (D, K).
struct HeadMatrices {
  std::string stack;
  int64_t layer = 0, head = 0;
  const Sublayer* sublayer;
  Factors reads_query, reads_key, copies;  // (W_Qᵀ W_K)ᵀ, W_Qᵀ W_K, W_O W_V
};

std::vector<HeadMatrices> matrices_of(const Inspected& inspected,
                                      const std::vector<Sublayer>& sublayers) {
  std::vector<HeadMatrices> heads;
  for (const Sublayer& s : sublayers) {
    if (!s.is_sum_of_heads || is_cross(s.name) || s.width == 0) continue;
    const auto find = [&](const char* name) {
      const auto found = inspected.parameters.find(s.name + name);
      return found == inspected.parameters.end() ? Tensor() : found->second;
    };
    const Tensor query = find(".query.weight"), key = find(".key.weight"),
                 value = find(".value.weight"), output = find(".output.weight");
    if (!query || !key || !value || !output) continue;
    for (int64_t h = 0; h < s.heads; ++h) {
      const auto of_head = [&](const Tensor& w, int axis) {
        const int64_t width = w.dim(axis) / s.heads;
        return slice(w, axis, h * width, (h + 1) * width);
      };
      const Tensor q = of_head(query, 0), k = of_head(key, 0);
      heads.push_back({s.name.substr(0, s.name.find('.')),
                       s.index,
                       h,
                       &s,
                       {transpose(k, 0, 1), q},
                       {transpose(q, 0, 1), k},
                       {of_head(output, 1), of_head(value, 0)}});
    }
  }
  return heads;
}

// Composition of every pair of heads of two layers.
std::vector<HeadScores::Pair> compositions(const Inspected& inspected,
                                           const std::vector<Sublayer>& sublayers) {
  const std::vector<HeadMatrices> heads = matrices_of(inspected, sublayers);
  std::vector<HeadScores::Pair> pairs;
  if (heads.empty()) return pairs;
  const int64_t dim = heads[0].copies.left.dim(0), keys = heads[0].reads_key.left.dim(1),
                values = heads[0].copies.left.dim(1);
  const double random_keys = random_composition(dim, keys, values),
               random_values =
                   keys == values ? random_keys : random_composition(dim, values, values);
  for (const HeadMatrices& b : heads)
    for (const HeadMatrices& a : heads) {
      if (a.stack != b.stack || a.layer >= b.layer) continue;
      if (!inspected.options.mixing.residual && a.sublayer + 1 != b.sublayer) continue;
      pairs.push_back({a.stack, a.layer, a.head, b.layer, b.head,
                       composed(b.reads_query, a.copies) - random_keys,
                       composed(b.reads_key, a.copies) - random_keys,
                       composed(b.copies, a.copies) - random_values});
    }
  return pairs;
}

}  // namespace

HeadScores head_scores(const Inspected& inspected, bool composition) {
  const InferenceScope here;
  const std::vector<Sublayer> sublayers = sublayers_of(inspected);
  const Induction induction = induction_of(inspected);
  InContext in_context;
  HeadScores scores;
  for (const auto& [name, layer] : sums_of(inspected, in_context)) {
    const auto sublayer = std::find_if(sublayers.begin(), sublayers.end(),
                                       [&, n = name](const Sublayer& s) { return s.name == n; });
    const auto matching = induction.matching.find(name);
    for (size_t h = 0; h < layer.heads.size(); ++h) {
      const HeadSums& sums = layer.heads[h];
      const auto index = static_cast<int64_t>(h);
      HeadScores::Head& head = scores.heads.emplace_back();
      if (const int64_t layer_of = layer_index(name); layer_of >= 0) head.layer = layer_of;
      head.index = index;
      head.module = name;
      head.previous = ratio(sums.previous, sums.weight, layer.has_order);
      head.duplicate = ratio(sums.duplicate, sums.weight, layer.has_tokens);
      head.induction = ratio(sums.induction, sums.weight, layer.has_order && layer.has_tokens);
      if (matching != induction.matching.end()) {
        head.by_period = matching->second[h];
        head.prefix_matching = std::ranges::min(matching->second[h]);
      }
      if (sublayer != sublayers.end()) head.copying = copying(inspected, *sublayer, index);
      head.entropy = ratio(sums.entropy, sums.queries, true);
      head.distance = ratio(sums.distance, sums.queries, layer.has_order);
      head.first = ratio(sums.first, sums.queries, true);
    }
  }
  check_input(!scores.heads.empty(), "heads: this model has no attention layers");
  if (composition) scores.composition = compositions(inspected, sublayers);
  if (inspected.options.kind == ModelKind::language_model) scores.periods = induction.periods;
  if (!induction.losses.empty()) {
    scores.induction_loss = *std::ranges::max_element(induction.losses);
    scores.induction_loss_by_period = induction.losses;
  }
  scores.in_context_score = ratio(in_context.sum, in_context.count, true);
  return scores;
}

std::string HeadScores::Head::name() const { return fmt::format("{}.head.{}", module, index); }

Json HeadScores::json() const {
  const auto head_json = [](const Head& head) {
    Json row =
        Json::object().set("layer", head.layer).set("head", head.index).set("module", head.module);
    head.visit([&](const std::string& name, const std::optional<double>& value) {
      row.set(name, value);
      if (name == "prefix_matching") row.set("prefix_matching_by_period", head.by_period);
    });
    return row;
  };
  const auto pair_json = [](const Pair& pair) {
    return Json::object()
        .set("stack", pair.stack)
        .set("from", Json::array({pair.from_layer, pair.from_head}))
        .set("to", Json::array({pair.to_layer, pair.to_head}))
        .set("q", pair.q)
        .set("k", pair.k)
        .set("v", pair.v);
  };
  Json all = Json::object().set("heads", Json::list(heads, head_json));
  if (composition) all.set("composition", Json::list(*composition, pair_json));
  if (periods) all.set("periods", *periods);
  return all.set("induction_loss", induction_loss)
      .set("induction_loss_by_period", induction_loss_by_period)
      .set("in_context_score", in_context_score);
}

// Says with which periods the random tokens are repeated.
static std::string periods_note(const std::vector<int64_t>& periods) {
  if (periods.empty()) return "Repeated random tokens: the examples have no room for them";
  return fmt::format("Repeated random tokens: {} {}{}", periods.size() > 1 ? "periods" : "period",
                     joined(periods),
                     periods.size() < 3 ? "; the examples have no room for three" : "");
}

Table HeadScores::table() const {
  std::vector<Head> sorted = heads;
  std::ranges::stable_sort(sorted, std::greater(), [](const Head& head) {
    return std::max({0.0, head.previous.value_or(0), head.duplicate.value_or(0),
                     head.induction.value_or(0), head.prefix_matching.value_or(0)});
  });
  Table table;
  table.rows.push_back(
      {"head", "prev", "dup", "induct", "prefix", "copy", "entropy", "dist", "first"});
  for (const Head& head : sorted) {
    Table::Row row{fmt::format("{}.{}", head.module, head.index)};
    head.visit([&](const char*, const std::optional<double>& value) {
      row.push_back(value ? fmt::format("{:.3f}", *value) : "");
    });
    table.rows.push_back(std::move(row));
  }
  if (periods) table.notes.push_back(periods_note(*periods));
  if (induction_loss)
    table.notes.push_back(fmt::format("Loss on repeated random tokens: {:.4f}", *induction_loss));
  if (in_context_score)
    table.notes.push_back(fmt::format("In-context score: {:.4f}", *in_context_score));
  return table;
}

}  // namespace heed
