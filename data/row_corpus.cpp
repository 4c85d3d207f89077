// The kinds "lines", "pairs", "labelled" and "examples": files with an example on each line.
//
//   lines       the line is the target
//   pairs       the source, a tab, the target; or two parallel files
//   labelled    the text, a tab, the label; with label_column = "first", the label first
//   examples    a JSON object: data/example_line.h; or arrays: data/array_examples.h
#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "core/check.h"
#include "core/text.h"
#include "data/array_examples.h"
#include "data/example_loader.h"
#include "data/files.h"

namespace heed {

namespace {

class RowReader {
 public:
  RowReader(const DataOptions& options, Files& files, const LoadRequest& request)
      : options_(options), files_(files), loader_(options, request) {
    line_.input_key = has_labels(request) ? "input" : "source";
    for_each_token(options.level == Level::byte ? Level::byte : Level::character, options.alphabet,
                   [this](std::string_view c) { alphabet_.insert(c); });
  }

  Corpus load() {
    const auto paths =
        options_.paths.empty() ? std::span(&options_.path, 1) : std::span(options_.paths);
    for (const std::string& path : paths) read(Split::train, path, options_.target_path);
    if (!options_.val_path.empty()) read(Split::val, options_.val_path, options_.val_target_path);
    if (!options_.test_path.empty())
      read(Split::test, options_.test_path, options_.test_target_path);
    std::vector<std::string> notes;
    if (!alphabet_.empty())
      notes.push_back(fmt::format("{} lines skipped for a character outside `alphabet`", skipped_));
    return loader_.load(paths[0], is_json() ? "example" : "line", std::move(notes));
  }

 private:
  static bool has_labels(const LoadRequest& request) {
    return request.framing == ModelKind::classifier;
  }
  bool is_json() const { return options_.kind == &data_kinds::examples; }

  void read(Split file, const std::string& path, const std::string& target_path) {
    if (is_json() && path.ends_with(".safetensors")) return read_arrays(file, path);
    const std::string_view text = files_.read(path, options_.level);
    loader_.open(file);
    if (is_json()) return read_examples(file, path, text);
    if (options_.kind == &data_kinds::lines) return read_lines(file, path, text);
    if (options_.kind == &data_kinds::labelled) return read_labelled(file, path, text);
    if (target_path.empty()) return read_columns(file, path, text);
    read_parallel(file, path, text, target_path, files_.read(target_path, options_.level));
  }

  void add(Split file, std::string_view source, std::string_view target, const LineOrigin& origin) {
    if (options_.kind != &data_kinds::lines) line_.input.set_text(source);
    line_.target.set_text(target);
    loader_.add(file, line_, origin);
  }

  void read_examples(Split file, const std::string& path, std::string_view text) {
    for_each_line(text, [&](std::string_view line, int64_t number) {
      if (line.find_first_not_of(white_space) == line.npos) return;
      const LineOrigin origin{path, number};
      parse_example(line, origin, line_);
      loader_.add(file, line_, origin);
    });
  }

  void read_arrays(Split file, const std::string& path) {
    files_.add(path, {read_bytes(path, int64_t{1} << 31)});
    loader_.open(file);
    for_each_array_example(path, [&](ExampleLine& line, int64_t i) {
      loader_.add(file, line, {path, i + 1});
    });
  }

  void read_lines(Split file, const std::string& path, std::string_view text) {
    int64_t kept = 0, skipped = 0;
    for_each_line(text, [&](std::string_view line, int64_t number) {
      if (line.empty()) return;
      if (has_other_character(line)) return void(++skipped);
      ++kept;
      add(file, {}, line, {path, number});
    });
    check_input(kept > 0 || skipped == 0, "{}: each line has a character outside `alphabet`", path);
    skipped_ += skipped;
  }
  bool has_other_character(std::string_view line) const {
    bool other = false;
    if (!alphabet_.empty())
      for_each_token(options_.level == Level::byte ? Level::byte : Level::character, line,
                     [&](std::string_view c) { other |= !alphabet_.contains(c); });
    return other;
  }

