// The memory of a training step at its peak, by what holds it.
#pragma once

#include "apps/cost/step_observer.h"
#include "apps/training/trainer.h"

namespace heed {

// In bytes. Blocks of the pool count with the size of their class; parameters, gradients and
// optimizer state with that of their elements.
struct StepMemory {
  struct Holder {
    Pass pass;
    std::string name;  // of the operation that allocated the memory
    double bytes;
  };
  double peak = 0;
  std::string moment;  // when: "backward of linear, head"
  double parameters = 0, gradients = 0, optimizer = 0;
  double before = 0;            // all else from before the step: token ids, tables
  std::vector<Holder> holders;  // largest first

  double held(Pass pass) const;
};

// `live`: bytes of the pool in use when the step began.
StepMemory memory_of(const StepObserver& step, const PartNames& names, int64_t live,
                     const Trainer& trainer);

}  // namespace heed
