// Defines data/example_loader.h.
#include "data/example_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "core/check.h"
#include "core/joined.h"
#include "core/standard_ops.h"
#include "core/text.h"
#include "data/file_splits.h"

namespace heed {

namespace {

using ValueForm = LineValue::Form;

// Returns whether the two sides have a vocabulary each.
bool has_two(const DataOptions& options, const LoadRequest& request) {
  const ExistingVocabulary& existing = request.existing;
  if (request.framing != ModelKind::seq2seq) return false;
  const bool two = existing.source != existing.target;
  check_input(!two || !options.share_vocabulary,
              "`share_vocabulary` = true needs one vocabulary for both sides, and {} has two",
              existing.origin);
  return existing.target ? two : !options.share_vocabulary;
}

bool has_target(std::span<const int32_t> ids) {
  return std::any_of(ids.begin(), ids.end(), [](int32_t id) { return id != ignored; });
}

}  // namespace

ExampleLoader::ExampleLoader(const DataOptions& options, const LoadRequest& request)
    : options_(options),
      request_(request),
      first_(options, request.existing,
             has_two(options, request) ? request.existing.source : request.existing.target),
      second_(options, request.existing, request.existing.target),
      source_(first_),
      target_(has_two(options, request) ? second_ : first_) {}

// ---- reading

ExampleLoader::Form ExampleLoader::form_of(const ExampleLine& line,
                                           const LineOrigin& origin) const {
  if (options_.kind == &data_kinds::lines) return Form::line;
  const auto fail = [&](std::string_view key, std::string_view what) {
    throw_line_error(origin, key, what);
  };
  if (!line.input.exists()) fail("input", "missing: an example has an `input` or a `source`");
  if (!line.target.exists()) fail("target", "missing: an example has a target");
  if (*line.input_key == 'n' || line.edges.exists() || !line.grid.empty())
    fail(line.edges.exists()      ? "edges"
         : *line.input_key == 'n' ? "nodes"
                                  : "grid",
         "expected an example of tokens, with an `input` or a `source`");
  const ModelKind framing = request_.framing;
  if (line.is_pair() && framing == ModelKind::classifier)
    fail("source", "a classifier reads an `input`");
  if (!line.is_pair() && framing == ModelKind::seq2seq)
    fail("input", "an encoder-decoder reads a `source`, and writes a `target`");
  if (line.is_pair()) return Form::pair;
  return framing == ModelKind::classifier && !request_.at_positions ? Form::labelled
                                                                    : Form::positions;
}

void ExampleLoader::read_input(const LineValue& input) {
  x_.clear();
  if (!input.exists()) return;
  check_input(input.form == ValueForm::text || input.form == ValueForm::tokens,
              "expected tokens: a text, or a list of strings");
  check_input(!input.has_null, "expected no null: an input has a token at each position");
  if (input.form == ValueForm::text) return source_.read(input.text, x_);
  for (const std::string_view token : input.tokens) x_.push_back(source_.id_of(token));
}

int32_t ExampleLoader::target_id(std::string_view token) {
  if (!has_labels()) return target_.id_of(token);
  const auto found = label_ids_.find(token);
  if (found != label_ids_.end()) return found->second;
  const auto id = static_cast<int32_t>(labels_.size());
  labels_.push_back({label_ids_.emplace(token, id).first->first});
  return id;
}

void ExampleLoader::read_target(const LineValue& target) {
  y_.clear();
  const bool is_text = target.form == ValueForm::text;
  check_input(is_text || target.form == ValueForm::tokens,
              "expected tokens: a text, or a list of strings");
  if (form_ == Form::labelled) {
    check_input(is_text && !target.text.empty(), "expected one label for the whole input, a text");
    return y_.push_back(target_id(target.text));
  }
  const bool at_positions = form_ == Form::positions;
  if (is_text && !at_positions) return target_.read(target.text, y_);
  if (is_text) {
    check_input(options_.level == Level::word || options_.level == Level::character,
                "expected a list: at `level` = \"{}\" a text does not say which token is at which "
                "position",
                name_of(levels, options_.level));
    return for_each_token(options_.level, target.text, [&](std::string_view token) {
      y_.push_back(token == options_.none ? ignored : target_id(token));
    });
  }
  check_input(at_positions || !target.has_null,
              "expected no null: it is for targets at the positions of an `input`");
  for (const std::string_view token : target.tokens)
    y_.push_back(token.data() ? target_id(token) : ignored);
}

void ExampleLoader::read_reference(const LineValue& reference) {
  if (!reference.exists()) return;
  check_input(!reference.numbers.empty() && reference.form != ValueForm::tokens,
              "expected for each target the loss of the best possible predictor, or a list of "
              "probabilities");
  const int64_t width = reference.form == ValueForm::vectors ? reference.width : 1;
  if (reference_width_ == 0) reference_width_ = width;
  check_input(width == reference_width_, "expected {} for each target as before, found {}",
              reference_width_, width);
}

int32_t ExampleLoader::group_of(const ExampleLine& line) {
  if (line.groups.empty()) return -1;
  text_.clear();
  for (const auto& [name, value] : line.groups)
    text_.append(name).append(1, '\0').append(value) += '\0';
  const auto found = group_ids_.find(text_);
  if (found != group_ids_.end()) return found->second;
  if (layout_) return -1;
  const auto id = static_cast<int32_t>(corpus_.groups.size());
  check_input(id < max_groups, "expected at most {} different groups", max_groups);
  corpus_.groups.emplace_back(line.groups.begin(), line.groups.end());
  return group_ids_[text_] = id;
}

uint64_t ExampleLoader::hash_of(const LineValue& value) {
  if (value.form == ValueForm::text) return stable_hash(value.text);
  text_.clear();
  for (const std::string_view token : value.tokens) {
    if (options_.level == Level::word && !text_.empty()) text_ += ' ';
    text_ += token;
  }
  return stable_hash(text_);
}

void ExampleLoader::add(Split file, ExampleLine& line, const LineOrigin& origin) {
  add(files_[file], line, origin);
  if (options_.level == Level::subword) texts_.splice_after(texts_.before_begin(), line.unescaped);
}

void ExampleLoader::add(ExampleRows& rows, const ExampleLine& line, const LineOrigin& origin) {
  const Form form = form_of(line, origin);
  if (form_ == Form::unknown) form_ = form;
  std::string_view key = line.input_key;
  try {
    check_input(form == form_, "not with examples that have a{} before",
                form_ == Form::pair ? " `source`" : "n `input`");
    read_input(line.input);
    key = "target";
    read_target(line.target);
    key = "reference";
    read_reference(line.reference);
    key = "positions";
    check_input(line.positions.empty() || form != Form::pair, "expected with an `input`");
    check_input(line.positions.empty() || !layout_ || has_positions_,
                "none of the first examples has positions");
    has_positions_ = has_positions_ || !line.positions.empty();
    key = "group";
    const bool is_empty = line.input.form == ValueForm::text && line.input.text.empty();
    const bool by_input = line.input.exists() && !is_empty;
    rows.rows.push_back({.origin = origin,
                         .hash = hash_of(by_input ? line.input : line.target),
                         .bytes = std::ssize(line.target.text),
                         .group = group_of(line)});
  } catch (const InputError& error) {
    throw_line_error(origin, key, error.what());
  }
  rows.x.add(x_);
  rows.y.add(y_);
  rows.positions.add(line.positions);
  rows.reference.add(line.reference.numbers);
}

// ---- vocabularies

std::map<Split, ExampleRows> ExampleLoader::split_rows(const std::string& path, const char* noun) {
  std::map<Split, std::vector<uint64_t>> hashes;
  for (const auto& [file, rows] : files_) {
    std::vector<uint64_t>& own = hashes[file];
    for (const ExampleRows::Row& row : rows.rows) own.push_back(row.hash);
  }
  std::map<Split, ExampleRows> splits;
  for (const auto& [split, indices] : assign_splits(
           hashes, {options_.val_fraction, options_.test_fraction}, path, noun, corpus_.notes)) {
    if (indices.empty()) continue;
    const ExampleRows& all = files_[hashes.contains(split) ? split : Split::train];
    ExampleRows& rows = splits[split];
    for (const size_t index : indices) {
      const auto i = static_cast<int64_t>(index);
      rows.rows.push_back(all.rows[index]);
      rows.x.add(all.x[i]);
      rows.y.add(all.y[i]);
      rows.positions.add(all.positions[i]);
      rows.reference.add(all.reference[i]);
    }
  }
  files_.clear();
  return splits;
}

bool ExampleLoader::is_complete(const ExampleRows& rows, int64_t i) const {
  return (form_ == Form::line || !rows.x[i].empty()) && has_target(rows.y[i]);
}

// Returns whether a language model needs tokens to see where prompts and targets end.
bool ExampleLoader::needs_marks(const std::map<Split, ExampleRows>& splits) const {
  if (const auto& codec = request_.existing.target) {
    const Vocabulary& known = codec->vocabulary();
    return std::max({known.begin(), known.end(), known.separator()}) != Vocabulary::none;
  }
  if (options_.level == Level::subword) return true;
  std::set<std::pair<size_t, size_t>> lengths;
  for (const auto& [split, rows] : splits)
    for (int64_t i = 0; i < rows.size() && lengths.size() < 2; ++i)
      if (is_complete(rows, i)) lengths.emplace(rows.x[i].size(), rows.y[i].size());
  return lengths.size() != 1;
}

void ExampleLoader::choose_vocabularies(const ExampleRows& train) {
  for (int64_t i = 0; i < train.size(); ++i) {
    source_.count(train.x[i]);
    if (!has_labels()) target_.count(train.y[i]);
  }
  std::vector<std::string> marks;
  if (form_ == Form::line || request_.framing == ModelKind::seq2seq)
    marks = {begin_token, end_token};
  else if (form_ == Form::pair && has_marks_)
    marks = {separator_token, end_token};
  target_.choose(marks, corpus_.notes);
  if (&source_ != &target_) source_.choose({}, corpus_.notes);
}

void ExampleLoader::choose_labels(const ExampleRows& train) {
  std::set<std::string_view> names;
  for (int64_t i = 0; i < train.size(); ++i)
    for (const int32_t id : train.y[i])
      if (id != ignored && labels_[static_cast<size_t>(id)].count++ == 0)
        names.insert(labels_[static_cast<size_t>(id)].name);
  check_input(names.size() >= 2,
              "{}: all training lines have the label {}: at least two labels are needed",
              train.rows[0].origin.path, in_quotes(*names.begin()));
  corpus_.labels.assign(names.begin(), names.end());
  for (Label& label : labels_)
    if (label.count > 0)
      label.id = static_cast<int32_t>(std::distance(names.begin(), names.find(label.name)));
}

// ---- encoding

void ExampleLoader::encode_target() {
  if (!has_labels()) return target_.encode(y_);
  for (int32_t& id : y_) {
    if (id == ignored) continue;
    const Label& label = labels_[static_cast<size_t>(id)];
    const std::vector<std::string>& labels = corpus_.labels;
    check_input(
        label.id >= 0, "the label {} does not occur in training, which has {} labels, {} to {}",
        in_quotes(label.name), labels.size(), in_quotes(labels.front()), in_quotes(labels.back()));
    id = label.id;
  }
}

void ExampleLoader::check_counts(const ExampleRows& rows, int64_t i) const {
  const LineOrigin& origin = rows.rows[static_cast<size_t>(i)].origin;
  if (form_ == Form::positions && x_.size() != y_.size())
    throw_line_error(origin, "target",
                     fmt::format("expected a target, or none, at each of the {} positions of the "
                                 "input, found {}",
                                 x_.size(), y_.size()));
  const size_t positions = rows.positions[i].size();
  if (positions > 0 && positions != x_.size())
    throw_line_error(origin, "positions",
                     fmt::format("expected {}, one for each token of the input, found {}",
                                 x_.size(), positions));
}

// Writes the reference of each target, in the order of ids. It was written for each target, or for
// each position, and <eos> has none.
void ExampleLoader::lay_out_reference(std::span<const float> written) {
  reference_.clear();
  if (written.empty()) return;
  const auto width = static_cast<size_t>(reference_width_), count = written.size() / width;
  const auto targets = static_cast<size_t>(
      std::count_if(y_.begin(), y_.end(), [](int32_t id) { return id != ignored; }));
  check_input(count == targets || count == y_.size(), "expected {}, one for each target, found {}",
              targets, count);
  check_input(width == 1 || width == sorted_ids_.size(),
              "expected {} probabilities, one for each token in sorted order, found {}",
              sorted_ids_.size(), width);
  const auto row_size = static_cast<size_t>(corpus_.reference_width);
  for (size_t t = 0, next = 0; t < y_.size(); ++t) {
    if (y_[t] == ignored) continue;
    const auto row = written.subspan((count == targets ? next : t) * width, width);
    ++next;
    if (width == 1) {
      reference_.push_back(row[0]);
      continue;
    }
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    check_input(std::abs(sum - 1) < 1e-3 && *std::min_element(row.begin(), row.end()) >= 0,
                "expected probabilities that sum to 1, found {} for target {}", sum, next);
    reference_.resize(reference_.size() + row_size, 0);
    const auto own = std::find(sorted_ids_.begin(), sorted_ids_.end(), y_[t]);
    check_input(own == sorted_ids_.end() || row[static_cast<size_t>(own - sorted_ids_.begin())] > 0,
                "target {} has the probability 0", next);
    for (size_t i = 0; i < width; ++i)
      reference_[reference_.size() - row_size + static_cast<size_t>(sorted_ids_[i])] = row[i];
  }
}

void ExampleLoader::encode_row(const ExampleRows& rows, int64_t i) {
  const auto x = rows.x[i], y = rows.y[i];
  x_.assign(x.begin(), x.end());
  y_.assign(y.begin(), y.end());
  const char* key = "";
  try {
    source_.encode(x_);
    encode_target();
    key = "reference";
    lay_out_reference(rows.reference[i]);
  } catch (const InputError& error) {
    throw_line_error(rows.rows[static_cast<size_t>(i)].origin, key, error.what());
  }
}

bool ExampleLoader::is_too_long() const {
  const auto longest = static_cast<int64_t>(std::max(x_.size(), y_.size()));
  return options_.max_length > 0 && longest > options_.max_length;
}

void ExampleLoader::add_encoded(const ExampleRows& rows, int64_t i, ExampleRows& encoded) const {
  check_counts(rows, i);
  encoded.rows.push_back(rows.rows[static_cast<size_t>(i)]);
  encoded.x.add(x_);
  encoded.y.add(y_);
  encoded.positions.add(rows.positions[i]);
  encoded.reference.add(reference_);
}

ExampleRows ExampleLoader::encode_split(const ExampleRows& rows, const char* split) {
  ExampleRows encoded;
  int64_t empty = 0, too_long = 0;
  for (int64_t i = 0; i < rows.size(); ++i) {
    encode_row(rows, i);
    if ((form_ != Form::line && x_.empty()) || !has_target(y_)) {
      ++empty;
    } else if (is_too_long()) {
      ++too_long;
    } else {
      if (form_ == Form::line)
        corpus_.target_bytes[split] += rows.rows[static_cast<size_t>(i)].bytes + 1;
      add_encoded(rows, i, encoded);
    }
  }
  note_split(split, rows, encoded.size(), empty, too_long);
  return encoded;
}

void ExampleLoader::read(const ExampleLine& line, const LineOrigin& origin, Example& example) {
  ExampleRows row, encoded;
  add(row, line, origin);
  encode_row(row, 0);
  if (x_.empty() || !has_target(y_)) throw_line_error(origin, "", "an input or target is empty");
  if (is_too_long())
    throw_line_error(origin, "", fmt::format("longer than `max_length` = {}", options_.max_length));
  add_encoded(row, 0, encoded);
  layout_->lay_out(encoded, 0, example);
}

void ExampleLoader::note_split(const char* split, const ExampleRows& rows, int64_t kept,
                               int64_t empty, int64_t too_long) {
  std::string note = fmt::format("{}: {} examples", split, kept);
  if (empty > 0) note += fmt::format(", dropped {} with an empty side", empty);
  if (too_long > 0)
    note +=
        fmt::format(", dropped {} longer than `max_length` = {}", too_long, options_.max_length);
  check_input(kept > 0, "{}: no example is left. {}", rows.rows[0].origin.path, note);
  corpus_.notes.push_back(note);
}

// ---- the corpus

void ExampleLoader::RowLayout::lay_out(const ExampleRows& rows, int64_t i, Example& example) const {
  pair.lay_out(rows.x[i], rows.y[i], example);
  const auto positions = rows.positions[i];
  const auto reference = rows.reference[i];
  example.group = rows.rows[static_cast<size_t>(i)].group;
  example.position_ids.assign(positions.begin(), positions.end());
  if (has_positions && positions.empty()) {
    example.position_ids.resize(rows.x[i].size());
    std::iota(example.position_ids.begin(), example.position_ids.end(), 0);
  }
  example.reference.assign(reference.begin(), reference.end());
  if (pair.framing != ModelKind::classifier && !reference.empty() && pair.end != Vocabulary::none)
    example.reference.insert(example.reference.end(), reference_width,
                             std::numeric_limits<float>::quiet_NaN());  // at <eos>
}

void ExampleLoader::store(const char* name, ExampleRows rows) {
  const int64_t size = rows.size();
  auto get = [rows = std::move(rows), layout = *layout_](int64_t i, Example& example) {
    layout.lay_out(rows, i, example);
  };
  const ExampleFormat& format = corpus_.format;
  Dataset dataset = format.position_ids || (format.at_positions && has_labels())
                        ? feature_dataset(format, size, std::move(get))
                        : Dataset{size, std::move(get)};
  Example example;
  for (int64_t i = 0; i < dataset.size; ++i) {
    dataset.get(i, example);
    corpus_.longest_source = std::max<int64_t>(corpus_.longest_source, std::ssize(example.source));
    corpus_.longest_input = std::max<int64_t>(corpus_.longest_input, std::ssize(example.input));
  }
  corpus_.splits[name] = std::move(dataset);
}

Corpus ExampleLoader::load(const std::string& path, const char* noun,
                           std::vector<std::string> notes) {
  corpus_.notes = std::move(notes);
  const std::map<Split, ExampleRows> splits = split_rows(path, noun);
  const ExampleRows& train = splits.at(Split::train);
  bool some = false;
  for (int64_t i = 0; i < train.size() && !some; ++i) some = is_complete(train, i);
  if (!some) note_split("train", train, 0, train.size(), 0);
  has_marks_ = form_ != Form::pair || needs_marks(splits);
  choose_vocabularies(train);
  if (has_labels()) choose_labels(train);
  if (reference_width_ > 0) {
    const std::vector<std::string> known =
        has_labels() ? corpus_.labels : target_.codec()->vocabulary().tokens();
    for (size_t i = 0; i < known.size(); ++i)
      if (has_labels() || !is_special(known[i])) sorted_ids_.push_back(static_cast<int32_t>(i));
    std::sort(sorted_ids_.begin(), sorted_ids_.end(), [&](int32_t a, int32_t b) {
      return known[static_cast<size_t>(a)] < known[static_cast<size_t>(b)];
    });
    corpus_.reference_width = reference_width_ == 1 ? 1 : std::ssize(known);
  }
  std::map<Split, ExampleRows> encoded;
  for (const auto& [split, rows] : splits)
    encoded[split] = encode_split(rows, name_of(split_names, split));
  corpus_.target = target_.codec();
  corpus_.source = &source_ == &target_ ? corpus_.target : source_.codec();
  corpus_.format.at_positions = form_ == Form::positions;
  corpus_.format.position_ids = has_positions_;
  if (form_ == Form::positions)
    corpus_.source = corpus_.target = std::make_shared<TextCodec>(corpus_.target->without_marks());
  corpus_.notes.push_back(&source_ == &target_
                              ? fmt::format("vocabulary of {}", corpus_.source->vocabulary().size())
                              : fmt::format("vocabularies of {} and {}",
                                            corpus_.source->vocabulary().size(),
                                            corpus_.target->vocabulary().size()));
  const bool is_pair = form_ == Form::line || form_ == Form::pair;
  layout_ = RowLayout{
      Layout(is_pair ? request_.framing : ModelKind::classifier, corpus_.target->vocabulary()),
      static_cast<size_t>(corpus_.reference_width), has_positions_};
  for (auto& [split, rows] : encoded) store(name_of(split_names, split), std::move(rows));
  source_.close();
  target_.close();
  Corpus result = std::move(corpus_);
  corpus_ = {};  // of which read() needs these
  corpus_.labels = result.labels;
  corpus_.reference_width = result.reference_width;
  return result;
}

}  // namespace heed
