#include "nn/recorder.h"

#include <optional>

namespace heed::inline HEED_REAL {

std::vector<AttentionRecord> Recorder::records(const Module& model) const {
  std::vector<AttentionRecord> found;
  for (const auto& [module, attention] : seen_) {
    const std::optional<std::string> name = model.name_of(*module);
    if (!name) continue;  // belongs to another model
    found.push_back(attention);
    found.back().name = *name;
  }
  return found;
}

}  // namespace heed::inline HEED_REAL
