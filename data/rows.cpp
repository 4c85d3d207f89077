#include "data/rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_set>
#include <utility>

#include "core/check.h"
#include "core/text.h"
#include "data/file_splits.h"

namespace heed {

namespace {

std::vector<Row> read_lines(const std::string& path, std::string_view text) {
  std::vector<Row> rows;
  for_each_line(text, [&](std::string_view line, int64_t number) {
    if (!line.empty()) rows.push_back({{}, line, path, number});
  });
  return rows;
}

std::vector<Row> read_columns(const std::string& path, std::string_view text) {
  std::vector<Row> rows;
  for_each_line(text, [&](std::string_view line, int64_t number) {
    if (line.empty()) return;
    const auto tabs = std::count(line.begin(), line.end(), '\t');
    check_input(tabs == 1, "{}: line {} has {} column{}, expected two with a tab between", path,
                number, tabs + 1, tabs == 0 ? "" : "s");
    const size_t tab = line.find('\t');
    rows.push_back({line.substr(0, tab), line.substr(tab + 1), path, number});
  });
  return rows;
}

std::vector<Row> read_parallel(const std::string& path, std::string_view text,
                               const std::string& target_path, std::string_view target_text) {
  std::vector<Row> rows;
  for_each_line(text, [&](std::string_view line, int64_t number) {
    rows.push_back({line, {}, path, number});
  });
  const size_t sources = rows.size();
  size_t targets = 0;
  for_each_line(target_text, [&](std::string_view line, int64_t) {
    if (targets < sources) rows[targets].target = line;
    ++targets;
  });
  check_input(sources == targets,
              "{} has {} lines and {} has {}: line {} of the longer file has no partner", path,
              sources, target_path, targets, std::min(sources, targets) + 1);
  std::erase_if(rows, [](const Row& row) { return row.source.empty() && row.target.empty(); });
  return rows;
}

// Rejects a file of "text, tab, label": there the first column has a value for nearly every line,
// and the second has few.
void check_columns(const std::string& path, const std::vector<Row>& rows) {
  std::unordered_set<std::string_view> labels, texts;
  for (const Row& row : rows) {
    labels.insert(row.target);
    texts.insert(row.source);
  }
  check_input(2 * labels.size() <= rows.size() || 4 * texts.size() > labels.size(),
              "{}: the columns seem to be swapped: expected the label before the tab and the text "
              "after it, found {} different labels and {} different texts in {} lines",
              path, labels.size(), texts.size(), rows.size());
}

// The label of a line, before the tab, is its target.
std::vector<Row> read_labelled(const std::string& path, std::string_view text) {
  std::vector<Row> rows = read_columns(path, text);
  for (Row& row : rows) {
    std::swap(row.source, row.target);
    check_input(!row.target.empty(), "{}: line {} has no label before the tab", path, row.line);
    check_input(find_invalid_utf8(row.target) == std::string_view::npos,
                "{}: line {}: the label {} is not valid UTF-8", path, row.line,
                in_quotes(row.target));
  }
  check_columns(path, rows);
  return rows;
}

std::vector<Row> read_file(const DataOptions& options, Files& files, const std::string& path,
                           const std::string& target_path) {
  const std::string_view text = files.read(path, options.level);
  if (options.kind == &data_kinds::lines) return read_lines(path, text);
  if (options.kind == &data_kinds::labelled) return read_labelled(path, text);
  if (target_path.empty()) return read_columns(path, text);
  return read_parallel(path, text, target_path, files.read(target_path, options.level));
}

// Drops the lines with a character outside data.alphabet.
void keep_alphabet(const DataOptions& options, SplitRows& splits, std::vector<std::string>& notes) {
  const Level level = options.level == Level::byte ? Level::byte : Level::character;
  std::unordered_set<std::string_view> alphabet;
  for_each_token(level, options.alphabet, [&](std::string_view c) { alphabet.insert(c); });
  const auto has_other = [&](const Row& row) {
    bool other = false;
    for_each_token(level, row.target, [&](std::string_view c) { other |= !alphabet.contains(c); });
    return other;
  };
  size_t skipped = 0;
  for (auto& [split, rows] : splits) skipped += std::erase_if(rows, has_other);
  notes.push_back(fmt::format("{} lines skipped for a character outside data.alphabet", skipped));
}

// Hash of the input, which decides the split and may not be in two.
uint64_t hash_of(const Row& row) {
  return stable_hash(row.source.empty() ? row.target : row.source);
}

}  // namespace

SplitRows read_rows(const DataOptions& options, Files& files, std::vector<std::string>& notes) {
  SplitRows rows;  // by file
  for (const std::string& path :
       options.paths.empty() ? std::span(&options.path, 1) : std::span(options.paths)) {
    const std::vector<Row> more = read_file(options, files, path, options.target_path);
    rows[Split::train].insert(rows[Split::train].end(), more.begin(), more.end());
  }
  if (!options.val_path.empty())
    rows[Split::val] = read_file(options, files, options.val_path, options.val_target_path);
  if (!options.test_path.empty())
    rows[Split::test] = read_file(options, files, options.test_path, options.test_target_path);
  if (!options.alphabet.empty()) keep_alphabet(options, rows, notes);

  std::map<Split, std::vector<uint64_t>> hashes;
  for (const auto& [file, some] : rows)
    std::transform(some.begin(), some.end(), std::back_inserter(hashes[file]), hash_of);
  SplitRows splits;
  for (const auto& [split, indices] :
       assign_splits(hashes, {options.val_fraction, options.test_fraction},
                     options.splits == SplitRule::shifted, files.paths()[0], "line", notes))
    for (const size_t i : indices)
      splits[split].push_back(rows[hashes.contains(split) ? split : Split::train][i]);
  return splits;
}

}  // namespace heed
