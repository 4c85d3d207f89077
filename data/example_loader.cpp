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
#include "data/program_splits.h"

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

bool is_vectors(const LineValue& value) {
  return value.form == ValueForm::vectors || value.form == ValueForm::numbers;
}

// Returns whether it is a list of nulls only, or of numbers and nulls.
bool is_numbers(const LineValue& value) {
  return value.form == ValueForm::number || value.form == ValueForm::numbers;
}
bool is_nulls(const LineValue& value) {
  return value.form == ValueForm::tokens && !value.numbers.empty();
}

// Takes the value of the first example, or throws InputError if it is not that of this one.
template <class Value>
void expect_same(bool is_first, Value& known, const Value& own, const char* what) {
  if (is_first) known = own;
  check_input(known == own, "expected {}, as in the first example", what);
}

std::string_view bytes_of(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

bool has_target(std::span<const int32_t> ids) {
  return std::any_of(ids.begin(), ids.end(), [](int32_t id) { return id != ignored; });
}

}  // namespace

void ExampleRows::add(const ExampleRows& others, int64_t i) {
  rows.push_back(others.rows[static_cast<size_t>(i)]);
  x.add(others.x[i]);
  source.add(others.source[i]);
  y.add(others.y[i]);
  positions.add(others.positions[i]);
  reference.add(others.reference[i]);
  numbers = others.numbers;
}

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
  if (!line.input.exists())
    fail("input", "missing: an example has an \"input\", a \"source\" or \"nodes\"");
  if (!line.target.exists()) fail("target", "missing: an example has a target");
  const ModelKind framing = request_.framing;
  const bool is_graph = *line.input_key == 'n', reads_rows = framing == ModelKind::language_model;
  if (line.edges.exists() && !is_graph) fail("edges", "expected \"nodes\" with it");
  if (is_graph && reads_rows) fail("nodes", "a language model reads an \"input\" or a \"source\"");
  if (!line.grid.empty() && reads_rows) fail("grid", "a language model reads a sequence");
  const bool two = line.source.exists();
  if (two && reads_rows) fail("source", "a language model has an \"input\" or a \"source\"");
  if (two && !is_vectors(line.input))
    fail("input", "expected vectors: of two sources \"source\" is tokens and \"input\" vectors");
  if (line.is_pair() && framing == ModelKind::classifier)
    fail("source", "a classifier reads an \"input\"");
  if (line.is_pair() && reads_rows && is_vectors(line.input))
    fail("source", "a language model reads vectors as an \"input\", with targets at its positions");
  if (!line.is_pair() && !is_graph && !two && framing == ModelKind::seq2seq)
    fail("input", "an encoder-decoder reads a \"source\", and writes a \"target\"");
  if (line.is_pair() || framing == ModelKind::seq2seq) return Form::pair;
  return framing == ModelKind::classifier && !request_.at_positions ? Form::labelled
                                                                    : Form::positions;
}

void ExampleLoader::read_input(const LineValue& input) {
  x_.clear();
  if (!input.exists()) return;
  if (is_vectors(input)) return read_vectors(input);
  expect_same(is_first_, corpus_.format.features, int64_t{0}, "vectors");
  check_input(input.form == ValueForm::text || input.form == ValueForm::tokens,
              "expected tokens, a text or a list of strings, or a list of vectors");
  read_tokens(input, x_);
}

void ExampleLoader::read_tokens(const LineValue& value, std::vector<int32_t>& ids) {
  check_input(!value.has_null, "expected no null: an input has a token at each position");
  if (value.form == ValueForm::text) return source_.read(value.text, ids);
  for (const std::string_view token : value.tokens) ids.push_back(source_.id_of(token));
}

