#include "course/tutor/chapter_text.h"

#include <algorithm>
#include <cctype>

#include "apps/support/files.h"

namespace heed {

std::string heading_of(const std::string& text) {
  const size_t first = text.starts_with("# ") ? 2 : 0;
  return text.substr(first, text.find('\n') - first);
}

std::vector<std::string> names_after(std::string_view words, const std::string& text) {
  std::vector<std::string> names;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at)) {
    at += words.size();
    const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-", at);
    names.push_back(text.substr(at, end - at));
  }
  return names;
}

std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t first = 0; first < text.size();) {
    const size_t end = std::min(text.find('\n', first), text.size());
    lines.push_back(text.substr(first, end - first));
    first = end + 1;
  }
  return lines;
}

std::vector<std::string> chapter_texts(const std::string& folder) {
  std::vector<std::string> texts;
  for (const std::string& file : names_in_folder(folder))
    if (file.ends_with(".md") && std::isdigit(static_cast<unsigned char>(file[0])))
      texts.push_back(read_file(in_folder(folder, file), "chapter", 1 << 20));
  return texts;
}

}  // namespace heed
