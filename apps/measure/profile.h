// Where the time and the memory of a training step go.
//
// Some steps are watched (apps/measure/step_watch.h) and, in between, as many are not: what
// watching costs is the difference. Times are the mean over the middle half of the watched steps,
// by their length, so that rows still add up to a step and a disturbance of the machine stays out.
#pragma once

#include <string>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/measure/step_watch.h"

namespace heed {

// All calls of an operation, or all that a layer did, in one step.
struct ProfileRow {
  std::string name;
  double calls = 0, seconds = 0;
  OperationCost cost;
  // What the machine would need: for each call its FLOPs at the rate of large products or its bytes
  // at the bandwidth of memory, whichever takes longer. From caches it can be quicker.
  double least_seconds = 0;

  ProfileRow& operator+=(const ProfileRow& other);
};

struct LayerRow {
  std::string name;  // decoder.layers.0.attention
  ProfileRow forward, backward;
};

// A step as it was: for a trace.
struct TimedEvent {
  std::string name, part, layer;  // part: decoder.layers.0.attention.query
  Pass pass;
  int64_t begin, end;  // nanoseconds since the step began
  OperationCost cost;
  std::vector<Shape> inputs;  // the first of them
  Shape result;
};

// In bytes, of the pool's blocks, when there are most of them.
struct ProfileMemory {
  struct Holder {
    Pass pass;
    std::string name;  // of the operation that asked for the memory
    double bytes;
  };
  double peak = 0;
  std::string moment;  // "backward of linear, head"
  double parameters = 0, gradients = 0, optimizer = 0;
  double before = 0;            // all else that was there before the step: token ids, tables
  std::vector<Holder> holders;  // the greatest first

  double held(Pass pass) const;
};

struct Profile {
  int64_t steps = 0;                          // that were watched
  double seconds = 0;                         // of a step
  double unwatched_seconds = 0;               // the same, of those in between
  double loss = 0;                            // of the last step
  double gemm = 0;                            // FLOP/s
  double bandwidth = 0;                       // bytes/s
  std::vector<ProfileRow> forward, backward;  // operations, the longest first
  std::vector<ProfileRow> rest;               // what is no operation: the optimizer, the batch, …
  std::vector<LayerRow> layers;               // as the model computes them
  ProfileMemory memory;
  std::vector<TimedEvent> step;  // that of middle length
  int64_t step_nanoseconds = 0;
};

inline constexpr const char* outside_operations = "outside operations";
inline constexpr const char* outside_model = "outside the model";

// Trains 3 + 2 · steps steps. Throws as Trainer does.
Profile profile_training(const Experiment& experiment, const Corpus& corpus, int64_t steps);

// The step as complete events of the Trace Event Format, for Perfetto or chrome://tracing: the
// step, in it what each layer did at a stretch, in that the operations.
std::string chrome_trace(const Profile& profile);

}  // namespace heed
