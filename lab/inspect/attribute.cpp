#include "lab/inspect/attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/inference/evaluation.h"
#include "core/inference_scope.h"

namespace heed {
namespace {

// The final norm and the difference of two rows of the head: maps vectors of the stream at one
// position to a part of the logit difference.
class Readout {
 public:
  Readout(const Inspected& inspected, const std::string& norm, int64_t token, int64_t other)
      : is_layer_(inspected.options.norm.kind == NormKind::layer),
        has_norm_(inspected.options.has_final_norm()) {
    const Linear& head = inspected.model.head();
    const int64_t width = head.weight.dim(1);
    for (int64_t i = 0; i < width; ++i)
      u_.push_back(static_cast<double>(head.weight.data()[token * width + i]) -
                   static_cast<double>(head.weight.data()[other * width + i]));
    if (head.bias)
      constant_ = static_cast<double>(head.bias.data()[token]) -
                  static_cast<double>(head.bias.data()[other]);
    if (!has_norm_) return;
    gamma_ = inspected.parameters.at(norm + ".weight");
    const auto bias = inspected.parameters.find(norm + ".bias");
    if (bias == inspected.parameters.end()) return;
    for (int64_t i = 0; i < width; ++i)
      constant_ += bias->second.data()[i] * u_[static_cast<size_t>(i)];
  }

  // Sets s, of the whole stream at a position.
  void set_scale(double s) { scale_ = s; }
  double operator()(const std::vector<double>& c) const {
    const double mean = mean_of(c);
    double sum = 0;
    for (size_t i = 0; i < c.size(); ++i)
      sum += (has_norm_ ? (c[i] - mean) * gamma_.data()[i] / scale_ : c[i]) * u_[i];
    return sum;
  }
  double constant() const { return constant_; }  // β · (U_t - U_u) + b_t - b_u

 private:
  double mean_of(const std::vector<double>& x) const {
    if (!has_norm_ || !is_layer_) return 0;
    double sum = 0;
    for (const double value : x) sum += value;
    return sum / static_cast<double>(x.size());
  }