  // Calls visit(first, second, origin) for the two columns of each line.
  template <class Visit>
  static void for_each_pair(const std::string& path, std::string_view text, Visit visit) {
    for_each_line(text, [&](std::string_view line, int64_t number) {
      if (line.empty()) return;
      const auto tabs = std::count(line.begin(), line.end(), '\t');
      check_input(tabs == 1, "{}: line {} has {} column{}, expected two with a tab between", path,
                  number, tabs + 1, tabs == 0 ? "" : "s");
      const size_t tab = line.find('\t');
      visit(line.substr(0, tab), line.substr(tab + 1), LineOrigin{path, number});
    });
  }

  void read_columns(Split file, const std::string& path, std::string_view text) {
    for_each_pair(path, text,
                  [&](std::string_view source, std::string_view target, const LineOrigin& origin) {
                    add(file, source, target, origin);
                  });
  }

  void read_parallel(Split file, const std::string& path, std::string_view text,
                     const std::string& target_path, std::string_view target_text) {
    std::vector<std::string_view> targets;
    for_each_line(target_text, [&](std::string_view line, int64_t) { targets.push_back(line); });
    size_t sources = 0;
    for_each_line(text, [&](std::string_view line, int64_t number) {
      const std::string_view target = sources < targets.size() ? targets[sources] : "";
      ++sources;
      if (!line.empty() || !target.empty()) add(file, line, target, {path, number});
    });
    check_input(sources == targets.size(),
                "{} has {} lines and {} has {}: line {} of the longer file has no partner", path,
                sources, target_path, targets.size(), std::min(sources, targets.size()) + 1);
  }

  void read_labelled(Split file, const std::string& path, std::string_view all) {
    std::unordered_set<std::string_view> labels, texts;
    int64_t lines = 0;
    const bool is_first = options_.label_column == LabelColumn::first;
    for_each_pair(path, all,
                  [&](std::string_view text, std::string_view label, const LineOrigin& origin) {
                    if (is_first) std::swap(text, label);
                    check_input(!label.empty(), "{}: line {} has no label {} the tab", path,
                                origin.number, is_first ? "before" : "after");
                    check_input(find_invalid_utf8(label) == std::string_view::npos,
                                "{}: line {}: the label {} is not valid UTF-8", path, origin.number,
                                in_quotes(label));
                    ++lines;
                    labels.insert(label);
                    texts.insert(text);
                    add(file, text, label, origin);
                  });
    // Labels are few, and texts many. Where labels are last, fewer texts than labels are enough to
    // tell, so that no file with the label first trains another model.
    const bool are_swapped = is_first || file != Split::train
                                 ? 4 * texts.size() <= labels.size()
                                 : texts.size() > 1 && texts.size() < labels.size();
    check_input(!are_swapped,
                "{}: the columns seem to be swapped: expected the {} before the tab and the {} "
                "after it, found {} different labels and {} different texts in {} lines; if that "
                "is wrong, set `label_column` = \"{}\"",
                path, is_first ? "label" : "text", is_first ? "text" : "label", labels.size(),
                texts.size(), lines, is_first ? "last" : "first");
  }

  const DataOptions& options_;
  Files& files_;
  ExampleLoader loader_;
  ExampleLine line_;
  std::unordered_set<std::string_view> alphabet_;  // empty: any character
  int64_t skipped_ = 0;                            // lines with another character
};

Corpus load_rows(const DataOptions& options, Files& files, const LoadRequest& request) {
  return RowReader(options, files, request).load();
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
    .framings = {ModelKind::seq2seq, ModelKind::language_model},
    .load = load_rows};

const DataKind data_kinds::labelled = {
    .name = "labelled",
    .keys = row_keys({"label_column"}),
    .framings = {ModelKind::classifier, ModelKind::language_model},
    .load = load_rows};

const DataKind data_kinds::examples = {
    .name = "examples",
    .keys = row_keys({"paths", "none", "share_vocabulary", "command", "command_folder",
                      "command_timeout", "vocabulary_examples", "val_size", "test_size"}),
    .framings = {ModelKind::language_model, ModelKind::classifier, ModelKind::seq2seq},
    .load = load_rows};

}  // namespace heed
