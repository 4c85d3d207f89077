// The kinds "lines", "pairs" and "labelled": rows of text become pairs of sequences of ids.
//
//   lines       x is empty              y is the line           language_model
//   pairs       x is the source side    y is the target side    seq2seq
//   labelled    x is the text           y is the label          classifier
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

#include "core/check.h"
#include "core/text.h"
#include "data/corpus.h"
#include "data/file_splits.h"
#include "data/files.h"
#include "data/framing.h"
#include "data/text_encoder.h"

namespace heed {

namespace {

// A line of a file, still text. The examples of a file are one per line.
struct Row {
  std::string_view source, target;  // lines: source is empty; labelled: target is the label
  std::string_view path;            // of the file
  int64_t line;                     // number of the line, from 1
};

using SplitRows = std::map<Split, std::vector<Row>>;  // without those that have no rows

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

// Rejects a file of "text, tab, label": there the first column has many values, and the second few.
void check_columns(const std::string& path, const std::vector<Row>& rows) {
  std::unordered_set<std::string_view> labels, texts;
  for (const Row& row : rows) {
    labels.insert(row.target);
    texts.insert(row.source);
  }
  check_input(4 * texts.size() > labels.size(),
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
  for (auto& [split, rows] : splits) {
    if (rows.empty()) continue;
    const std::string_view path = rows[0].path;
    skipped += std::erase_if(rows, has_other);
    check_input(!rows.empty(), "{}: each line has a character outside `alphabet`", path);
  }
  notes.push_back(fmt::format("{} lines skipped for a character outside `alphabet`", skipped));
}

// Hash of the input, which decides the split and may not be in two.
uint64_t hash_of(const Row& row) {
  return stable_hash(row.source.empty() ? row.target : row.source);
}

// Reads the rows of every split: from its own file if the options name one, else by hash of the
// source (of lines: the line). Skips blank lines. Adds to `notes` the number of lines skipped for
// their alphabet, and of inputs that validation or test files share with training. Throws
// InputError for a file that Files rejects, a line with the wrong number of columns, parallel files
// of different lengths, a labelled file with swapped columns, and an empty split.
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
  for (const auto& [split, indices] : assign_splits(
           hashes, {options.val_fraction, options.test_fraction}, files.paths()[0], "line", notes))
    for (const size_t i : indices)
      splits[split].push_back(rows[hashes.contains(split) ? split : Split::train][i]);
  return splits;
}

// Many sequences in one array.
class Sequences {
 public:
  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  std::span<const int32_t> operator[](int64_t i) const {
    const size_t start = starts_[static_cast<size_t>(i)];
    return std::span(ids_).subspan(start, starts_[static_cast<size_t>(i) + 1] - start);
  }
  void add(std::span<const int32_t> sequence) {
    ids_.insert(ids_.end(), sequence.begin(), sequence.end());
    starts_.push_back(ids_.size());
  }

 private:
  std::vector<int32_t> ids_;
  std::vector<size_t> starts_ = {0};
};

struct Encoded {
  Sequences x, y;
};

class RowLoader {
 public:
  RowLoader(const DataOptions& options, Files& files, const ExistingVocabulary& existing)
      : options_(options),
        first_(options, existing, has_two(options, existing) ? existing.source : existing.target),
        second_(options, existing, existing.target),
        source_(first_),
        target_(has_two(options, existing) ? second_ : first_),
        rows_(read_rows(options, files, corpus_.notes)) {}

  Corpus load() {
    if (std::ranges::none_of(train(), [this](const Row& row) { return is_complete(row); }))
      note_split("train", train(), 0, std::ssize(train()), 0);
    choose_vocabularies();
    if (is_labelled()) choose_labels();
    std::map<Split, Encoded> splits;
    for (const auto& [split, rows] : rows_)
      splits[split] = encode(rows, name_of(split_names, split));
    corpus_.target = target_.codec();
    corpus_.source = &source_ == &target_ ? corpus_.target : source_.codec();
    corpus_.notes.push_back(
        &source_ == &target_
            ? fmt::format("vocabulary of {}", corpus_.source->vocabulary().size())
            : fmt::format("vocabularies of {} and {}", corpus_.source->vocabulary().size(),
                          corpus_.target->vocabulary().size()));
    for (auto& [split, encoded] : splits) store(name_of(split_names, split), encoded);
    return std::move(corpus_);
  }

 private:
  // Returns whether the two sides have a vocabulary each.
  static bool has_two(const DataOptions& options, const ExistingVocabulary& existing) {
    if (options.kind != &data_kinds::pairs) return false;
    const bool two = existing.source != existing.target;
    check_input(!two || !options.share_vocabulary,
                "`share_vocabulary` = true needs one vocabulary for both sides, and {} has two",
                existing.origin);
    return existing.target ? two : !options.share_vocabulary;
  }
  bool is_labelled() const { return options_.kind == &data_kinds::labelled; }
  bool has_source() const { return options_.kind != &data_kinds::lines; }
  const std::vector<Row>& train() const { return rows_.at(Split::train); }
  // Returns whether each side of a row has tokens.
  bool is_complete(const Row& row) const {
    const auto has_tokens = [this](std::string_view text) {
      return options_.level == Level::word ? text.find_first_not_of(white_space) != text.npos
                                           : !text.empty();
    };
    return (!has_source() || has_tokens(row.source)) && (is_labelled() || has_tokens(row.target));
  }