  bool is_layer_, has_norm_;
  double scale_ = 1, constant_ = 0;
  Tensor gamma_;
  std::vector<double> u_;
};

std::vector<double> vector_at(const Tensor& x, int64_t row, int64_t position) {
  const int64_t width = x.dim(-1);
  const real* const from = x.data() + (row * x.dim(-2) + position) * width;
  return {from, from + width};
}

std::vector<double> difference(std::vector<double> a, const std::vector<double>& b) {
  for (size_t i = 0; i < b.size(); ++i) a[i] -= b[i];
  return a;
}

// The positions that the head reads, and their weights.
std::vector<std::pair<int64_t, double>> positions_read(const Inspected& inspected,
                                                       const Batch& batch, int64_t row) {
  if (inspected.options.kind != ModelKind::classifier) {
    const int64_t last = last_target(batch, row);
    check_input(last >= 0, "attribute: this example has no target");
    return {{last % batch.target.dim(1), 1.0}};
  }
  const int64_t length = inspected.options.pool == Pool::first ? 1 : batch.input_lengths[row];
  std::vector<std::pair<int64_t, double>> all;
  for (int64_t t = 0; t < length; ++t) all.emplace_back(t, 1 / static_cast<double>(length));
  return all;
}

}  // namespace

Attribution attribute(const Inspected& inspected, int64_t example, std::optional<int64_t> token,
                      std::optional<int64_t> other) {
  const InferenceScope here;
  const ModelOptions& o = inspected.options;
  inspected.check_names("attribute");
  const std::string no_sum = why_no_sum(o);
  check_input(no_sum.empty(), "attribute: {}", no_sum);
  check_input(o.kind != ModelKind::classifier || !has_queries(o.pool),
              "attribute: learned queries (model.pool) read the stream by attention, which is not "
              "linear");
  const auto [batch, row] = find_example(inspected, example);
  std::vector<Sublayer> sublayers = sublayers_of(inspected);
  const std::string stack = predicting_stack(o);
  std::erase_if(sublayers, [&](const Sublayer& s) { return !s.name.starts_with(stack); });
  check_input(!sublayers.empty(), "attribute: this model has no layers");

  std::map<std::pair<std::string, Site>, Tensor> seen;  // the last one: the decoder's embedding
  Tensor logits;
  {
    const NamedTap tap(
        inspected,
        [&](const std::string& layer, Site site) {
          return site == Site::tokens || site == Site::embedded ||
                 (site == Site::scale && layer == stack + ".norm") ||
                 ((site == Site::head_outputs || site == Site::sublayer) &&
                  layer.starts_with(stack));
        },
        [&](const std::string& layer, Site site, const Tensor& value) {
          seen[{layer, site}] = value;
          return Tensor();
        });
    logits = inspected.model.logits(*batch);
  }
  const auto positions = positions_read(inspected, *batch, row);
  const int64_t position = positions.front().first, classes = logits.dim(-1);
  const bool is_classifier = o.kind == ModelKind::classifier;
  const int64_t at = is_classifier ? row : row * batch->target.dim(1) + position;
  const real* const scores = logits.data() + at * classes;
  const int64_t t = token.value_or(batch->target[at]);
  check_input(t >= 0 && t < classes, "--token: there is no token {} of {}", t, classes);
  if (!other) {
    other = t == 0 && classes > 1 ? 1 : 0;
    for (int64_t v = 0; v < classes; ++v)
      if (v != t && scores[v] > scores[*other]) other = v;
  }
  check_input(*other >= 0 && *other < classes, "--against: there is no token {} of {}", *other,
              classes);

  Readout readout(inspected, stack + ".norm", t, *other);
  Attribution result{{},
                     static_cast<double>(scores[t]) - static_cast<double>(scores[*other]),
                     t,
                     *other,
                     inspected.token(t),
                     inspected.token(*other)};
  if (!is_classifier) result.position = position;
  std::map<std::string, size_t> index;
  const auto add = [&](const std::string& part, double value) {
    const auto [found, is_new] = index.emplace(part, result.parts.size());
    if (is_new) result.parts.push_back({part});
    result.parts[found->second].value += value;
  };
  for (const auto& [p, weight] : positions) {
    if (o.has_final_norm())
      readout.set_scale(vector_at(seen.at({stack + ".norm", Site::scale}), row, p)[0]);
    const std::vector<double> embedded = vector_at(seen.at({"embedding", Site::embedded}), row, p);
    std::vector<double> tokens = vector_at(seen.at({"embedding", Site::tokens}), row, p);
    tokens.resize(embedded.size());  // concatenated positions follow the token's columns
    add("embedding", weight * readout(tokens));
    add("positions", weight * readout(difference(embedded, tokens)));
    for (const Sublayer& s : sublayers) {
      std::vector<double> rest = vector_at(seen.at({s.norm, Site::sublayer}), row, p);
      if (!s.is_sum_of_heads) {
        add(s.name, weight * readout(rest));
        continue;
      }
      const Tensor& heads = seen.at({s.name, Site::head_outputs});  // (B, H, T, D)
      for (int64_t h = 0; h < s.heads; ++h) {
        const std::vector<double> y = vector_at(heads, row * s.heads + h, p);
        add(fmt::format("{}.head.{}", s.name, h), weight * readout(y));
        rest = difference(std::move(rest), y);
      }
      add("biases", weight * readout(rest));  // what the output has besides its heads
    }
  }
  add("biases", readout.constant());
  return result;
}

Json Attribution::json() const {
  const auto part_json = [](const Part& part) {
    return Json::object().set("part", part.name).set("value", part.value);
  };
  return Json::object()
      .set("rows", Json::list(parts, part_json))
      .set("difference", difference)
      .set("token", token)
      .set("other", other)
      .set("ids", Json::array({token_id, other_id}))
      .set("position", position);
}

Table Attribution::table() const {
  std::vector<Part> sorted = parts;
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const Part& part) { return std::abs(part.value); });
  Table table;
  table.rows.push_back({"part", "logit"});
  for (const auto& [name, value] : sorted)
    table.rows.push_back({name, fmt::format("{:+.4f}", value)});
  table.rows.push_back({"sum", fmt::format("{:+.4f}", difference)});
  table.notes.push_back(fmt::format("The logit of {} minus that of {}.", token, other));
  return table;
}

}  // namespace heed
