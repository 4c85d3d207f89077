#include "lab/report/details_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "apps/support/digest.h"
#include "apps/support/numbers.h"
#include "lab/report/charts.h"
#include "lab/report/html.h"
#include "lab/report/text_difference.h"

namespace heed {

namespace {

constexpr size_t max_labels = 40, max_listed_errors = 12;

std::string marked_html(const MarkedText& text, const char* tag) {
  std::string shown;
  for (const auto& [part, marked] : text)
    shown += marked ? fmt::format("<{0}>{1}</{0}>", tag, html(part)) : html(part);
  return shown;
}

// A head at the last checkpoint: one path for each of 15 shades, so that styles choose the colour.
std::string head_drawing(const std::string& bytes, size_t rows, size_t columns) {
  std::map<int, std::string> paths;
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) {
      const int shade = static_cast<unsigned char>(bytes.at(row * columns + column)) * 15 / 255;
      if (shade > 0) paths[shade] += fmt::format("M{} {}h1v1h-1z", column, row);
    }
  std::string text = fmt::format("<svg class=\"head\" viewBox=\"0 0 {} {}\">", columns, rows);
  for (const auto& [shade, path] : paths)
    text += fmt::format("<path fill-opacity=\"{:.2f}\" d=\"{}\"/>", shade / 15.0, path);
  return text + "</svg>";
}

std::string layer_drawing(const Json& map) {
  const size_t rows = map.at("rows").elements().size(),
               columns = map.at("columns").elements().size();
  const std::string bytes = bytes_of_base64(map.at("weights").elements().back().string());
  std::string text =
      fmt::format("<h3>{}</h3>\n<div class=\"heads\">", html(map.at("name").string()));
  for (size_t head = 0; head < static_cast<size_t>(map.at("heads").integer()); ++head)
    text += head_drawing(bytes.substr(head * rows * columns, rows * columns), rows, columns);
  return text + "</div>\n";
}

// Rows are expected, columns predicted.
std::string confusion_drawing(const Confusion& confusion) {
  const std::vector<std::string>& labels = confusion.labels;
  if (labels.size() < 2 || labels.size() > max_labels) return "";
  std::vector<int64_t> totals(labels.size());
  for (const auto& [expected, predicted, count] : confusion.counts) totals[expected] += count;
  constexpr int cell = 18;
  size_t longest = 1;
  for (const std::string& label : labels) longest = std::max(longest, label.size());
  const size_t margin = 10 + 8 * std::min<size_t>(longest, 16),
               size = labels.size() * cell + margin;
  std::string text = fmt::format(
      "<svg class=\"confusion\" viewBox=\"0 0 {0} {0}\" width=\"{0}\" role=\"img\" "
      "aria-label=\"Confusion\">",
      size + 4);
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::string label = html(labels[i].substr(0, 60));
    const size_t at = margin + i * cell + cell - 5;
    text += fmt::format(
        "<text x=\"{0}\" y=\"{1}\" text-anchor=\"end\">{2}</text><text "
        "transform=\"translate({1} {0}) rotate(-90)\">{2}</text>",
        margin - 6, at, label);
  }
  for (const auto& [row, column, count] : confusion.counts) {
    const double share =
        static_cast<double>(count) / static_cast<double>(std::max<int64_t>(1, totals[row]));
    text += fmt::format(
        "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "fill-opacity=\"{:.2f}\"><title>expected {}, predicted {}: {}</title></rect>",
        row == column ? "right" : "wrong", margin + column * cell, margin + row * cell, cell - 1,
        cell - 1, std::max(0.12, share), html(labels[row]), html(labels[column]), count);
  }
  return text + "</svg>\n";
}

std::string frequent_errors(const Confusion& confusion) {
  std::vector<Cells> rows;
  for (const auto& [expected, predicted, count] : confusion.counts) {
    if (expected == predicted || rows.size() == max_listed_errors) break;
    rows.push_back({confusion.labels[expected], confusion.labels[predicted], grouped(count)});
  }
  return rows.empty() ? "<p>Every target is predicted.</p>\n"
                      : html_table({"expected", "predicted", "times"}, rows, 2);
}

using TimeRows = std::vector<std::pair<std::string, double>>;  // name and seconds

