#include "data/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/check.h"
#include "data/file_splits.h"

namespace heed {

namespace {

constexpr int64_t max_bytes = int64_t{1} << 31;

void check_text(const std::string& path, std::string_view text) {
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

}  // namespace

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

void Files::add(const std::string& path, std::initializer_list<std::string_view> content) {
  paths_.push_back(path);
  uint64_t hash = fingerprint();
  for (const std::string_view part : content) hash = stable_hash(part, hash);
  fingerprints_.push_back(hash);
}

std::string_view Files::read(const std::string& path, Level level) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::string& kept = texts_.emplace_back(read_bytes(path, max_bytes));
  std::string_view text = kept;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  check_input(!text.empty(), "{} is empty", path);
  if (level != Level::byte) check_text(path, kept);
  add(path, {kept});
  return text;
}

}  // namespace heed
