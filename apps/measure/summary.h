// What a model is made of and what a step of its training costs, told before anything is trained.
// Its weights are never filled: one larger than the machine is described at once too.
#pragma once

#include <string>
#include <vector>

#include "apps/measure/costs.h"

namespace heed {

struct ParameterLine {
  std::string name;  // within its part: query.weight
  Shape shape;
  bool trains;
};

struct Part {
  std::string name;        // decoder.layers.0-3.attention
  int64_t layers = 1;      // so many layers have this part, all alike
  int64_t parameters = 0;  // numbers, in one layer
  Flops flops;             // of a training step, in one layer
  std::vector<ParameterLine> lines;
};

struct Summary {
  std::vector<Part> parts;
  int64_t parameters = 0, trained = 0;  // numbers; those that are not frozen
  StepSizes step;
  Flops flops;  // of a training step
  Memory memory;
  double available = 0;  // bytes, see available_memory()
};

// Throws InputError where model and data do not fit, as Trainer does, and for a model too large to
// be made even without its numbers.
Summary summarize(const Experiment& experiment, const Corpus& corpus);

// Parts, parameters, shapes and sums, as text for a terminal.
std::string table(const Summary& summary);

// Throws InputError, with what is needed, what there is and the keys to lower, where training needs
// more memory than the machine has.
void check_memory(const Summary& summary);

}  // namespace heed