// A table with a bar for the fraction of the step.
std::string time_table(const char* head, const TimeRows& rows, double step_seconds) {
  std::string text = fmt::format(
      "<div class=\"scroll\"><table>\n<thead><tr><th>{}</th><th class=\"n\">ms</th><th "
      "class=\"n\">of a step</th><th></th></tr></thead>\n",
      head);
  for (const auto& [name, seconds] : rows) {
    const double share = step_seconds > 0 ? 100 * seconds / step_seconds : 0;
    text += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{:.3f}</td><td class=\"n\">{:.1f} %</td><td "
        "class=\"bar\"><svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\"><rect "
        "class=\"s0\" width=\"{:.2f}\" height=\"8\"/></svg></td></tr>\n",
        html(name), 1e3 * seconds, share, std::min(100.0, share));
  }
  return text + "</table></div>\n";
}

}  // namespace

std::string attention_part(const Details& details) {
  const Json& atlas = details.attention;
  if (atlas.is_null()) return "";
  const Json& example = atlas.at("examples").elements().at(0);
  std::string text = fmt::format(
      "<p class=\"note\">Rows are queries, columns are keys; the stronger the colour, the greater "
      "the weight. "
      "<span class=\"drawn\">Step {}: {}</span></p>\n<div id=\"atlas\">\n",
      atlas.at("steps").elements().back().integer(), html(example.at("title").string()));
  for (const Json& map : example.at("maps").elements()) text += layer_drawing(map);
  return text + "</div>\n";
}

std::string samples_part(const Details& details) {
  if (details.samples.empty()) return "";
  if (details.samples[0].expected.empty()) {
    std::string text = "<p class=\"note\">Generated without a prompt.</p>\n";
    for (const Prediction& sample : details.samples)
      text += "<pre>" + html(sample.predicted) + "</pre>\n";
    return text;
  }
  std::string rows;
  for (const Prediction& sample : details.samples) {
    const auto [predicted, expected] = marked_difference(sample.predicted, sample.expected);
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", html(sample.source),
                        marked_html(predicted, "mark"), marked_html(expected, "u"));
  }
  return fmt::format(
      "<p class=\"note\">Greedy outputs for the split {}, at step {}.</p>\n"
      "<div class=\"scroll\"><table class=\"samples\">\n<thead><tr><th>source</th>"
      "<th>predicted</th><th>expected</th></tr></thead>\n{}</table></div>\n",
      html(details.split), details.step, rows);
}

std::string errors_part(const Details& details) {
  std::string text;
  if (details.confusion) {
    const std::string drawing = confusion_drawing(*details.confusion);
    text += "<div class=\"pair\"><div>\n<h3>Most frequent errors</h3>\n" +
            frequent_errors(*details.confusion) + "</div>\n";
    if (!drawing.empty())
      text +=
          "<div>\n<h3>Confusion: rows are expected, columns predicted</h3>\n<div "
          "class=\"scroll\">" +
          drawing + "</div></div>\n";
    text += "</div>\n";
  }
  if (!details.lengths.is_null())
    text += "<div class=\"charts single\">" + chart_figure(details.lengths) + "</div>\n";
  return text;
}

std::string profile_part(const Details& details) {
  if (!details.profile) return "";
  const Profile& profile = *details.profile;
  TimeRows layers, operations;
  for (const LayerRow& layer : profile.layers)
    layers.emplace_back(layer.name, layer.forward.seconds + layer.backward.seconds);
  const auto add = [&](const char* pass, const std::vector<ProfileRow>& rows) {
    for (const ProfileRow& row : rows) operations.emplace_back(pass + row.name, row.seconds);
  };
  add("forward ", profile.forward);
  add("backward ", profile.backward);
  add("", profile.rest);
  std::ranges::stable_sort(operations, std::greater(), [](const auto& row) { return row.second; });
  operations.resize(std::min<size_t>(operations.size(), 14));
  return fmt::format(
      "<p class=\"note\">A training step of {:.3f} ms, measured for this page.</p>\n"
      "<div class=\"pair\"><div>{}</div><div>{}</div></div>\n",
      1e3 * profile.seconds, time_table("layer", layers, profile.seconds),
      time_table("operation", operations, profile.seconds));
}

std::string model_part(const Details& details) {
  std::string text;
  for (const std::string& line : details.data) text += "<p>" + html(line) + "</p>\n";
  if (!details.model.empty()) text += "<pre>" + html(details.model) + "</pre>\n";
  return text;
}

}  // namespace heed
