#include "apps/measure/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "apps/support/machine.h"
#include "apps/support/names.h"
#include "apps/training/trainer.h"
#include "core/joined.h"
#include "core/pool.h"

namespace heed {
namespace {

constexpr std::string_view first_layer = ".layers.0.";

// The stack whose layers have a part, or the part itself.
std::string_view owner_of(const Part& part) {
  return std::string_view(part.name).substr(0, part.name.find(first_layer));
}

// A name of the first layer as that of another; other names stay.
std::string in_layer(std::string name, const std::string& layer) {
  const size_t at = name.find(first_layer);
  return at == name.npos ? name : name.replace(at + first_layer.size() - 2, 1, layer);
}

// The parts of the model with one layer for all that are alike. Nothing is filled, and large blocks
// that nobody writes to are addresses without memory.
std::vector<Part> parts_of_one_layer(ModelOptions model, const ModelSizes& sizes) {
  ScopeGuard here;
  here->shapes_only = true;
  model.layers = std::min<int64_t>(model.layers, 1);
  model.decoder_layers = std::min<int64_t>(model.decoder_layers, 1);
  std::vector<Part> parts;
  try {
    for (const NamedParameter& p : make_model(model, sizes)->parameters()) {
      const std::string part = layer_of(p.name);
      if (parts.empty() || parts.back().name != part) parts.emplace_back().name = part;
      parts.back().lines.push_back({p.name.substr(part.size() + 1), p.tensor.shape(), true});
      parts.back().parameters += p.tensor.size();
    }
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    check_input(false, "the model is too large: {}; lower model.dim or model.feed_forward",
                error.what());
  }
  pool_trim();  // gives the addresses back

  // A head whose weight is tied has no parameter of its own.
  if (parts.back().name != "head") parts.emplace_back().name = "head";
  return parts;
}

// Whether each parameter of a layer trains, those of all its parts in a row.
std::vector<bool> training(std::span<const Part> parts, int64_t layer,
                           const std::vector<std::string>& frozen) {
  std::vector<bool> trains;
  for (const Part& part : parts)
    for (const ParameterLine& line : part.lines)
      trains.push_back(
          !matches_any(in_layer(part.name + "." + line.name, std::to_string(layer)), frozen));
  return trains;
}

// Adds the parts of `count` layers, those of neighbours that are alike as one.
void add_layers(std::span<const Part> first_parts, int64_t count,
                const std::vector<std::string>& frozen, std::vector<Part>& parts) {
  for (int64_t first = 0, last = 0; first < count; first = last) {
    const std::vector<bool> trains = training(first_parts, first, frozen);
    last = frozen.empty() ? count : first + 1;
    while (last < count && training(first_parts, last, frozen) == trains) ++last;
    const std::string layers =
        last - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, last - 1);
    auto next = trains.begin();
    for (Part part : first_parts) {
      part.name = in_layer(part.name, layers);
      part.layers = last - first;
      for (ParameterLine& line : part.lines) line.trains = *next++;
      parts.push_back(std::move(part));
    }
  }
}

std::vector<Part> parts_of(const ModelOptions& model, const ModelSizes& sizes,
                           const std::vector<std::string>& frozen) {
  const std::vector<Part> one_layer = parts_of_one_layer(model, sizes);
  std::vector<Part> parts;
  for (auto part = one_layer.begin(); part != one_layer.end();) {
    const std::string_view owner = owner_of(*part);
    const auto end = std::find_if(part, one_layer.end(),
                                  [&](const Part& other) { return owner_of(other) != owner; });
    const bool decoder_of_two = model.kind == ModelKind::seq2seq && owner == "decoder";
    const int64_t layers =
        decoder_of_two && model.decoder_layers ? model.decoder_layers : model.layers;
    add_layers({part, end}, owner == part->name ? 1 : layers, frozen, parts);
    part = end;
  }
  return parts;
}

Flops head_flops(const Part& head, const ModelOptions& model, const ModelSizes& sizes,
                 double examples, double inputs) {
  const auto dim = static_cast<double>(model.dim);
  const bool trains = head.lines.empty() || head.lines[0].trains;
  if (model.kind != ModelKind::classifier)
    return linear_flops(examples * inputs, dim * static_cast<double>(sizes.vocabulary), trains);
  // One vector an example: the sum of its states by weights, which have no gradient.
  Flops flops = linear_flops(examples * inputs, dim, false);
  return flops += linear_flops(examples, dim * static_cast<double>(sizes.classes), trains);
}

// How many vectors a part reads: as queries, and as keys and values where it is attention.
struct Rows {
  double queries, keys;
};

Rows rows_of(const Part& part, const ModelOptions& model, const StepSizes& step) {
  const auto source = static_cast<double>(step.source), input = static_cast<double>(step.input);
  if (part.name == "pool") return {static_cast<double>(model.pool_queries), input};
  if (part.name.ends_with(".cross_attention")) return {input, source};
  const bool of_source = part.name.starts_with("encoder.") || part.name == "source_embedding";
  const double own = model.kind == ModelKind::seq2seq && of_source ? source : input;
  return {own, own};
}

// Products of matrices; of a graph's attention those over nodes alone, not those over edges.
Flops flops_of(const Part& part, const ModelOptions& model, const ModelSizes& sizes,
               const StepSizes& step) {
  const double examples = static_cast<double>(step.batch) * static_cast<double>(step.micro_batches);
  if (part.name == "head")
    return head_flops(part, model, sizes, examples, static_cast<double>(step.input));
  const Rows rows = rows_of(part, model, step);
  Flops flops;
  if (part.name == "pool" || part.name.ends_with(".attention") ||
      part.name.ends_with(".cross_attention")) {
    const bool of_encoder = model.encoder_dim > 0 && part.name.starts_with("encoder.");
    const HeadWidths heads =
        model.attention.widths(of_encoder ? model.encoder_dim : model.dim, model.heads);
    flops = attention_flops(examples, rows.queries, rows.keys, static_cast<double>(heads.keys()),
                            static_cast<double>(heads.values()));
  }
  const bool is_table = part.name.ends_with("embedding") || part.name.ends_with("_norm");
  for (const ParameterLine& line : part.lines) {
    const bool is_looked_up =
        line.name.starts_with("position.") || line.name.starts_with("distance.");
    const bool is_matrix = line.shape.rank() == 2 && line.name.ends_with("weight") && !is_looked_up;
    if (!is_matrix || (is_table && line.name != "projection.weight")) continue;
    const bool of_keys =
        line.name.find("key.") != line.name.npos || line.name.find("value.") != line.name.npos;
    const double count = examples * (of_keys ? rows.keys : rows.queries);
    // A dense layer over time mixes T vectors of width D, with T × T of its weights.
    const bool over_time = part.name.ends_with(".dense") && line.name == "weight";
    const double size = over_time ? rows.queries * static_cast<double>(model.dim)
                                  : static_cast<double>(line.shape.size());
    flops += linear_flops(count, size, line.trains);
  }
  return flops;
}

}  // namespace

