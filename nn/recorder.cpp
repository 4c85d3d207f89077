#include "nn/recorder.h"

#include "nn/forms/attention.h"

namespace heed::inline HEED_REAL {

std::vector<AttentionRecord> Recorder::records(const Module& model) const {
  const auto names = model.part_names();
  std::vector<AttentionRecord> found;
  for (const auto& [module, weights] : seen_) {
    const auto name = names.find(module);
    if (name == names.end()) continue;  // belongs to another model
    AttentionRecord& record = found.emplace_back(AttentionRecord{name->second, weights});
    // A tap sees a Module; only this form of attention has the axes of a grid.
    const auto* const form = dynamic_cast<const AttentionForm*>(module);
    if (!form || form->lines_of().empty()) continue;
    record.grid.assign(form->lines_of().begin(), form->lines_of().end());
    record.axes.assign(form->line_axes().begin(), form->line_axes().end());
  }
  return found;
}

}  // namespace heed::inline HEED_REAL
