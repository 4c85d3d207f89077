#include "lab/inspect/inspected.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "apps/inference/attention_map.h"
#include "apps/inference/evaluation.h"
#include "core/inference_scope.h"
#include "core/ops.h"
#include "core/text.h"
#include "nn/forms/attention.h"
#include "nn/forms/mixings.h"

namespace heed {

Inspected::Inspected(const Model& model_, const ModelOptions& options_, const Corpus& corpus_,
                     const Dataset& examples, int64_t batch_size)
    : model(model_), options(options_), corpus(corpus_), names(model_.part_names()) {
  check_input(!corpus.format.two_sources,
              "inspect: this model reads two sources; see heed attend for its attention");
  Batches cut = Batches::in_order(examples, corpus.framing, batch_size);
  batches.resize(static_cast<size_t>(cut.count()));
  for (int64_t i = 0; i < cut.count(); ++i) cut.get(i, batches[static_cast<size_t>(i)]);
  Batches::in_order(examples, corpus.framing, 1).get(0, one);
  for (const NamedParameter& p : model.parameters()) parameters[p.name] = p.tensor;
}

const std::string& Inspected::name(const Module& layer) const {
  static const std::string none;
  const auto found = names.find(&layer);
  return found == names.end() ? none : found->second;
}

const Ids& Inspected::lengths(const Batch& batch, const std::string& layer) const {
  const bool is_source = options.kind == ModelKind::seq2seq &&
                         (layer.starts_with("encoder") || layer.starts_with("source_embedding"));
  return is_source ? batch.source_lengths : batch.input_lengths;
}

void Inspected::check_names(const char* view, bool reads_positions) const {
  check_input(
      !corpus.format.numbers,
      "{}: this model predicts numbers, and the view is about logits of tokens or labels; see "
      "heads and ablate",
      view);
  check_input(
      reads_positions || !corpus.format.at_positions || options.kind != ModelKind::classifier,
      "{}: this classifier has a label at every position, and the view is about one for the "
      "whole; see heads, ablate and lens",
      view);
}

std::string Inspected::token(int64_t id) const {
  if (!corpus.labels.empty()) return corpus.labels[static_cast<size_t>(id)];
  return corpus.target ? token_label(*corpus.target, static_cast<int32_t>(id))
                       : fmt::format("{}", id);
}

void ExampleLosses::add(const Tensor& logits, const Batch& batch) {
  const Ids& target = batch.target;
  const int64_t rows = target.dim(0), time = target.size() / std::max<int64_t>(1, rows);
  const int64_t vocabulary = logits.dim(-1);
  const Tensor each = batch_loss(logits, batch, Reduction::none);
  for (int64_t b = 0; b < rows; ++b) {
    double sum = 0, count = 0, hits = 0;
    for (int64_t i = b * time; i < (b + 1) * time; ++i) {
      if (target[i] == ignored) continue;
      const real* const row = logits.data() + i * vocabulary;
      sum += each.data()[i];
      auto& [position_loss, position_targets] = by_position[i - b * time];
      position_loss += each.data()[i];
      ++position_targets;
      hits += std::max_element(row, row + vocabulary) - row == target[i];
      ++count;
    }
    loss.push_back(sum);
    targets.push_back(count);
    correct.push_back(batch.numbers ? NAN : hits);
  }
}

static double ratio(const std::vector<double>& part, const std::vector<double>& whole) {
  double sum = 0, count = 0;
  for (const double each : part) sum += each;
  for (const double each : whole) count += each;
  return sum / std::max(1.0, count);
}

double ExampleLosses::mean_loss() const { return ratio(loss, targets); }
double ExampleLosses::accuracy() const { return ratio(correct, targets); }

Json ExampleLosses::position_losses() const {
  return Json::list(by_position, [](const auto& each) {
    const auto& [loss_there, count] = each.second;
    return Json::array({each.first, loss_there / static_cast<double>(count)});
  });
}

ExampleLosses losses_of(const Inspected& inspected) {
  const InferenceScope here;
  ExampleLosses losses;
  for (const Batch& batch : inspected.batches) losses.add(inspected.model.logits(batch), batch);
  return losses;
}

ChosenExample find_example(const Inspected& inspected, int64_t example) {
  int64_t row = example;
  for (const Batch& batch : inspected.batches) {
    if (row < batch.target.dim(0)) return {&batch, row};
    row -= batch.target.dim(0);
  }
  throw InputError(
      fmt::format("--example {}: there are {} examples, counted from 0", example, example - row));
}

int64_t last_target(const Batch& batch, int64_t row) {
  const int64_t time = batch.target.size() / batch.target.dim(0);
  int64_t at = -1;
  for (int64_t i = row * time; i < (row + 1) * time; ++i)
    if (batch.target[i] != ignored) at = i;
  return at;
}

std::string predicting_stack(const ModelOptions& options) {
  return options.kind == ModelKind::classifier ? "encoder" : "decoder";
}

std::string why_no_sum(const ModelOptions& o) {
  if (!o.mixing.residual)
    return "this model has model.block.residual = false; each sublayer replaces its stream and "
           "adds nothing to it";
  if (o.width() != o.dim)
    return "this model has model.attention.output_dim; a matrix changes the width of its stream";
  if (o.mixing.kind == &mixings::graph_attention && o.mixing.global > 0)
    return "this model has model.block.global; its head also reads a vector of the graph, which is "
           "not in the stream";
  if (o.norm_first || o.norm.kind == NormKind::none) return "";
  return "this model has model.norm_first = false; its stream is normalised after every sublayer "
         "and is not the sum of what they write";
}

Tensor logits_after(const Inspected& inspected, const Tensor& stream, const Batch& batch) {
  return inspected.model.head()(inspected.model.head_input(stream, batch.input_lengths));
}

std::string tokens_text(const PredictedTokens& tokens, double PredictedToken::*number,
                        size_t width) {
  std::string text;
  for (const PredictedToken& each : tokens) {
    const std::string value = fmt::format(" {:.2f}", each.*number);
    const std::string name = escaped(each.token), whole = name + value;
    const size_t length = character_count(whole);
    if (text.empty())
      text = length <= width ? whole : shortened(name, width - value.size() - 1) + value;
    else if (character_count(text) + 2 + length <= width)
      text += "  " + whole;
    else
      break;
  }
  return text;
}

int64_t layer_index(const std::string& name) {
  const size_t at = name.find("layers.");
  int64_t index = -1;
  if (at != std::string::npos)
    std::from_chars(name.data() + at + 7, name.data() + name.size(), index);
  return index;
}

std::vector<Sublayer> sublayers_of(const Inspected& inspected) {
  const InferenceScope here;
  const MultiHeadAttentionOptions& form = inspected.options.attention;
  std::vector<Sublayer> found;
  std::set<std::string> with_heads, sums;
  const NamedTap tap(
      inspected,
      [](const std::string&, Site s) {
        return s == Site::heads || s == Site::head_outputs || s == Site::sublayer;
      },
      [&](const std::string& name, Site site, const Tensor& value) {
        if (site == Site::heads) with_heads.insert(name);
        if (site == Site::head_outputs && value.dim(0) == 1) sums.insert(name);
        if (site == Site::sublayer) {
          Sublayer sublayer;
          sublayer.norm = name;
          sublayer.name = name.substr(0, name.size() - std::string("_norm").size());
          sublayer.layer = name.substr(0, name.rfind('.'));
          sublayer.index = layer_index(name);
          found.push_back(sublayer);
        }
        return Tensor();
      });
  inspected.model.logits(inspected.one);
  for (Sublayer& sublayer : found) {
    if (!with_heads.contains(sublayer.name)) continue;
    const ModelOptions& o = inspected.options;
    const bool is_first = sublayer.index == 0 && !is_cross(sublayer.name);
    const HeadWidths widths = head_widths(form, is_first ? o.dim : o.width(), o.heads);
    sublayer.heads = inspected.options.heads;
    const bool of_stream = form.projection_hidden == 0 && form.output_dim == 0;
    sublayer.width = widths.equal() && of_stream ? widths.value[0] : 0;
    sublayer.columns = {0};
    for (const int64_t width : widths.value)
      sublayer.columns.push_back(sublayer.columns.back() + width);
    sublayer.is_sum_of_heads = sums.contains(sublayer.name) && form.activation == Activation::none;
  }
  return found;
}

}  // namespace heed
