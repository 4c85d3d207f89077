#include "data/files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/check.h"
#include "data/file_splits.h"
#include "data/packed_file.h"

namespace heed {

constexpr int64_t max_bytes = int64_t{1} << 31;

static void check_text(const std::string& path, std::string_view text) {
  const std::string foreign = foreign_format(text);
  check_input(foreign.empty(), "{}: {}", path, foreign);
  const auto line_of = [&](size_t offset) {
    return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  };
  const size_t nul = text.find('\0');
  check_input(
      nul == text.npos,
      "{}: line {}: a NUL byte at offset {}: this is not text (`level` = \"byte\" reads any file)",
      path, nul == text.npos ? 0 : line_of(nul), nul);
  const size_t invalid = find_invalid_utf8(text);
  check_input(invalid == text.npos,
              "{}: line {}: not valid UTF-8 at byte offset {}: convert the file (iconv -t UTF-8) "
              "or read it with `level` = \"byte\"",
              path, invalid == text.npos ? 0 : line_of(invalid), invalid);
}

int64_t file_size(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  check_input(status.type() != fs::file_type::not_found, "{}: there is no such file", path);
  check_input(status.type() != fs::file_type::directory, "{} is a folder: name a file in it", path);
  check_input(!error, "{}: {}", path, error.message());
  check_input(status.type() == fs::file_type::regular, "{} is not a regular file", path);
  const uintmax_t bytes = fs::file_size(path, error);
  check_input(!error, "{}: {}", path, error.message());
  return static_cast<int64_t>(bytes);
}

std::string read_bytes(const std::string& path, int64_t most) {
  const int64_t bytes = file_size(path);
  check_input(bytes <= most, "{} has {} MiB, expected at most {}", path, bytes >> 20, most >> 20);
  std::ifstream in(path, std::ios::binary);
  check_input(in.is_open(), "{} cannot be read: {}", path, std::strerror(errno));
  std::string text(static_cast<size_t>(bytes), '\0');
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  check_input(!in.bad(), "{} cannot be read to its end", path);
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

static std::string read_packed(const std::string& path, int64_t most) {
  PackedFile file(path);
  std::string text;
  constexpr size_t part = size_t{1} << 22;
  for (size_t count = part; count == part;) {
    const size_t size = text.size();
    text.resize(size + part);
    count = file.read({reinterpret_cast<uint8_t*>(text.data() + size), part});
    text.resize(size + count);
    check_input(std::ssize(text) <= most, "{} has more than {} MiB unpacked", path, most >> 20);
  }
  return text;
}

void Files::add(const std::string& path, std::initializer_list<std::string_view> content) {
  paths_.push_back(path);
  uint64_t hash = fingerprint();
  for (const std::string_view part : content) hash = stable_hash(part, hash);
  fingerprints_.push_back(hash);
}

std::string foreign_format(std::string_view bytes) {
  using namespace std::string_view_literals;
  constexpr std::pair<std::string_view, const char*> formats[] = {
      {"\x1F\x8B"sv, "compressed by gzip, not text: unpack it with gunzip"},
      {"PK\x03\x04"sv, "a ZIP archive, such as .xlsx or .docx, not text: export it as text"},
      {"\xFF\xFE\0\0"sv, "UTF-32, not UTF-8: convert it with iconv -f UTF-32 -t UTF-8"},
      {"\0\0\xFE\xFF"sv, "UTF-32, not UTF-8: convert it with iconv -f UTF-32 -t UTF-8"},
      {"\xFF\xFE"sv, "UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8"},
      {"\xFE\xFF"sv, "UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8"}};
  for (const auto& [start, what] : formats)
    if (bytes.starts_with(start)) return what;
  // Without a mark: two characters below U+0100.
  if (bytes.size() < 4 || (bytes[0] == 0) == (bytes[1] == 0)) return "";
  if ((bytes[0] == 0) != (bytes[2] == 0) || (bytes[1] == 0) != (bytes[3] == 0)) return "";
  const char* const order = bytes[0] == 0 ? "BE" : "LE";
  return fmt::format("UTF-16, not UTF-8: convert it with iconv -f UTF-16{} -t UTF-8", order);
}

void unify_line_ends(std::string& text) {
  size_t to = text.find('\r');
  if (to == text.npos) return;
  for (size_t from = to; from < text.size(); ++from) {
    const bool ends = text[from] == '\r' && (from + 1 == text.size() || text[from + 1] == '\n');
    if (!ends) text[to++] = text[from];
  }
  text.resize(to);
}

std::string_view Files::read(const std::string& path, Level level, bool unify) {
  std::string& kept = texts_.emplace_back(path.ends_with(".gz") ? read_packed(path, max_bytes)
                                                                : read_bytes(path, max_bytes));
  if (level != Level::byte) check_text(path, kept);
  if (unify) unify_line_ends(kept);
  add(path, {kept});
  std::string_view text = kept;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  check_input(!text.empty(), "{} is empty", path);
  return text;
}

}  // namespace heed
