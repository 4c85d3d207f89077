#include "data/rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "core/check.h"

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
    check_input(tabs == 1, "{}: line {} has {} column{}, not two with a tab between", path, number,
                tabs + 1, tabs == 0 ? "" : "s");
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
              "{} has {} lines and {} has {}: line {} of the longer one has no partner", path,
              sources, target_path, targets, std::min(sources, targets) + 1);
  std::erase_if(rows, [](const Row& row) { return row.source.empty() && row.target.empty(); });
  return rows;
}

// A label before a tab is the target of a labelled line.
std::vector<Row> read_labelled(const std::string& path, std::string_view text) {
  std::vector<Row> rows = read_columns(path, text);
  for (Row& row : rows) {
    std::swap(row.source, row.target);
    check_input(!row.target.empty(), "{}: line {} has no label before the tab", path, row.line);
    check_input(find_invalid_utf8(row.target) == std::string_view::npos,
                "{}: line {}: the label {} is not valid UTF-8", path, row.line,
                in_quotes(row.target));
  }
  return rows;
}

std::vector<Row> read_file(const DataOptions& options, Files& files, const std::string& path,
                           const std::string& target_path) {
  const std::string_view text = files.read(path, options.level);
  if (options.kind == DataKind::lines) return read_lines(path, text);
  if (options.kind == DataKind::labelled) return read_labelled(path, text);
  if (target_path.empty()) return read_columns(path, text);
  return read_parallel(path, text, target_path, files.read(target_path, options.level));
}

// Leaves the lines whose every character is in data.alphabet.
void keep_alphabet(const DataOptions& options, SplitRows& splits, std::vector<std::string>& notes) {
  const Level level = options.level == Level::byte ? Level::byte : Level::character;
  std::unordered_set<std::string_view> alphabet;
  for_each_token(level, options.alphabet, [&](std::string_view c) { alphabet.insert(c); });
  const auto is_foreign = [&](const Row& row) {
    bool foreign = false;
    for_each_token(level, row.target,
                   [&](std::string_view c) { foreign |= !alphabet.contains(c); });
    return foreign;
  };
  size_t skipped = 0;
  for (std::vector<Row>& rows : splits) skipped += std::erase_if(rows, is_foreign);
  notes.push_back(fmt::format("{} lines skipped for a character outside data.alphabet", skipped));
}

// What decides the split and what may not be in two: the input.
uint64_t hash_of(const Row& row) {
  return stable_hash(row.source.empty() ? row.target : row.source);
}

// Moves the shares of the training rows to the splits that have no file of their own.
void hold_out(const DataOptions& options, SplitRows& splits) {
  const Shares shares{options.val_path.empty() ? options.val_fraction : 0,
                      options.test_path.empty() ? options.test_fraction : 0};
  std::vector<Row> rows;
  rows.swap(splits[0]);
  for (const Row& row : rows) splits[static_cast<size_t>(shares.of(hash_of(row)))].push_back(row);
  const std::string& path = options.path.empty() ? options.paths[0] : options.path;
  check_input(!splits[0].empty(), "{}: there is no line to train on", path);
  check_input(
      shares.val == 0 || !splits[1].empty(),
      "{}: none of {} lines falls in the validation share: raise data.val_fraction, or 0 for "
      "no validation",
      path, rows.size());
  check_input(shares.test == 0 || !splits[2].empty(),
              "{}: none of {} lines falls in the test share: raise data.test_fraction, or 0 for no "
              "test",
              path, rows.size());
}

void note_common_inputs(const SplitRows& splits, Split split, std::vector<std::string>& notes) {
  std::unordered_set<uint64_t> trained;
  for (const Row& row : splits[0]) trained.insert(hash_of(row));
  const std::vector<Row>& rows = splits[static_cast<size_t>(split)];
  const auto common = std::count_if(rows.begin(), rows.end(),
                                    [&](const Row& row) { return trained.contains(hash_of(row)); });
  if (common > 0)
    notes.push_back(fmt::format("{}: {} of {} inputs are in the training data too",
                                split_names[static_cast<int>(split)], common, rows.size()));
}

}  // namespace

SplitRows read_rows(const DataOptions& options, Files& files, std::vector<std::string>& notes) {
  SplitRows splits;
  std::vector<Row>& train = splits[0];
  for (const std::string& path :
       options.paths.empty() ? std::span(&options.path, 1) : std::span(options.paths)) {
    const std::vector<Row> rows = read_file(options, files, path, options.target_path);
    train.insert(train.end(), rows.begin(), rows.end());
  }
  if (!options.val_path.empty())
    splits[1] = read_file(options, files, options.val_path, options.val_target_path);
  if (!options.test_path.empty())
    splits[2] = read_file(options, files, options.test_path, options.test_target_path);
  if (!options.alphabet.empty()) keep_alphabet(options, splits, notes);
  hold_out(options, splits);
  if (!options.val_path.empty()) note_common_inputs(splits, Split::val, notes);
  if (!options.test_path.empty()) note_common_inputs(splits, Split::test, notes);
  return splits;
}

}  // namespace heed
