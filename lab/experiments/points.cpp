#include "lab/experiments/points.h"

#include <set>

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/names.h"
#include "core/check.h"
#include "core/random.h"

namespace heed {
namespace {

// Returns how names call a key: by its last component, unless another key that varies has the same.
std::string short_key(const std::string& key, const Sweep& sweep) {
  int same = 0;
  for (const AxisGroup& group : sweep.groups)
    for (const Axis& axis : group) same += last_component(axis.key) == last_component(key);
  return same > 1 ? key : last_component(key);
}

void name_point(Point& point, const Sweep& sweep) {
  std::string name;
  for (const auto& [key, value] : point.values) {
    std::string text = value.text;
    if (text.starts_with('"')) text = text.substr(1, text.size() - 2);
    name += (name.empty() ? "" : ",") + short_key(key, sweep) + "=" + text;
  }
  point.name = name.empty() ? "" : folder_name(name);
}

std::vector<Point> grid(const Sweep& sweep) {
  std::vector<Point> points(1);
  for (const AxisGroup& group : sweep.groups) {
    std::vector<Point> more;
    for (const Point& point : points)
      for (size_t i = 0; i < group[0].values.size(); ++i) {
        more.push_back(point);
        for (const Axis& axis : group) more.back().values.emplace_back(axis.key, axis.values[i]);
      }
    points = std::move(more);
  }
  return points;
}

Point random_point(const Sweep& sweep, Random& random) {
  constexpr int digits = 3;  // of a value in a range: enough, and readable
  Point point;
  for (const AxisGroup& group : sweep.groups) {
    if (group[0].range) {
      point.values.emplace_back(group[0].key,
                                range_value(sweep, group[0], random.uniform(), digits));
      continue;
    }
    const size_t i = random.below(group[0].values.size());
    for (const Axis& axis : group) point.values.emplace_back(axis.key, axis.values[i]);
  }
  return point;
}

std::vector<Point> random_points(const Sweep& sweep) {
  const RandomOptions& options = sweep.options.random;
  const auto count = static_cast<size_t>(options.count);
  std::vector<Point> points;
  std::set<std::string> seen;
  // Each attempt has a stream of its own. Of n points the last takes n attempts on average.
  const uint64_t most = 100 + 40 * static_cast<uint64_t>(count);
  for (uint32_t attempt = 0; points.size() < count; ++attempt) {
    check_input(attempt < most, "random.count = {}: found only {} different points in {} attempts",
                count, points.size(), most);
    Random random(static_cast<uint64_t>(options.seed), Purpose::sweep, attempt);
    Point point = random_point(sweep, random);
    std::string values;
    for (const auto& [key, value] : point.values) values += value.text + "\n";
    if (seen.insert(values).second) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace

std::vector<Point> points_of(const Sweep& sweep) {
  std::vector<Point> points =
      sweep.options.method == SweepMethod::random ? random_points(sweep) : grid(sweep);
  for (Point& point : points) name_point(point, sweep);
  return points;
}

SweepOrder::SweepOrder(const Sweep& sweep) {
  for (const AxisGroup& group : sweep.groups)
    for (const Axis& axis : group) keys_.push_back(axis.key);
  for (const Point& point : points_of(sweep)) {
    std::vector<std::string> values;
    for (const auto& [key, value] : point.values) values.push_back(value.text);
    ranks_.emplace(std::move(values), ranks_.size());
  }
}

size_t SweepOrder::rank(const ConfigListing& config) const {
  std::vector<std::string> values;
  for (const std::string& key : keys_) values.push_back(value_of(config, key));
  const auto found = ranks_.find(values);
  return found == ranks_.end() ? ranks_.size() : found->second;
}

std::string folder_name(const std::string& text) {
  constexpr size_t most = 120, hash_digits = 8;
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("+-._,=").find(c) != std::string_view::npos;
    if (plain) name += c;
  }
  if (name == text && name.size() <= most) return name;
  return name.substr(0, most - hash_digits - 1) + "-" + sha256(text).substr(0, hash_digits);
}

}  // namespace heed
