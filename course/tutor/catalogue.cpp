#include "course/tutor/catalogue.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "apps/support/files.h"

namespace heed {
namespace {

// The number before the first " minute" of the text; 0 if there is none.
int64_t minutes_in(const std::string& text) {
  const size_t end = text.find(" minute");
  if (end == std::string::npos) return 0;
  return std::atoll(text.c_str() + text.find_last_not_of("0123456789", end - 1) + 1);
}

// "# 4. Attention\n…" → "4. Attention"
std::string heading_of(const std::string& text) {
  const size_t first = text.starts_with("# ") ? 2 : 0;
  return text.substr(first, text.find('\n') - first);
}

// The names after each `words`, such as "heed course start ", in order.
std::vector<std::string> names_after(std::string_view words, const std::string& text) {
  std::vector<std::string> names;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at)) {
    at += words.size();
    const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-", at);
    names.push_back(text.substr(at, end - at));
  }
  return names;
}

// The texts of the chapters, in order: the files in the folder that begin with a number.
std::vector<std::string> chapter_texts(const std::string& folder) {
  std::vector<std::string> texts;
  for (const std::string& file : names_in_folder(folder))
    if (file.ends_with(".md") && std::isdigit(static_cast<unsigned char>(file[0])))
      texts.push_back(read_file(in_folder(folder, file), "chapter", 1 << 20));
  return texts;
}

}  // namespace

std::string CourseItem::file(const std::string& file_name) const {
  return read_file(in_folder(folder, file_name), "text of the course", 1 << 20);
}

std::string CourseItem::shown(const std::string& file_name) const {
  const std::filesystem::path here(folder);
  const std::filesystem::path own = "course" / here.parent_path().filename() / here.filename();
  std::string text = file(file_name);
  for (size_t middle = 0; (middle = text.find("](", middle)) != text.npos; ++middle) {
    const size_t begin = text.rfind('[', middle), end = text.find(')', middle);
    const std::string target = text.substr(middle + 2, end - middle - 2);
    if (target.find('.') == target.npos || target.find(' ') != target.npos) continue;  // code
    const std::string path = (own / target).lexically_normal().string();
    const std::string words = text.substr(begin + 1, middle - begin - 1);
    const bool is_path = path.ends_with(words);
    text.replace(begin, end + 1 - begin, is_path ? path : fmt::format("{} ({})", words, path));
  }
  return text;
}

std::vector<CourseItem> items_in(const CourseFolder& folder) {
  std::vector<CourseItem> items;
  for (const std::string& name : names_in_folder(folder.items)) {
    CourseItem item{name, "", in_folder(folder.items, name), ""};
    if (!exists(in_folder(item.folder, folder.file))) continue;
    item.title = heading_of(item.file(folder.file));
    items.push_back(std::move(item));
  }
  auto next = items.begin();
  for (const std::string& chapter : chapter_texts(folder.chapters))
    for (const std::string& name : names_after(folder.name_of, chapter)) {
      const auto found = std::ranges::find(next, items.end(), name, &CourseItem::name);
      if (found == items.end()) continue;
      found->chapter = heading_of(chapter);
      std::rotate(next++, found, found + 1);
    }
  return items;
}

Exercise::Exercise(const CourseItem& item) : CourseItem(item) {
  const std::string head = file("task.md").substr(0, 500);
  minutes = minutes_in(head);
  fast_track = head.find("On the fast track") != std::string::npos;
}

std::vector<std::string> Exercise::hints() const {
  std::vector<std::string> all;
  std::string rest = shown("hints.md");
  constexpr std::string_view separator = "\n---\n";
  for (size_t end; (end = rest.find(separator)) != std::string::npos;) {
    all.push_back(rest.substr(0, end + 1));
    rest.erase(0, end + separator.size());
  }
  all.push_back(rest);
  return all;
}

std::vector<Exercise> course_exercises(const Workshop& workshop) {
  const auto items =
      items_in({workshop.chapters(), workshop.exercises(), "task.md", "heed course start "});
  return {items.begin(), items.end()};
}

}  // namespace heed
