#include "lab/inspect/ablate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/inference/evaluation.h"
#include "core/inference_scope.h"
#include "core/joined.h"
#include "core/ops.h"
#include "lab/experiments/statistics.h"

namespace heed {
namespace {

// Columns [first, last) of what a layer shows at a site, at one position or at all.
struct Cut {
  std::string layer;
  Site site;
  int64_t first, last;    // last = 0: all columns
  int64_t position = -1;  // all
};
using Cuts = std::vector<Cut>;
using Key = std::pair<std::string, Site>;

constexpr int64_t most_positions = 64;

// Every part by its name, in the order of computation.
std::vector<std::pair<std::string, Cuts>> parts_of(const Inspected& inspected) {
  std::vector<std::pair<std::string, Cuts>> heads, sublayers, layers, positions;
  for (const Sublayer& s : sublayers_of(inspected)) {
    const Cut whole{s.norm, Site::sublayer, 0, 0};
    for (int64_t h = 0; h < s.heads; ++h)
      heads.push_back({fmt::format("{}.head.{}", s.name, h),
                       {{s.name, Site::heads, s.columns[static_cast<size_t>(h)],
                         s.columns[static_cast<size_t>(h) + 1]}}});
    sublayers.push_back({s.name, {whole}});
    if (layers.empty() || layers.back().first != s.layer) layers.push_back({s.layer, {}});
    layers.back().second.push_back(whole);
  }
  int64_t longest = 0;
  for (const Batch& batch : inspected.batches) {
    const Ids& lengths =
        inspected.options.kind == ModelKind::seq2seq ? batch.source_lengths : batch.input_lengths;
    for (int64_t b = 0; b < lengths.size(); ++b) longest = std::max<int64_t>(longest, lengths[b]);
  }
  // With one embedding for both sides, an encoder-decoder has no name for the positions of one.
  if (inspected.options.kind == ModelKind::seq2seq && inspected.options.share_embeddings)
    longest = 0;
  const char* const embedding =
      inspected.options.kind == ModelKind::seq2seq ? "source_embedding" : "embedding";
  if (longest <= most_positions)
    for (int64_t t = 0; t < longest; ++t)
      positions.push_back(
          {fmt::format("{}.position.{}", embedding, t), {{embedding, Site::embedded, 0, 0, t}}});
  for (const auto* more : {&sublayers, &layers, &positions})
    heads.insert(heads.end(), more->begin(), more->end());
  return heads;
}

// Where row `row` of `rows` in a value of `examples` examples is: attention along some axes of a
// grid has several rows for one example.
struct RowPlace {
  int64_t example, first;  // the position of its first vector
  RowPlace(int64_t row, int64_t rows, int64_t examples, int64_t time)
      : example(row / (rows / examples)), first(row % (rows / examples) * time) {}
};

// The mean of a value over the examples that have a position.
struct PositionMeans {
  int64_t width = 0;
  std::vector<double> sums, counts;  // (positions, width), (positions)

