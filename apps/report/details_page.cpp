#include "apps/report/details_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "apps/report/charts.h"
#include "apps/report/html.h"
#include "apps/support/base64.h"
#include "apps/support/numbers.h"

namespace heed {

namespace {

constexpr size_t max_labels = 40, max_listed_errors = 12;

const Json& item(const Json& list, size_t i) { return list.elements().at(i); }

std::string marked_html(const Json& text, const char* tag) {
  std::string shown;
  for (const Json& part : text.elements()) {
    const std::string content = html(item(part, 0).string());
    shown += item(part, 1).flag() ? fmt::format("<{0}>{1}</{0}>", tag, content) : content;
  }
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
std::string confusion_drawing(const Json& confusion) {
  const std::vector<std::string> labels = confusion.at("labels").strings();
  if (labels.size() < 2 || labels.size() > max_labels) return "";
  std::vector<int64_t> totals(labels.size());
  for (const Json& entry : confusion.at("counts").elements())
    totals.at(static_cast<size_t>(item(entry, 0).integer())) += item(entry, 2).integer();
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
  for (const Json& entry : confusion.at("counts").elements()) {
    const auto row = static_cast<size_t>(item(entry, 0).integer());
    const auto column = static_cast<size_t>(item(entry, 1).integer());
    const double share =
        item(entry, 2).number() / static_cast<double>(std::max<int64_t>(1, totals.at(row)));
    text += fmt::format(
        "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "fill-opacity=\"{:.2f}\"><title>expected {}, predicted {}: {}</title></rect>",
        row == column ? "right" : "wrong", margin + column * cell, margin + row * cell, cell - 1,
        cell - 1, std::max(0.12, share), html(labels.at(row)), html(labels.at(column)),
        item(entry, 2).integer());
  }
  return text + "</svg>\n";
}

std::string frequent_errors(const Json& confusion) {
  const std::vector<std::string> labels = confusion.at("labels").strings();
  std::vector<Cells> rows;
  for (const Json& entry : confusion.at("counts").elements()) {
    const auto expected = static_cast<size_t>(item(entry, 0).integer());
    const auto predicted = static_cast<size_t>(item(entry, 1).integer());
    if (expected == predicted || rows.size() == max_listed_errors) break;
    rows.push_back({labels.at(expected), labels.at(predicted), grouped(item(entry, 2).integer())});
  }
  return rows.empty() ? "<p>Every target is predicted.</p>\n"
                      : html_table({"expected", "predicted", "times"}, rows, 2);
}

// A table with a bar for the share of the step.
std::string time_table(const char* head, const std::vector<std::pair<std::string, double>>& rows,
                       double step_ms) {
  std::string text = fmt::format(
      "<div class=\"scroll\"><table>\n<thead><tr><th>{}</th><th class=\"n\">ms</th><th "
      "class=\"n\">of a step</th><th></th></tr></thead>\n",
      head);
  for (const auto& [name, ms] : rows) {
    const double share = step_ms > 0 ? 100 * ms / step_ms : 0;
    text += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{:.3f}</td><td class=\"n\">{:.1f} %</td><td "
        "class=\"bar\"><svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\"><rect "
        "class=\"s0\" width=\"{:.2f}\" height=\"8\"/></svg></td></tr>\n",
        html(name), ms, share, std::min(100.0, share));
  }
  return text + "</table></div>\n";
}

}  // namespace

std::string attention_part(const Json& details) {
  const Json* atlas = details.find("attention");
  if (!atlas) return "";
  const Json& example = item(atlas->at("examples"), 0);
  std::string text = fmt::format(
      "<p class=\"note\">Rows are queries, columns are keys; the stronger the colour, the greater "
      "the weight. "
      "<span class=\"drawn\">Step {}: {}</span></p>\n<div id=\"atlas\">\n",
      atlas->at("steps").elements().back().integer(), html(example.at("title").string()));
  for (const Json& map : example.at("maps").elements()) text += layer_drawing(map);
  return text + "</div>\n";
}

std::string samples_part(const Json& details) {
  const Json* samples = details.find("samples");
  if (!samples || samples->elements().empty()) return "";
  const bool is_text = item(*samples, 0).at("expected").elements().empty();
  std::string text =
      fmt::format("<p class=\"note\">Greedy outputs for the split {}, at step {}.</p>\n",
                  html(details.at("split").string()), details.at("step").integer());
  if (is_text) text = "<p class=\"note\">Generated without a prompt.</p>\n";
  std::string rows;
  for (const Json& sample : samples->elements()) {
    const std::string predicted = marked_html(sample.at("predicted"), "mark");
    if (is_text)
      text += "<pre>" + predicted + "</pre>\n";
    else
      rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                          html(sample.at("source").string()), predicted,
                          marked_html(sample.at("expected"), "u"));
  }
  if (is_text) return text;
  return text +
         "<div class=\"scroll\"><table class=\"samples\">\n<thead><tr><th>source</th>"
         "<th>predicted</th><th>expected</th></tr></thead>\n" +
         rows + "</table></div>\n";
}

std::string errors_part(const Json& details) {
  const Json *confusion = details.find("confusion"), *lengths = details.find("lengths");
  std::string text;
  if (confusion)
    text += "<div class=\"pair\"><div>\n<h3>Most frequent errors</h3>\n" +
            frequent_errors(*confusion) + "</div>\n";
  const std::string drawing = confusion ? confusion_drawing(*confusion) : "";
  if (!drawing.empty())
    text +=
        "<div>\n<h3>Confusion: rows are expected, columns predicted</h3>\n<div "
        "class=\"scroll\">" +
        drawing + "</div></div>\n";
  if (confusion) text += "</div>\n";
  if (lengths)
    text += "<div class=\"charts single\">" +
            fmt::format(
                "<figure class=\"chart\" data-chart=\"lengths\">\n<figcaption>{}"
                "</figcaption>\n<div class=\"plot\">{}</div>\n</figure>\n",
                html(lengths->at("title").string()), chart_svg(*lengths)) +
            "</div>\n";
  return text;
}

std::string profile_part(const Json& details) {
  const Json* profile = details.find("profile");
  if (!profile) return "";
  const double step_ms = profile->at("step_ms").number();
  std::vector<std::pair<std::string, double>> layers, operations;
  for (const Json& layer : profile->at("layers").elements())
    layers.emplace_back(item(layer, 0).string(), item(layer, 1).number() + item(layer, 2).number());
  for (const Json& operation : profile->at("operations").elements())
    operations.emplace_back(item(operation, 0).string(), item(operation, 1).number());
  std::ranges::stable_sort(operations, std::greater(), [](const auto& row) { return row.second; });
  operations.resize(std::min<size_t>(operations.size(), 14));
  return fmt::format(
             "<p class=\"note\">A training step of {:.3f} ms, measured for this page.</p>\n",
             step_ms) +
         "<div class=\"pair\"><div>" + time_table("layer", layers, step_ms) + "</div><div>" +
         time_table("operation", operations, step_ms) + "</div></div>\n";
}

std::string model_part(const Json& details) {
  std::string text;
  if (const Json* data = details.find("data"))
    for (const std::string& line : data->strings()) text += "<p>" + html(line) + "</p>\n";
  if (const Json* model = details.find("model"))
    text += "<pre>" + html(model->string()) + "</pre>\n";
  return text;
}

}  // namespace heed