void ExampleLoader::read_source(const ExampleLine& line) {
  tokens_.clear();
  const LineValue& source = line.source;
  expect_same(is_first_, corpus_.format.two_sources, source.exists(),
              has_two_sources() ? "one beside the \"input\"" : "none beside the \"input\"");
  if (!source.exists()) return;
  check_input(source.form == ValueForm::text || source.form == ValueForm::tokens,
              "expected tokens, a text or a list of strings: the \"input\" is vectors");
  read_tokens(source, tokens_);
  check_input(!tokens_.empty(), "expected a token at least");
  if (request_.framing == ModelKind::seq2seq)
    expect_same(is_first_, corpus_.format.positions, line.input.size,
                "an \"input\" of as many vectors beside it");
}

void ExampleLoader::read_vectors(const LineValue& input) {
  check_input(!input.has_null, "expected no null: an input has a vector at each position");
  const int64_t width = input.form == ValueForm::vectors ? input.width : 1;
  int64_t& known = corpus_.format.features;
  if (is_first_) known = width;
  check_input(known > 0, "expected tokens, as in the first example");
  check_input(width == known, "expected vectors of {} numbers, as in the first example, found {}",
              known, width);
  x_.assign(static_cast<size_t>(input.size), 0);
}

void ExampleLoader::read_edges(const LineValue& edges) {
  sender_.clear();
  receiver_.clear();
  edge_features_.clear();
  if (edges.size == 0) return;
  if (!edge_width_) edge_width_ = edges.width;
  check_input(edges.form == ValueForm::vectors && edges.width >= 2 && edges.width == *edge_width_,
              "expected lists of {} numbers, the two nodes of an edge first",
              std::max<int64_t>(2, *edge_width_));
  corpus_.format.edge_features = edges.width - 2;
  corpus_.max_edges = std::max(corpus_.max_edges, edges.size);
  for (const float* edge = edges.numbers.data();
       edge != edges.numbers.data() + edges.numbers.size(); edge += edges.width) {
    for (const float node : {edge[0], edge[1]})
      check_input(node >= 0 && node < static_cast<float>(x_.size()) && node == std::floor(node),
                  "expected nodes from 0 to {}, found {}", std::ssize(x_) - 1, node);
    sender_.push_back(static_cast<int32_t>(edge[0]));
    receiver_.push_back(static_cast<int32_t>(edge[1]));
    edge_features_.insert(edge_features_.end(), edge + 2, edge + edges.width);
  }
}

void ExampleLoader::read_grid(const std::vector<int32_t>& grid) {
  const std::vector<int64_t> own(grid.begin(), grid.end());
  expect_same(is_first_, corpus_.grid, own, "the same grid");
  if (own.empty()) return;
  check_input(reads_vectors(), "expected vectors as the input");
  int64_t cells = 1;
  for (const int64_t length : own)
    cells = std::min<int64_t>(cells * length, std::numeric_limits<int32_t>::max());
  check_input(own.size() <= 5 && cells == std::ssize(x_),
              "expected at most 5 lengths whose product is the number of vectors, {}, found {}",
              x_.size(), joined(own, " × "));
}

void ExampleLoader::read_numbers(const LineValue& target) {
  const bool whole = form_ == Form::labelled;
  check_input(form_ != Form::pair,
              "expected tokens: a text, or a list of strings; numbers are targets of an \"input\"");
  const bool is_one = target.form == ValueForm::number;
  check_input(!whole || is_one,
              "expected one number for the whole input, because the model pools all positions; "
              "with the pool \"none\" it has one at each");
  check_input(whole || !is_one, "expected a list: a number or null at each position");
  for (const float number : target.numbers) y_.push_back(std::isnan(number) ? ignored : 0);
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
  if (is_nulls(target) && form_ == Form::positions)
    return y_.assign(static_cast<size_t>(target.size), ignored);
  expect_same(!std::exchange(knows_target_, true), corpus_.format.numbers, is_numbers(target),
              has_numbers() ? "numbers" : "tokens or labels, not numbers");
  if (has_numbers()) return read_numbers(target);
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
              "expected no null: it is for targets at the positions of an \"input\"");
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