  void add(const Tensor& value, const Ids& lengths) {
    width = value.dim(2);
    const int64_t rows = value.dim(0), time = value.dim(1);
    for (int64_t row = 0; row < rows; ++row) {
      const RowPlace place(row, rows, lengths.size(), time);
      for (int64_t t = 0; t < time && place.first + t < lengths[place.example]; ++t) {
        const auto p = static_cast<size_t>(place.first + t);
        if (counts.size() <= p) counts.resize(p + 1), sums.resize((p + 1) * width);
        ++counts[p];
        for (int64_t i = 0; i < width; ++i)
          sums[p * width + i] += value.data()[(row * time + t) * width + i];
      }
    }
  }
  real at(int64_t position, int64_t column) const {
    const auto p = static_cast<size_t>(position);
    return p < counts.size() ? static_cast<real>(sums[p * width + column] / counts[p]) : real{0};
  }
};
using Means = std::map<Key, PositionMeans>;

Means means_of(const Inspected& inspected, const Cuts& cuts) {
  Means means;
  for (const Cut& cut : cuts) means[{cut.layer, cut.site}];
  for (const Batch& batch : inspected.batches) {
    const NamedTap tap(
        inspected,
        [&](const std::string& layer, Site site) {
          return means.contains({layer, site});
        },
        [&](const std::string& layer, Site site, const Tensor& value) {
          means[{layer, site}].add(value, inspected.lengths(batch, layer));
          return Tensor();
        });
    inspected.model.logits(batch);
  }
  return means;
}

// Replaces in `value`. `whole` is what the whole model computes there.
Tensor without(const Tensor& value, const Tensor& whole, const Cut& cut, AblateWith with,
               const Means& means, const Ids& lengths) {
  Tensor y = value.clone();
  real* const to = y.mutable_data();
  const int64_t rows = value.dim(0), time = value.dim(1), width = value.dim(2);
  const int64_t per_example = rows / lengths.size(), last = cut.last ? cut.last : width;
  const PositionMeans* const mean =
      with == AblateWith::mean ? &means.at({cut.layer, cut.site}) : nullptr;
  for (int64_t row = 0; row < rows; ++row) {
    const RowPlace place(row, rows, lengths.size(), time);
    const int64_t other = (place.example + 1) % lengths.size();
    for (int64_t t = 0; t < time; ++t) {
      const int64_t position = place.first + t;
      if (cut.position >= 0 && position != cut.position) continue;
      const int64_t there = std::min<int64_t>(position, std::max(0, lengths[other] - 1));
      const real* const from =
          whole.data() + ((other * per_example + there / time) * time + there % time) * width;
      for (int64_t i = cut.first; i < last; ++i)
        to[(row * time + t) * width + i] = mean                       ? mean->at(position, i)
                                           : with == AblateWith::zero ? real{0}
                                                                      : from[i];
    }
  }
  return y;
}

ExampleLosses losses_without(const Inspected& inspected, const Cuts& cuts, AblateWith with,
                             const Means& means) {
  ExampleLosses losses;
  const auto is_cut = [&](const std::string& layer, Site site) {
    return std::any_of(cuts.begin(), cuts.end(),
                       [&](const Cut& cut) { return cut.site == site && cut.layer == layer; });
  };
  for (const Batch& batch : inspected.batches) {
    std::map<Key, Tensor> whole;  // later sites of a set read a stream without the earlier ones
    if (with == AblateWith::resample && cuts.size() > 1) {
      const NamedTap tap(inspected, is_cut,
                         [&](const std::string& layer, Site site, const Tensor& value) {
                           whole[{layer, site}] = value;
                           return Tensor();
                         });
      inspected.model.logits(batch);
    }
    const NamedTap tap(inspected, is_cut,
                       [&](const std::string& layer, Site site, const Tensor& value) {
                         const auto known = whole.find({layer, site});
                         Tensor y = value;
                         for (const Cut& cut : cuts)
                           if (cut.site == site && cut.layer == layer)
                             y = without(y, known == whole.end() ? value : known->second, cut, with,
                                         means, inspected.lengths(batch, layer));
                         return y;
                       });
    losses.add(inspected.model.logits(batch), batch);
  }
  return losses;
}

// The difference of two sums over examples, divided by the number of targets, with its interval.
MeanInterval difference(const std::vector<double>& with, const std::vector<double>& without,
                        const std::vector<double>& targets) {
  double total = 0;
  for (const double n : targets) total += n;
  std::vector<double> each;
  for (size_t i = 0; i < with.size(); ++i)
    each.push_back((without[i] - with[i]) * static_cast<double>(with.size()) /
                   std::max(1.0, total));
  return student_mean(each);
}

}  // namespace

Json interval_json(const MeanInterval& mean) {
  if (!mean.has_interval()) return {};
  return Json::array({mean.interval.low, mean.interval.high});
}

std::vector<std::string> ablation_parts(const Inspected& inspected) {
  std::vector<std::string> names;
  for (const auto& [name, cuts] : parts_of(inspected)) names.push_back(name);
  return names;
}

Ablation ablate(const Inspected& inspected, AblateWith with, const std::vector<std::string>& sets) {
  const InferenceScope here;
  const auto parts = parts_of(inspected);
  std::vector<std::pair<std::string, Cuts>> chosen = sets.empty() ? parts : decltype(parts){};
  for (const std::string& set : sets) {
    Cuts cuts;
    for (size_t first = 0; first <= set.size();) {
      const size_t last = std::min(set.find(',', first), set.size());
      const std::string name = set.substr(first, last - first);
      const auto part = std::find_if(parts.begin(), parts.end(),
                                     [&](const auto& each) { return each.first == name; });
      check_input(part != parts.end(), "--parts: {} is not a part of this model; its parts are {}",
                  name, joined(ablation_parts(inspected)));
      cuts.insert(cuts.end(), part->second.begin(), part->second.end());
      first = last + 1;
    }
    chosen.emplace_back(set, std::move(cuts));
  }
  Cuts all;
  for (const auto& [name, cuts] : chosen) all.insert(all.end(), cuts.begin(), cuts.end());
  const Means means = with == AblateWith::mean ? means_of(inspected, all) : Means();
  const ExampleLosses whole = losses_of(inspected);
  Ablation ablation{whole.mean_loss(), whole.accuracy(), whole.position_losses(), {}};
  for (const auto& [name, cuts] : chosen) {
    const ExampleLosses rest = losses_without(inspected, cuts, with, means);
    ablation.parts.push_back(
        {name, rest.mean_loss(), difference(whole.loss, rest.loss, whole.targets),
         difference(whole.correct, rest.correct, whole.targets), rest.position_losses()});
  }
  return ablation;
}

Json Ablation::json() const {
  const auto part_json = [](const Part& part) {
    return Json::object()
        .set("part", part.name)
        .set("loss", part.loss)
        .set("delta", part.delta.mean)
        .set("interval", interval_json(part.delta))
        .set("accuracy_delta", part.accuracy_delta.mean)
        .set("accuracy_interval", interval_json(part.accuracy_delta))
        .set("loss_by_position", part.by_position);
  };
  return Json::object()
      .set("baseline", Json::object()
                           .set("loss", loss)
                           .set("accuracy", accuracy)
                           .set("loss_by_position", by_position))
      .set("parts", Json::list(parts, part_json));
}

Table Ablation::table() const {
  std::vector<Part> sorted = parts;
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const Part& part) { return part.delta.mean; });
  Table table;
  table.rows.push_back({"without", "loss", "change", "95 % interval", "accuracy"});
  for (const auto& [name, without, delta, accuracy_delta, positions] : sorted)
    table.rows.push_back(
        {name, fmt::format("{:.4f}", without), fmt::format("{:+.4f}", delta.mean),
         delta.has_interval()
             ? fmt::format("{:+.4f} … {:+.4f}", delta.interval.low, delta.interval.high)
             : "",
         std::isnan(accuracy) ? "" : fmt::format("{:+.4f}", accuracy_delta.mean)});
  table.notes.push_back(
      fmt::format("The whole model: loss {:.4f}{}.", loss,
                  std::isnan(accuracy) ? "" : fmt::format(", accuracy {:.4f}", accuracy)));
  return table;
}

}  // namespace heed
