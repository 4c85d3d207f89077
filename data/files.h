// Reads text files whole, and rejects what is not text with the file and the line.
//
// All text that heed reads has the same form, in files of data, in --input and in configs: UTF-8,
// without a byte order mark at its start, and with \n or \r\n at the end of a line.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "data/split.h"
#include "data/tokens.h"

namespace heed {

// In bytes. Throws InputError for a path that is not an existing regular file.
int64_t file_size(const std::string& path);
// Returns the content. Throws InputError for a path that is not an existing regular file, for a
// larger file, and if it cannot be read.
std::string read_bytes(const std::string& path, int64_t most);

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Returns what bytes are if their first ones show that they are not UTF-8, and how to convert them:
// UTF-16, UTF-32, gzip or ZIP. Otherwise returns "".
std::string foreign_format(std::string_view bytes);

// Replaces each \r\n by \n, and removes a \r at the end.
void unify_line_ends(std::string& text);

// Keeps the text of every file that it reads, at most 2 GiB each, so that views into it stay valid.
class Files {
 public:
  // Returns the file's text without a byte order mark. Unpacks a file whose name ends in .gz.
  // Throws InputError for a path that is not an existing regular file, for an empty or too large
  // file and, except at byte level, for a NUL byte or invalid UTF-8. With `unify` each line ends
  // with \n, also in the fingerprint: for text whose line ends are tokens.
  std::string_view read(const std::string& path, Level level, bool unify = false);

  // Adds a file that was read elsewhere to the paths and the fingerprint.
  void add(const std::string& path, std::initializer_list<std::string_view> content);

  const std::vector<std::string>& paths() const { return paths_; }
  // Returns one hash per file, in order: of the contents of all files up to it.
  const std::vector<uint64_t>& fingerprints() const { return fingerprints_; }
  uint64_t fingerprint() const { return fingerprints_.empty() ? hash_start : fingerprints_.back(); }

 private:
  std::deque<std::string> texts_;
  std::vector<std::string> paths_;
  std::vector<uint64_t> fingerprints_;
};

// Calls visit(line, number) for each line, counted from 1, without its \n or \r\n.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line, number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace heed
