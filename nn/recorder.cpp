#include "nn/recorder.h"

#include <optional>
#include <utility>

namespace heed::inline HEED_REAL {
namespace {

// Not part of the Scope, whose copies, restored by a guard, could outlive the Recorder.
thread_local Recorder* watching = nullptr;

}  // namespace

Recorder::Recorder() : outer_(std::exchange(watching, this)) {}

Recorder::~Recorder() { watching = outer_; }

Recorder* Recorder::active() { return watching; }

void Recorder::record(const Module& who, AttentionRecord what) {
  seen_.push_back({&who, std::move(what)});
}

std::vector<AttentionRecord> Recorder::records(const Module& model) const {
  std::vector<AttentionRecord> found;
  for (const Seen& seen : seen_) {
    const std::optional<std::string> name = model.name_of(*seen.who);
    if (!name) continue;  // of another model
    found.push_back(seen.what);
    found.back().name = *name;
  }
  return found;
}

}  // namespace heed::inline HEED_REAL