// Returns the index of the lists.
int64_t ExampleLoader::add_lists(const ExampleLine& line, ExampleRows& rows) const {
  if (!rows.numbers) rows.numbers = std::make_shared<NumberRows>();
  NumberRows& lists = *rows.numbers;
  const std::span<const float> none;
  lists.features.add(reads_vectors() ? line.input.numbers : none);
  lists.values.add(has_numbers() ? line.target.numbers : none);
  lists.edge_features.add(edge_features_);
  lists.sender.add(sender_);
  lists.receiver.add(receiver_);
  return lists.size++;
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
  if (!value.numbers.empty()) return stable_hash(bytes_of(value.numbers));
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
                form_ == Form::pair ? " \"source\"" : "n \"input\"");
    read_input(line.input);
    key = "source";
    read_source(line);
    key = "edges";
    expect_same(is_first_, corpus_.format.has_edges, *line.input_key == 'n',
                "\"nodes\" and \"edges\"");
    read_edges(line.edges);
    key = "grid";
    read_grid(line.grid);
    key = "target";
    read_target(line.target);
    key = "reference";
    read_reference(line.reference);
    key = "positions";
    check_input(line.positions.empty() || form != Form::pair, "expected with an \"input\"");
    check_input(line.positions.empty() || line.grid.empty(), "excludes \"grid\"");
    check_input(line.positions.empty() || !layout_ || corpus_.format.position_ids,
                "none of the first examples has positions");
    for (const int32_t id : line.positions)
      corpus_.last_position = std::max<int64_t>(corpus_.last_position, id);
    if (!line.positions.empty()) corpus_.format.position_ids = true;
    key = "group";
    const bool has_lists = reads_vectors() || has_numbers() || corpus_.format.has_edges;
    const bool is_empty = line.input.form == ValueForm::text && line.input.text.empty();
    uint64_t hash = hash_of(line.input.exists() && !is_empty ? line.input : line.target);
    if (line.source.exists())
      hash = stable_hash(bytes_of(line.input.numbers), hash_of(line.source));
    rows.rows.push_back({.origin = origin,
                         .hash = line.edges.numbers.empty()
                                     ? hash
                                     : stable_hash(bytes_of(line.edges.numbers), hash),
                         .bytes = std::ssize(line.target.text),
                         .group = group_of(line),
                         .numbers = has_lists ? add_lists(line, rows) : -1});
  } catch (const InputError& error) {
    throw_line_error(origin, key, error.what());
  }
  rows.x.add(x_);
  rows.source.add(tokens_);
  rows.y.add(y_);
  rows.positions.add(line.positions);
  rows.reference.add(line.reference.numbers);
  is_first_ = false;
}

// ---- vocabularies

void ExampleLoader::replace_held_out(const std::string& path) {
  for (const Split split : {Split::val, Split::test})
    for (const ExampleRows::Row& row : files_[split].rows) held_out_.insert(row.hash);
  const ExampleRows all = std::exchange(files_[Split::train], {});
  const auto is_held_out = [&](int64_t i) {
    return held_out_.contains(all.rows[static_cast<size_t>(i)].hash);
  };
  const int64_t first = std::min(all.size(), first_examples);
  for (int64_t i = 0; i < first; ++i)
    if (!is_held_out(i)) others_.push_back(i);
  check_input(!others_.empty(),
              "{}: the first {} training examples all have inputs of validation or test", path,
              first);
  int64_t count = 0;
  for (int64_t i = 0; i < all.size(); ++i) {
    const bool replaces = is_held_out(i);
    count += replaces;
    files_[Split::train].add(all, replaces ? replacement(i) : i);
  }
  if (count > 0)
    corpus_.notes.push_back(
        fmt::format("{} of the first {} training examples are held out, and replaced by others",
                    count, all.size()));
}