  void choose_vocabularies() {
    for (const Row& row : train()) {
      if (has_source()) source_.count(row.source);
      if (!is_labelled()) target_.count(row.target);
    }
    target_.choose(is_labelled() ? std::vector<std::string>{}
                                 : std::vector<std::string>{begin_token, end_token},
                   corpus_.notes);
    if (&source_ != &target_) source_.choose({}, corpus_.notes);
  }

  void choose_labels() {
    std::set<std::string_view> labels;
    for (const Row& row : train()) labels.insert(row.target);
    check_input(labels.size() >= 2,
                "{}: all training lines have the label {}: at least two labels are needed",
                train()[0].path, in_quotes(*labels.begin()));
    corpus_.labels.assign(labels.begin(), labels.end());
  }

  int32_t label_of(const Row& row) const {
    const std::vector<std::string>& labels = corpus_.labels;
    const auto found = std::lower_bound(labels.begin(), labels.end(), row.target);
    check_input(
        found != labels.end() && *found == row.target,
        "{}: line {}: the label {} does not occur in training, which has {} labels, {} to {}",
        row.path, row.line, in_quotes(row.target), labels.size(), in_quotes(labels.front()),
        in_quotes(labels.back()));
    return static_cast<int32_t>(found - labels.begin());
  }

  Encoded encode(const std::vector<Row>& rows, const char* split) {
    Encoded encoded;
    std::vector<int32_t> x, y;
    int64_t empty = 0, too_long = 0;
    for (const Row& row : rows) {
      x.clear();
      y.clear();
      if (has_source()) source_.append(row.source, x);
      is_labelled() ? y.push_back(label_of(row)) : target_.append(row.target, y);
      if ((has_source() && x.empty()) || y.empty()) {
        ++empty;
      } else if (options_.max_length > 0 &&
                 static_cast<int64_t>(std::max(x.size(), y.size())) > options_.max_length) {
        ++too_long;
      } else {
        if (options_.kind == &data_kinds::lines)
          corpus_.target_bytes[split] += std::ssize(row.target) + 1;
        encoded.x.add(x);
        encoded.y.add(y);
      }
    }
    note_split(split, rows, encoded.y.size(), empty, too_long);
    return encoded;
  }

  void note_split(const char* split, const std::vector<Row>& rows, int64_t kept, int64_t empty,
                  int64_t too_long) {
    std::string note = fmt::format("{}: {} examples", split, kept);
    if (empty > 0) note += fmt::format(", dropped {} with an empty side", empty);
    if (too_long > 0)
      note +=
          fmt::format(", dropped {} longer than `max_length` = {}", too_long, options_.max_length);
    check_input(kept > 0, "{}: no example is left. {}", rows[0].path, note);
    corpus_.notes.push_back(note);
  }

  void store(const char* name, Encoded& encoded) {
    const Layout layout(options_.kind->framings[0], corpus_.target->vocabulary());
    Dataset dataset{encoded.y.size()};
    dataset.get = [pairs = std::move(encoded), layout](int64_t i, Example& example) {
      layout.lay_out(pairs.x[i], pairs.y[i], example);
    };
    Example example;
    for (int64_t i = 0; i < dataset.size; ++i) {
      dataset.get(i, example);
      corpus_.longest_source =
          std::max<int64_t>(corpus_.longest_source, std::ssize(example.source));
      corpus_.longest_input = std::max<int64_t>(corpus_.longest_input, std::ssize(example.input));
    }
    corpus_.splits[name] = std::move(dataset);
  }

  const DataOptions& options_;
  Corpus corpus_;
  TextEncoder first_, second_;
  TextEncoder &source_, &target_;  // the same object if there is one vocabulary
  SplitRows rows_;
};

Corpus load_rows(const DataOptions& options, Files& files, const ExistingVocabulary& existing) {
  return RowLoader(options, files, existing).load();
}

std::vector<std::string_view> row_keys(std::initializer_list<std::string_view> more) {
  std::vector<std::string_view> keys = {"path",      "val_path",      "test_path",  "test_fraction",
                                        "level",     "tokenizer",     "vocabulary", "max_length",
                                        "min_count", "max_vocabulary"};
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

}  // namespace

const DataKind data_kinds::lines = {.name = "lines",
                                    .keys = row_keys({"paths", "alphabet"}),
                                    .framings = {ModelKind::language_model},
                                    .load = load_rows};

const DataKind data_kinds::pairs = {
    .name = "pairs",
    .keys = row_keys({"target_path", "val_target_path", "test_target_path", "share_vocabulary"}),
    .framings = {ModelKind::seq2seq},
    .load = load_rows};

const DataKind data_kinds::labelled = {.name = "labelled",
                                       .keys = row_keys({}),
                                       .framings = {ModelKind::classifier},
                                       .load = load_rows};

}  // namespace heed
