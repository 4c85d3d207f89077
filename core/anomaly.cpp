#include "core/anomaly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/autograd.h"

namespace heed::inline HEED_REAL {

void AnomalyDetector::op_finished(const char* name, const Tensor& y, std::span<const Tensor> inputs,
                                  const Node* /*node*/) {
  const bool infinite_input = std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) {
    if (!x) return false;
    const std::span<const real> values = x.values();
    return std::any_of(values.begin(), values.end(), [](real v) { return std::isinf(v); });
  });
  const std::span<const real> values = y.values();
  const auto bad = std::find_if(values.begin(), values.end(), [&](real v) {
    return std::isnan(v) || (std::isinf(v) && !infinite_input);
  });
  if (bad == values.end()) return;
  std::string shapes;
  for (const Tensor& x : inputs)
    if (x) shapes += fmt::format("{}{}", shapes.empty() ? "" : ", ", x.shape());
  check(false, "{}: the result, of shape {}, has {} at position {}; the inputs have shapes {}",
        name, y.shape(), *bad, bad - values.begin(), shapes);
}

void AnomalyDetector::backward_finished(const Node& node, const Slot& /*output*/) {
  for (int i = 0; i < node.input_count; ++i) {
    const Slot* slot = node.inputs[i];
    if (!slot || !slot->written) continue;
    const real* g = slot->gradient->data;
    const real* bad = std::find_if(g, g + slot->size, [](real v) { return !std::isfinite(v); });
    if (bad == g + slot->size) continue;
    check(false, "the gradient of input {} has {} at position {}; the result had shape {}", i,
          std::isnan(*bad) ? "NaN" : "infinity", bad - g, node.shape);
  }
}

}  // namespace heed::inline HEED_REAL