std::map<Split, ExampleRows> ExampleLoader::split_rows(const std::string& path, const char* noun) {
  if (!options_.command.empty()) {
    replace_held_out(path);
    return std::exchange(files_, {});
  }
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
    for (const size_t index : indices) rows.add(all, static_cast<int64_t>(index));
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

void ExampleLoader::choose_vocabularies(const std::map<Split, ExampleRows>& splits) {
  const bool writes = !has_labels() && !has_numbers();
  for (const auto& [split, rows] : splits) {
    if (split != Split::train && options_.command.empty()) continue;
    for (int64_t i = 0; i < rows.size(); ++i) {
      if (reads_tokens()) source_.count(tokens_of(rows, i));
      if (writes) target_.count(rows.y[i]);
    }
  }
  std::vector<std::string> marks;
  if (form_ == Form::line || request_.framing == ModelKind::seq2seq)
    marks = {begin_token, end_token};
  else if (form_ == Form::pair && has_marks_)
    marks = {separator_token, end_token};
  const bool are_same = &source_ == &target_;
  if (writes || (are_same && reads_tokens())) target_.choose(marks, corpus_.notes);
  if (!are_same && reads_tokens()) source_.choose({}, corpus_.notes);
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
  if (has_numbers()) return;
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
  const int64_t queries = request_.queries;
  if (queries > 0 && std::ssize(y_) != queries)
    throw_line_error(origin, "target",
                     fmt::format("expected a target, or none, for each of the {} learned queries, "
                                 "found {}",
                                 queries, y_.size()));
  if (queries == 0 && form_ == Form::positions && x_.size() != y_.size())
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
  const auto tokens = rows.source[i];
  tokens_.assign(tokens.begin(), tokens.end());
  y_.assign(y.begin(), y.end());
  const char* key = "";
  try {
    if (reads_tokens()) source_.encode(has_two_sources() ? tokens_ : x_);
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
  encoded.source.add(tokens_);
  encoded.y.add(y_);
  encoded.positions.add(rows.positions[i]);
  encoded.reference.add(reference_);
  encoded.numbers = rows.numbers;
}

ExampleRows ExampleLoader::encode_split(const ExampleRows& rows, const char* split) {
  ExampleRows encoded;
  int64_t empty = 0, too_long = 0;
  for (int64_t i = 0; i < rows.size(); ++i) {
    encode_row(rows, i);
    if ((form_ != Form::line && x_.empty()) || !has_target(y_)) {
      ++empty;
      if (!options_.command.empty())  // no example may change its number
        throw_line_error(rows.rows[static_cast<size_t>(i)].origin, "",
                         "an input or target is empty");
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

bool ExampleLoader::read(const ExampleLine& line, const LineOrigin& origin, Example& example) {
  ExampleRows row, encoded;
  add(row, line, origin);
  encode_row(row, 0);
  if (x_.empty() || !has_target(y_)) throw_line_error(origin, "", "an input or target is empty");
  if (is_too_long())
    throw_line_error(origin, "", fmt::format("longer than `max_length` = {}", options_.max_length));
  add_encoded(row, 0, encoded);
  layout_->lay_out(encoded, 0, example);
  return held_out_.contains(row.rows[0].hash);
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
  const auto assign = [](auto& to, auto list) { to.assign(list.begin(), list.end()); };
  const std::span<const int32_t> x = rows.x[i];
  const ExampleRows::Row& row = rows.rows[static_cast<size_t>(i)];
  const auto reference = rows.reference[i];
  pair.lay_out(format.features > 0 ? std::span<const int32_t>() : x, rows.y[i], example);
  if (format.two_sources) assign(example.source, rows.source[i]);
  example.group = row.group;
  if (row.numbers >= 0) {
    assign(example.features, rows.numbers->features[row.numbers]);
    assign(example.values, rows.numbers->values[row.numbers]);
    assign(example.edge_features, rows.numbers->edge_features[row.numbers]);
    assign(example.sender, rows.numbers->sender[row.numbers]);
    assign(example.receiver, rows.numbers->receiver[row.numbers]);
  }
  assign(example.position_ids, rows.positions[i]);
  if (format.position_ids && example.position_ids.empty()) {
    example.position_ids.resize(x.size());
    std::iota(example.position_ids.begin(), example.position_ids.end(), 0);
  }
  assign(example.reference, reference);
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
  const bool is_plain = format.features == 0 && !format.numbers && !format.has_edges &&
                        !format.position_ids && !(format.at_positions && has_labels());
  Dataset dataset =
      is_plain ? Dataset{size, std::move(get)} : feature_dataset(format, size, std::move(get));
  Example example;
  for (int64_t i = 0; i < dataset.size; ++i) {
    dataset.get(i, example);
    const bool is_source = request_.framing == ModelKind::seq2seq;
    const int64_t vectors = is_source ? example.positions : 0, tokens = std::ssize(example.source);
    corpus_.longest_source = std::max(
        corpus_.longest_source, format.two_sources ? vectors + tokens : std::max(vectors, tokens));
    corpus_.longest_input = std::max(
        {corpus_.longest_input, std::ssize(example.input), is_source ? 0 : example.positions});
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
  choose_vocabularies(splits);
  if (has_labels()) choose_labels(train);
  corpus_.reference_width = reference_width_;
  if (reference_width_ > 1) {
    check_input(!has_numbers(),
                "{}: expected a number as the \"reference\" of a target that is one", path);
    const std::vector<std::string> known =
        has_labels() ? corpus_.labels : target_.codec()->vocabulary().tokens();
    for (size_t i = 0; i < known.size(); ++i)
      if (has_labels() || !is_special(known[i])) sorted_ids_.push_back(static_cast<int32_t>(i));
    std::sort(sorted_ids_.begin(), sorted_ids_.end(), [&](int32_t a, int32_t b) {
      return known[static_cast<size_t>(a)] < known[static_cast<size_t>(b)];
    });
    corpus_.reference_width = std::ssize(known);
  }
  std::map<Split, ExampleRows> encoded;
  for (const auto& [split, rows] : splits)
    encoded[split] = encode_split(rows, name_of(split_names, split));
  corpus_.format.at_positions = form_ == Form::positions;
  corpus_.format.targets = request_.queries;
  const bool are_same = &source_ == &target_, plain = corpus_.format.at_positions;
  const auto codec_of = [&](const TextEncoder& encoder) {
    return plain ? std::make_shared<TextCodec>(encoder.codec()->without_marks()) : encoder.codec();
  };
  if (reads_tokens()) corpus_.source = codec_of(source_);
  if (has_numbers() || (reads_vectors() && has_labels()))
    corpus_.target = nullptr;
  else
    corpus_.target = are_same && corpus_.source ? corpus_.source : codec_of(target_);
  if (are_same && (corpus_.source || corpus_.target))
    corpus_.notes.push_back(
        fmt::format("vocabulary of {}",
                    (corpus_.source ? corpus_.source : corpus_.target)->vocabulary().size()));
  else if (corpus_.source)
    corpus_.notes.push_back(fmt::format("vocabularies of {} and {}",
                                        corpus_.source->vocabulary().size(),
                                        corpus_.target->vocabulary().size()));
  const bool is_pair = form_ == Form::line || form_ == Form::pair;
  static const Vocabulary no_marks({"-"});
  layout_ = RowLayout{Layout(is_pair ? request_.framing : ModelKind::classifier,
                             is_pair ? corpus_.target->vocabulary() : no_marks),
                      static_cast<size_t>(corpus_.reference_width), corpus_.format};
  for (auto& [split, rows] : encoded) store(name_of(split_names, split), std::move(rows));
  source_.close();
  target_.close();
  Corpus result = std::move(corpus_);
  corpus_ = {};  // of which read() needs these
  corpus_.labels = result.labels;
  corpus_.format = result.format;
  corpus_.grid = result.grid;
  corpus_.reference_width = result.reference_width;
  return result;
}

}  // namespace heed