Summary summarize(const Experiment& experiment, const Corpus& corpus) {
  const ModelSizes sizes = model_sizes(experiment, corpus);
  Summary summary;
  summary.step = step_sizes(experiment, corpus);
  summary.parts = parts_of(experiment.model, sizes, experiment.train.freeze);
  for (Part& part : summary.parts) {
    part.flops = flops_of(part, experiment.model, sizes, summary.step);
    const auto layers = static_cast<double>(part.layers);
    check_input(layers * static_cast<double>(part.parameters) < Shape::max_size,
                "the model is too large: {} layers; lower model.layers", part.layers);
    summary.flops += {layers * part.flops.forward, layers * part.flops.backward};
    summary.parameters += part.layers * part.parameters;
    for (const ParameterLine& line : part.lines)
      if (line.trains) summary.trained += part.layers * line.shape.size();
  }
  summary.memory = memory_of(experiment, sizes, summary.step, summary.parameters, summary.trained);
  summary.available = available_memory();
  return summary;
}

namespace {

// 52310 → 52,310
std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<size_t>(i), 1, ',');
  return digits;
}

// 1234567 → 1.235 M
std::string scaled(double number, double base, std::span<const char* const> units) {
  size_t unit = 0;
  for (; unit + 1 < units.size() && number >= base; ++unit) number /= base;
  return fmt::format("{:.4g} {}", number, units[unit]);
}

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return std::isfinite(bytes) ? scaled(bytes, 1024, units) : "unknown";
}

