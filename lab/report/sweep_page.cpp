#include "lab/report/sweep_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "lab/experiments/cells.h"
#include "lab/experiments/comparison.h"
#include "lab/experiments/effect_table.h"
#include "lab/report/html.h"

namespace heed {

namespace {

struct SweepPoint {
  std::vector<std::string> values;
  double score = 0;
};

struct SweepPoints {
  std::vector<SweepPoint> points;
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;

  // The runs that have the deciding score.
  explicit SweepPoints(const SweepScores& sweep) {
    for (const RunGroup& group : sweep.groups.groups)
      for (const double score : group.numbers(sweep.names[0])) {
        points.push_back({group.values, score});
        lowest = std::min(lowest, score);
        highest = std::max(highest, score);
      }
  }
  // 0 for the minimum score, 1 for the maximum.
  // Of scores that span more than a factor of 30, by their logarithm.
  double height(double score) const {
    if (!(highest > lowest)) return 0.5;
    if (lowest > 0 && highest > 30 * lowest)
      return std::log(score / lowest) / std::log(highest / lowest);
    return (score - lowest) / (highest - lowest);
  }
};

// The values of a key: numbers ascending, then other values.
std::vector<std::string> values_of_key(const SweepPoints& sweep, size_t key) {
  std::vector<std::string> values;
  for (const SweepPoint& point : sweep.points)
    if (std::ranges::find(values, point.values.at(key)) == values.end())
      values.push_back(point.values.at(key));
  std::ranges::stable_sort(values, [](const std::string& a, const std::string& b) {
    const std::optional<double> x = number_of_text(a), y = number_of_text(b);
    return x && y ? *x < *y : x.has_value() && !y.has_value();
  });
  return values;
}

std::string short_value(const std::string& value) {
  return value.size() > 18 ? value.substr(0, 16) + "…" : value;
}

template <class... Args>
void draw(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  out += fmt::format(format, std::forward<Args>(args)...);
}

std::string effect_drawing(const SweepPoints& sweep, size_t key) {
  const std::vector<std::string> values = values_of_key(sweep, key);
  constexpr double left = 88, right = 12, top = 12, bottom = 44, height = 234, width = 400;
  const auto y = [&](double score) {
    return height - bottom - sweep.height(score) * (height - top - bottom);
  };
  std::string text = fmt::format("<svg class=\"drawing\" viewBox=\"0 0 {} {}\">", width, height);
  for (const double tick : {sweep.lowest, sweep.highest})
    draw(text,
         "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text x=\"{}\" y=\"{:.1f}\" "
         "text-anchor=\"end\">{}</text>",
         left, y(tick), width - right, left - 8, y(tick) + 4, four_digits(tick));
  const double room =
      (width - left - right) / static_cast<double>(std::max<size_t>(1, values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = left + room * (static_cast<double>(i) + 0.5);
    double sum = 0, count = 0;
    for (const SweepPoint& point : sweep.points) {
      if (point.values.at(key) != values[i]) continue;
      sum += point.score;
      ++count;
      draw(text,
           "<circle class=\"s0\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}</title></circle>", x,
           y(point.score), four_digits(point.score));
    }
    draw(text,
         "<path class=\"mean\" d=\"M{:.1f} {:.1f}H{:.1f}\"><title>mean {}</title></path>"
         "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
         x - std::min(22.0, room / 2), y(sum / count), x + std::min(22.0, room / 2),
         four_digits(sum / count), x, height - (i % 2 == 0 ? 24 : 8),  // labels on two lines
         html(short_value(values[i])));
  }
  return text + "</svg>";
}

}  // namespace

std::string groups_part(const SweepScores& sweep) {
  const RunGroups& groups = sweep.groups;
  const std::string& score = sweep.names[0];
  Cells heads = groups.varying;
  heads.emplace_back("runs");
  heads.insert(heads.end(), sweep.names.begin(), sweep.names.end());
  std::vector<Cells> rows;
  std::vector<IntervalKind> kinds;
  for (const RunGroup& group : groups.groups) {
    Cells row = group.values;
    row.push_back(count_text(group, score));
    for (const std::string& name : sweep.names) {
      const std::optional<MeanInterval> mean = group.mean(name);
      row.push_back(mean ? mean_text(*mean) : "–");
      if (mean) kinds.push_back(mean->kind);
    }
    rows.push_back(std::move(row));
  }
  std::string text = html_table(heads, rows, groups.varying.size()) +
                     fmt::format("<p class=\"note\">Over seeds: {}.</p>\n", interval_note(kinds));
  for (const std::string& failure : groups.failures())
    text += fmt::format("<p class=\"note\">{}</p>\n", html(failure));
  const BestGroup best = best_group(groups, sweep.chosen_by);
  if (best.index && !groups.varying.empty())
    text += fmt::format("<p>Best by {}: {}.</p>\n", html(sweep.chosen_by),
                        html(name_of_group(groups, *best.index)));
  for (const size_t i : best.left_out)
    text += fmt::format("<p class=\"note\">Not compared by {}: {}, which has it for {} only.</p>\n",
                        html(sweep.chosen_by), html(name_of_group(groups, i)),
                        counted(std::ssize(groups.groups[i].numbers(sweep.chosen_by)), "seed"));
  const Effects effects = effects_on(groups, score);
  std::string effect_text;
  if (groups.repeats_over_seeds())
    for (const auto& [table, left] : effect_tables(effects, groups)) {
      effect_text += html_table(table.rows[0], {table.rows.begin() + 1, table.rows.end()}, left);
      for (const std::string& note : table.notes)
        effect_text += fmt::format("<p class=\"note\">{}</p>\n", html(note));
    }
  if (groups.repeats_over_seeds() || effects.any())
    for (const std::string& warning : warnings_of(effects, groups))
      effect_text += fmt::format("<p>{}.</p>\n", html(warning));
  if (!effect_text.empty())
    text += fmt::format("<h3>Effects on {}</h3>\n", html(score)) + effect_text;
  for (const std::string& path : groups.repeats)
    text +=
        fmt::format("<p class=\"note\">Left out: {}, which repeats another run.</p>\n", html(path));
  return text;
}

std::string effects_part(const SweepScores& sweep) {
  const SweepPoints points(sweep);
  const std::vector<std::string>& keys = sweep.groups.varying;
  std::string text;
  for (size_t i = 0; i < keys.size() && !points.points.empty(); ++i)
    text += fmt::format("<figure>\n<figcaption>{}</figcaption>\n{}</figure>\n", html(keys[i]),
                        effect_drawing(points, i));
  return text.empty() ? ""
                      : fmt::format(
                            "<p class=\"note\">{} of each run, and the mean for each value."
                            "</p>\n<div class=\"charts effects\">\n{}</div>\n",
                            html(sweep.names[0]), text);
}

std::string parallel_part(const SweepScores& sweep) {
  const SweepPoints points(sweep);
  const std::vector<std::string>& keys = sweep.groups.varying;
  if (keys.size() < 2 || points.points.size() < 2) return "";
  constexpr double top = 34, bottom = 16, height = 320, left = 40;
  const double between = std::clamp(900.0 / static_cast<double>(keys.size()), 150.0, 320.0);
  const double right = left + between * static_cast<double>(keys.size());
  const auto y = [&](double share) { return height - bottom - share * (height - top - bottom); };
  const auto share = [](size_t i, size_t count) {
    return count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0.5;
  };
  std::vector<std::vector<std::string>> values;
  for (size_t k = 0; k < keys.size(); ++k) values.push_back(values_of_key(points, k));
  std::string text = fmt::format(
      "<div class=\"scroll\"><svg class=\"drawing parallel\" viewBox=\"0 0 {0} {1}\" "
      "width=\"{0}\">",
      right + 90, height);
  const bool lower = lower_is_better(sweep.names[0]);
  for (const SweepPoint& point : points.points) {
    std::string line, label;
    for (size_t k = 0; k < keys.size(); ++k) {
      const auto at = std::ranges::find(values[k], point.values[k]) - values[k].begin();
      draw(line, "{:.1f},{:.1f} ", left + between * static_cast<double>(k),
           y(share(static_cast<size_t>(at), values[k].size())));
      label += keys[k] + " = " + point.values[k] + ", ";
    }
    const double rank = points.height(point.score), good = lower ? 1 - rank : rank;
    draw(line, "{:.1f},{:.1f}", right, y(rank));
    draw(text,
         "<polyline class=\"s{}\" stroke-opacity=\"{:.2f}\" points=\"{}\"><title>{}{} = "
         "{}</title></polyline>",
         good > 0.5 ? 0 : 1, 0.25 + 0.7 * std::abs(2 * good - 1), line, html(label),
         html(sweep.names[0]), four_digits(point.score));
  }
  const auto axis = [&](double x, const std::string& name) {
    draw(text,
         "<path class=\"axis\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><text class=\"name\" x=\"{0:.1f}\" "
         "y=\"14\" text-anchor=\"middle\">{3}</text>",
         x, y(1), y(0), html(short_value(name)));
  };
  const auto tick = [&](double x, double at, const std::string& name) {
    draw(text, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 6, y(at) + 4,
         html(short_value(name)));
  };
  for (size_t k = 0; k < keys.size(); ++k) {
    const double x = left + between * static_cast<double>(k);
    axis(x, last_component(keys[k]));
    for (size_t i = 0; i < values[k].size(); ++i) tick(x, share(i, values[k].size()), values[k][i]);
  }
  axis(right, sweep.names[0]);
  tick(right, 0, four_digits(points.lowest));
  tick(right, 1, four_digits(points.highest));
  return text +
         "</svg></div>\n<p class=\"note\">A line for each run: blue is better than the middle of "
         "the scores, orange worse. Point at a line to read it.</p>\n";
}

}  // namespace heed
