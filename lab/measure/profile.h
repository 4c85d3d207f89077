// Where the time and the memory of a training step go, or the time of a generated token.
//
// Profiled steps (apps/cost/step_observer.h) alternate with steps that are not profiled. The
// difference is the overhead of profiling. Times are means over the middle half of the profiled
// steps, sorted by time. So the rows of a table add up to a step, and outliers are excluded.
#pragma once

#include <string>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/cost/step_memory.h"
#include "apps/cost/step_observer.h"
#include "lab/measure/benchmark.h"

namespace heed {

inline constexpr const char* waiting_for_threads = "waiting for threads";

// All calls of an operation, or all operations of a layer, in one step.
struct ProfileRow {
  std::string name;
  double calls = 0, seconds = 0;
  Cost cost = {};
  // Lower bound of the time (roofline model): for each call the maximum of its FLOPs at the rate of
  // large matrix products and its bytes at memory bandwidth. Data in a cache can be faster.
  double least_seconds = 0;

  ProfileRow& operator+=(const ProfileRow& other);
};

struct LayerRow {
  std::string name;  // decoder.layers.0.attention
  ProfileRow forward = {}, backward = {};
};

// For a trace.
struct TracedEvent {
  Event event;
  std::string part, layer;  // decoder.layers.0.attention.query, decoder.layers.0.attention
};

struct Profile {
  int64_t steps = 0;                          // profiled steps
  double seconds = 0;                         // of a step
  double unprofiled_seconds = 0;              // of a step in between
  double loss = 0;                            // of the last step; 0 of a token
  double gemm = 0;                            // rate of large matrix products in FLOP/s
  double bandwidth = 0;                       // of memory, in bytes/s
  std::vector<ProfileRow> forward, backward;  // operations, slowest first
  std::vector<ProfileRow> rest;               // other stages, such as the optimizer
  std::vector<LayerRow> layers;               // in the order of the model
  StepMemory memory;
  std::vector<TracedEvent> trace;  // of the step with the median time
  int64_t trace_nanoseconds = 0;
};

// Trains 3 + 2 · steps steps. Throws as Trainer does.
Profile profile_training(const Experiment& experiment, const Corpus& corpus, int64_t steps);

// Generates 1 + 2 · texts batches of texts of all positions, every second one profiled. A "step" is
// the next token of all texts of a batch. The time that the calling thread waits for others in
// parallel loops is a row of its own, "waiting for threads", whose calls are the loops, and belongs
// to no operation; the bandwidth is read_bandwidth(). There is no memory and no trace. Throws as
// Generator does.
Profile profile_generation(const Experiment& experiment, const Corpus& corpus,
                           const GenerationTask& task, int64_t texts);

// Returns the largest of least_seconds / seconds over the rows of operations and of layers.
double highest_fraction_of_limit(const Profile& profile);

// Returns one step as complete events of the Trace Event Format, for Perfetto or chrome://tracing:
// the step, in it the layers, and in these their operations.
std::string chrome_trace(const Profile& profile);

}  // namespace heed
