#include "nn/recorder.h"

namespace heed::inline HEED_REAL {

std::vector<AttentionRecord> Recorder::records(const Module& model) const {
  const auto names = model.part_names();
  std::vector<AttentionRecord> found;
  for (const auto& [module, attention] : seen_) {
    const auto name = names.find(module);
    if (name == names.end()) continue;  // belongs to another model
    found.push_back(attention);
    found.back().name = name->second;
  }
  return found;
}

}  // namespace heed::inline HEED_REAL
