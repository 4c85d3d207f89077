// The texts of a summary: numbers with units, sizes, and the tables of `heed summary`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "apps/cost/summary.h"
#include "apps/support/numbers.h"
#include "core/joined.h"

namespace heed {

// 1234567 → 1.235 M
static std::string scaled(double number, double base, std::span<const char* const> units) {
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

static std::string shape_text(const Shape& shape) { return joined(shape, " × "); }

static std::string parts_table(const Summary& summary) {
  size_t name_width = 0, shape_width = 5;
  for (const SummaryPart& part : summary.parts) {
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
  for (const SummaryPart& part : summary.parts) {
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
  row("  forward", flops_text(s.flops.forward), "an upper bound: shorter sequences need less");
  row("  backward", flops_text(s.flops.backward));
  text += "\n";
  row("memory", bytes_text(m.peak()), "peak, estimated");
  row("  parameters", bytes_text(m.parameters));
  row("  gradients", bytes_text(m.gradients));
  row("  optimizer state", bytes_text(m.optimizer));
  row("  activations", bytes_text(m.activations), "of a micro-batch, kept for backward");
  row("  their gradients", bytes_text(m.backward), "and temporaries, at the peak");
  row("  an evaluation", bytes_text(m.evaluation), "instead of the last two");
  row("  token ids", bytes_text(m.batches));
  row("this machine has", bytes_text(s.available));
  return text;
}

}  // namespace heed
