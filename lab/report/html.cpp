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

std::string html_section(const char* id, const char* heading, const std::string& content) {
  if (content.empty()) return "";
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, heading, content);
}

std::string html_data(const char* id, const std::string& json) {
  std::string safe;
  for (const char c : json) c == '<' ? safe += "\\u003c" : safe += c;
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, safe);
}

}  // namespace heed
