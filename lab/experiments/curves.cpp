#include "lab/experiments/curves.h"

#include <algorithm>
#include <cmath>

#include "apps/config/named_run.h"
#include "apps/support/names.h"
#include "apps/training/metrics.h"
#include "core/check.h"

namespace heed {

namespace {

class CurveCollector {
 public:
  Curves result;

  void add_row(const Json& row) {
    const double step = row.at("step").number();
    for (const auto& [name, value] : row.flattened())
      if (name != "step") add(name, value, step);
  }

 private:
  void add(const std::string& name, const Json& value, double step) {
    if (value.is_array())
      for (size_t i = 0; i < value.elements().size(); ++i)
        add(with_index(name, i), value.elements()[i], step);
    if (!value.is_number() || !std::isfinite(value.number())) return;
    Curve& curve = named(name);
    curve.steps.push_back(step);
    curve.values.push_back(value.number());
  }

  // The value of head 1: "heads.attention.entropy" → "heads.attention[1].entropy".
  static std::string with_index(const std::string& name, size_t index) {
    const size_t end = std::min(name.rfind('.'), name.size());
    return name.substr(0, end) + "[" + std::to_string(index) + "]" + name.substr(end);
  }

  // Rows have the same members in the same order, so the curve is mostly the one after the last.
  Curve& named(const std::string& name) {
    std::vector<Curve>& curves = result.curves;
    for (size_t i = 0; i < curves.size(); ++i) {
      next_ = next_ + 1 < curves.size() ? next_ + 1 : 0;
      if (curves[next_].name == name) return curves[next_];
    }
    next_ = curves.size();
    return curves.emplace_back(Curve{name, {}, {}});
  }

  size_t next_ = 0;
};

}  // namespace

const Curve* Curves::find(std::string_view name) const {
  const auto found = std::ranges::find(curves, name, &Curve::name);
  return found == curves.end() ? nullptr : &*found;
}

double Curves::last_step() const {
  double last = 0;
  for (const Curve& curve : curves) last = std::max(last, curve.steps.back());
  return last;
}

Curves curves_of(std::string_view metrics) {
  CurveCollector collector;
  for_each_row(metrics, [&](std::string_view text, int64_t) {
    try {
      collector.add_row(Json::parse(text, run_files::metrics));
    } catch (const InputError&) {
      ++collector.result.damaged_rows;
    }
  });
  return std::move(collector.result);
}

Curves read_curves(const std::string& path) { return curves_of(read_metrics(path)); }

bool is_count(const std::string& score) {
  const std::string name = last_component(without_group(score));
  return name == "examples" || name == "targets" || name == "outputs_without_4grams";
}

bool is_of_part(const std::string& curve) {
  return std::ranges::count(without_group(curve), '.') > 1;
}

}  // namespace heed
