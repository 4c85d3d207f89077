#include "lab/report/html.h"

#include <fmt/format.h>

#include "apps/support/canvas.h"

namespace heed {

std::string html(std::string_view text) { return xml_escaped(text); }

std::string html_table(const Cells& heads, const std::vector<Cells>& rows, size_t texts) {
  const auto line = [&](const Cells& cells, const char* tag) {
    std::string text = "<tr>";
    for (size_t i = 0; i < cells.size(); ++i)
      text +=
          fmt::format("<{0}{1}>{2}</{0}>", tag, i < texts ? "" : " class=\"n\"", html(cells[i]));
    return text + "</tr>\n";
  };
  std::string text = "<div class=\"scroll\"><table>\n<thead>" + line(heads, "th") + "</thead>\n";
  for (const Cells& row : rows) text += line(row, "td");
  return text + "</table></div>\n";
}

std::string html_section(const Section& section) {
  if (section.content.empty()) return "";
  return fmt::format(
      "<section id=\"{}\">\n<header><h2>{}</h2><span class=\"s "
      "q\">{}</span></header>\n{}</section>\n",
      section.id, section.heading, section.note, section.content);
}

std::string html_contents(const std::vector<Section>& sections) {
  std::string text;
  for (const Section& section : sections)
    if (!section.content.empty())
      text += fmt::format("<a href=\"#{}\">{}</a>", section.id, section.heading);
  return text;
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
  for (const char c : json) c == '<' ? safe += "\\u003c" : safe += c;
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, safe);
}

}  // namespace heed
