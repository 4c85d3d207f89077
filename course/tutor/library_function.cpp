#include "course/tutor/library_function.h"

#include <algorithm>
#include <vector>

#include "apps/support/files.h"
#include "apps/support/lines.h"
#include "core/check.h"

namespace heed {
namespace {

size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_comment(const std::string& line) { return line.compare(indent_of(line), 2, "//") == 0; }

// Returns whether a line of code has this name as a word.
bool names(const std::string& line, const std::string& name) {
  const size_t at = line.find(name);
  if (at == std::string::npos || line[0] == '#' || is_comment(line)) return false;
  const char before = at == 0 ? ' ' : line[at - 1], after = (line + " ")[at + name.size()];
  return (before == ' ' || before == ':' || before == '*' || before == '&') &&
         (after == '(' || after == ' ' || after == ';');
}

using Lines = std::vector<std::string>;

// The first line of the definition of `name`; else of its declaration, such as that of a member.
Lines::const_iterator definition_in(const Lines& lines, const std::string& name) {
  const auto defines = [&](const std::string& line) {
    return names(line, name) && indent_of(line) == 0 && !line.ends_with(';');
  };
  const auto found = std::find_if(lines.begin(), lines.end(), defines);
  if (found != lines.end()) return found;
  const size_t scope = name.rfind("::");
  const std::string member = scope == std::string::npos ? name : name.substr(scope + 2);
  return std::find_if(lines.begin(), lines.end(),
                      [&](const std::string& line) { return names(line, member); });
}

// What the link in background[middle] names, such as [`name`](../../../core/x.cpp).
LibraryFunction linked(const std::string& sources, const std::string& background, size_t middle) {
  const size_t name_at = background.rfind("[`", middle) + 2;
  const size_t path_at = background.find("../../../", middle) + 9;
  const std::string name = background.substr(name_at, middle - name_at);
  LibraryFunction found;
  found.file = background.substr(path_at, background.find(')', path_at) - path_at);

  const auto lines = text_lines(read_file(in_folder(sources, found.file), "source", 1 << 22));
  const auto start = definition_in(lines, name);
  check(start != lines.end(), "{}: no definition of {}", found.file, name);
  auto first = start;
  while (first != lines.begin() && is_comment(*(first - 1))) --first;
  const std::string end = std::string(indent_of(*start), ' ') + "}";
  const auto last = start->find(';') != std::string::npos
                        ? start
                        : std::find_if(start, lines.end(), [&](const std::string& line) {
                            return line.starts_with(end);
                          });
  check(last != lines.end(), "{}: the definition of {} does not end", found.file, name);
  found.first = first - lines.begin() + 1;
  found.last = last - lines.begin() + 1;
  for (auto line = first; line <= last; ++line) found.text += *line + "\n";
  return found;
}

}  // namespace

std::vector<LibraryFunction> library_functions(const std::string& sources,
                                               const std::string& background) {
  size_t middle = background.find("`](../../../");
  check(middle != std::string::npos, "the background links to no function of the library");
  std::vector<LibraryFunction> functions = {linked(sources, background, middle)};
  while (background.substr(background.find(')', middle), 8) == ") and [`") {
    middle = background.find("`](", background.find(')', middle));
    functions.push_back(linked(sources, background, middle));
  }
  return functions;
}

}  // namespace heed