std::string flops_text(double flops) {
  static constexpr const char* units[] = {"FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                          "TFLOP", "PFLOP", "EFLOP"};
  return flops > 0 ? scaled(flops, 1000, units) : "-";
}

std::string shape_text(const Shape& shape) { return joined(shape, " × "); }

std::string parts_table(const Summary& summary) {
  size_t name_width = 0, shape_width = 5;
  for (const Part& part : summary.parts) {
    name_width = std::max(name_width, part.name.size());
    for (const ParameterLine& line : part.lines) {
      name_width = std::max(name_width, line.name.size() + 2);
      shape_width = std::max(shape_width, shape_text(line.shape).size() - 1);  // × has two bytes
    }
  }
  std::string text;
  const auto row = [&](const std::string& name, const std::string& shape, const std::string& count,
                       const std::string& flops, const std::string& last) {
    const std::string line = fmt::format("{:<{}}  {:<{}}  {:>14}  {:>13}  {}", name, name_width,
                                         shape, shape_width, count, flops, last);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  row("", "shape", "parameters", "FLOPs a step", "layers");
  for (const Part& part : summary.parts) {
    row(part.name, part.lines.empty() ? "tied" : "", grouped(part.parameters),
        flops_text(part.flops.total()), part.layers > 1 ? fmt::format("× {}", part.layers) : "");
    for (const ParameterLine& line : part.lines)
      row("  " + line.name, shape_text(line.shape), grouped(line.shape.size()), "",
          line.trains ? "" : "frozen");
  }
  return text;
}

std::string sizes_text(const StepSizes& step) {
  const std::string batch = step.micro_batches > 1
                                ? fmt::format("{} × {}", step.micro_batches, grouped(step.batch))
                                : grouped(step.batch);
  if (step.source == 0) return fmt::format("{} sequences of {}", batch, grouped(step.input));
  return fmt::format("{} pairs of {} and {}", batch, grouped(step.source), grouped(step.input));
}

}  // namespace

std::string table(const Summary& s) {
  const Memory& m = s.memory;
  std::string text = parts_table(s);
  const auto row = [&](const char* name, const std::string& value, const std::string& note = "") {
    text += fmt::format("{:<24}{:>16}{}{}\n", name, value, note.empty() ? "" : "  ", note);
  };
  text += "\n";
  row("parameters", grouped(s.parameters));
  if (s.trained != s.parameters) row("  that train", grouped(s.trained));
  text += "\n";
  row("FLOPs a step", flops_text(s.flops.total()), "of matrix products, for " + sizes_text(s.step));
  row("  forward", flops_text(s.flops.forward), "at most: shorter ones and causal masks need less");
  row("  backward", flops_text(s.flops.backward));
  text += "\n";
  row("memory", bytes_text(m.peak()), "the most at once, by estimate");
  row("  parameters", bytes_text(m.parameters));
  row("  gradients", bytes_text(m.gradients));
  row("  optimizer state", bytes_text(m.optimizer));
  row("  activations", bytes_text(m.activations), "what a micro-batch keeps for backward");
  row("  their gradients", bytes_text(m.backward), "when there are most of them");
  row("  an evaluation", bytes_text(m.evaluation), "in place of the last two");
  row("  token ids", bytes_text(m.batches));
  row("this machine has", bytes_text(s.available));
  return text;
}

namespace {

// A kind of memory, and how there comes to be less of it.
struct Need {
  double bytes;
  const char* what;
  std::string remedy;
};

Need greatest_need(const Summary& s) {
  double in_layers = 0;
  for (const Part& part : s.parts)
    if (part.name.find(".layers.") != part.name.npos)
      in_layers += static_cast<double>(part.layers) * static_cast<double>(part.parameters);
  const bool deep = in_layers * 2 > static_cast<double>(s.parameters);
  const Need needs[] = {
      {s.memory.lasting(), "parameters, gradients and optimizer state",
       deep ? "model.dim, model.feed_forward or model.layers"
            : "model.dim, data.max_vocabulary or model.positional.max_length"},
      {s.memory.activations + s.memory.backward, "the activations of a micro-batch",
       "train.batch_size (and raise train.accumulate), the lengths in [data], model.dim or "
       "model.layers"},
      {s.memory.evaluation, "the activations of an evaluation", "train.evaluate_batch_size"},
      {s.memory.batches, "the token ids of a step",
       "train.accumulate, train.batch_size or data.bucketing"},
  };
  return *std::ranges::max_element(needs, {}, &Need::bytes);
}

}  // namespace

void check_memory(const Summary& s) {
  if (s.memory.peak() <= s.available) return;
  const Need need = greatest_need(s);
  check_input(false, "training needs about {} of memory, this machine has {}: {} take {}; lower {}",
              bytes_text(s.memory.peak()), bytes_text(s.available), need.what,
              bytes_text(need.bytes), need.remedy);
}

}  // namespace heed
