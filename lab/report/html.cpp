#include "lab/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/support/canvas.h"
#include "core/text.h"

namespace heed {

std::string html(std::string_view text) { return xml_escaped(text); }

std::string html_row(const std::vector<Cell>& cells, const std::string& style) {
  const auto tag = [](const char* name, const std::string& classes) {
    return classes.empty() ? fmt::format("<{}>", name)
                           : fmt::format("<{} class=\"{}\">", name, classes);
  };
  std::string text = tag("tr", style);
  for (const Cell& cell : cells) {
    const char* const name = cell.head ? "th" : "td";
    text += fmt::format("{}{}</{}>", tag(name, cell.style), cell.html, name);
  }
  return text + "</tr>\n";
}

std::string html_table(std::vector<Cell> heads, const std::string& rows, const std::string& style) {
  for (Cell& head : heads) head.head = true;
  return fmt::format(
      "<div class=\"scroll\"><table{}>\n<thead>{}</thead>\n<tbody>{}</tbody></table></div>\n",
      style.empty() ? "" : fmt::format(" class=\"{}\"", style), html_row(heads), rows);
}

std::string html_table(const Cells& heads, const std::vector<Cells>& rows, size_t texts) {
  const auto escaped = [&](const Cells& cells) {
    std::vector<Cell> made;
    for (size_t i = 0; i < cells.size(); ++i)
      made.push_back({html(cells[i]), i < texts ? "" : "n"});
    return made;
  };
  std::string text;
  for (const Cells& row : rows) text += html_row(escaped(row));
  return html_table(escaped(heads), text);
}

std::string html_section(const Section& section) {
  if (section.content.empty()) return "";
  return fmt::format(
      "<section id=\"{}\">\n<header><h2>{}</h2><span class=\"s "
      "q\">{}</span></header>\n{}</section>\n",
      section.id, section.heading, section.note, section.content);
}

std::string html_state(const std::string& state, const std::string& text) {
  return fmt::format("<span class=\"state {}\">{}</span>", state, html(text));
}

std::string html_contents(const std::vector<Section>& sections) {
  std::string text;
  for (const Section& section : sections)
    if (!section.content.empty())
      text += fmt::format("<a href=\"#{}\">{}</a>", section.id, section.heading);
  return text;
}

std::string html_fold(const std::string& summary, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", html(summary), content);
}

std::string html_drawing(const char* name, const std::string& content) {
  const std::string without = content.empty() ? "" : "<noscript>" + content + "</noscript>\n";
  return fmt::format("<div class=\"drawn\" data-draw=\"{}\"></div>\n{}", name, without);
}

std::string html_command(const std::string& command) {
  return fmt::format(
      "<div class=\"cmd\"><code>{}</code><button type=\"button\" data-copy>copy</button></div>\n",
      html(command));
}

std::string html_data(const char* id, const std::string& json) {
  std::string safe;
  for (size_t at = 0, length = 0; at < json.size(); at += length) {
    length = std::max<size_t>(1, utf8_length(std::string_view(json).substr(at)));
    const std::string_view character = std::string_view(json).substr(at, length);
    const std::string shown = escaped(character);
    if (character == "<")
      safe += "\\u003c";
    else
      safe += shown == character ? shown : "\\" + shown;  // a script reads what escaped() returns
  }
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, safe);
}

}  // namespace heed
