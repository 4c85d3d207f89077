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
#include "core/standard_ops.h"
#include "core/text.h"
#include "data/file_splits.h"
#include "data/program_splits.h"

namespace heed {

// Returns whether the two sides have a vocabulary each.
static bool has_two(const DataOptions& options, const LoadRequest& request) {
  const ExistingVocabulary& existing = request.existing;
  if (request.framing != ModelKind::seq2seq) return false;
  const bool two = existing.source != existing.target;
  check_input(!two || !options.share_vocabulary,
              "`share_vocabulary` = true needs one vocabulary for both sides, and {} has two",
              existing.origin);
  return existing.target ? two : !options.share_vocabulary;
}

std::vector<int32_t> reference_order(const std::vector<std::string>& names, bool are_labels) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < names.size(); ++i)
    if (are_labels || !is_special(names[i])) ids.push_back(static_cast<int32_t>(i));
  std::sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
    return names[static_cast<size_t>(a)] < names[static_cast<size_t>(b)];
  });
  return ids;
}

ExampleLoader::ExampleLoader(const DataOptions& options, const LoadRequest& request)
    : options_(options),
      request_(request),
      first_(options_, request_.existing,
             has_two(options, request) ? request.existing.source : request.existing.target),
      second_(options_, request_.existing, request.existing.target),
      source_(first_),
      target_(has_two(options, request) ? second_ : first_),
      reader_(options_, request_, source_, target_, corpus_) {}

// Returns the options to read single examples by: none is dropped.
static DataOptions without_limits(DataOptions options) {
  options.command.clear();
  options.max_length = 0;
  return options;
}

static LoadRequest request_of(const Corpus& trained) {
  const auto &source = trained.source, &target = trained.target;
  return {trained.framing, trained.format.at_positions, trained.format.targets,
          ExistingVocabulary{source ? source : target, target ? target : source, "",
                             NewTokens::unknown}};
}

ExampleLoader::ExampleLoader(const DataOptions& options, const Corpus& trained, bool with_targets)
    : ExampleLoader(without_limits(options), request_of(trained)) {
  is_trained_ = true;
  corpus_ = trained;
  for (TextEncoder* const encoder : {&source_, &target_})
    if (request_.existing.target) encoder->resume();
  reader_.resume(trained.format.at_positions                ? Form::positions
                 : trained.framing == ModelKind::classifier ? Form::labelled
                                                            : Form::pair,
                 with_targets);
  choose_layout();
}

ExampleRows& ExampleLoader::rows_of(Split file) {
  std::shared_ptr<ExampleRows>& rows = files_[file];
  if (!rows) rows = std::make_shared<ExampleRows>();
  return *rows;
}

void ExampleLoader::add(Split file, ExampleLine& line, const LineOrigin& origin) {
  reader_.read(line, origin, rows_of(file));
  if (options_.level == Level::subword) texts_.splice_after(texts_.before_begin(), line.unescaped);
}

bool ExampleLoader::is_complete(std::span<const int32_t> x, std::span<const int32_t> y) const {
  return (reader_.form() == Form::line || !x.empty()) &&
         std::any_of(y.begin(), y.end(), [](int32_t id) { return id != ignored; });
}

// ---- splits

void ExampleLoader::replace_held_out(const std::string& path) {
  for (const Split split : {Split::val, Split::test}) {
    std::vector<int64_t>& rows = splits_[split].rows;
    for (const ExampleRows::Row& row : rows_of(split).rows) {
      held_out_.insert(row.hash);
      rows.push_back(std::ssize(rows));
    }
  }
  const ExampleRows& all = rows_of(Split::train);
  const auto is_held_out = [&](int64_t i) { return held_out_.contains(all[i].hash); };
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
    splits_[Split::train].rows.push_back(replaces ? replacement(i) : i);
  }
  if (count > 0)
    corpus_.notes.push_back(
        fmt::format("{} of the first {} training examples are held out, and replaced by others",
                    count, all.size()));
}

void ExampleLoader::choose_splits(const std::string& path, const char* noun) {
  if (!options_.command.empty()) {
    replace_held_out(path);
  } else {
    std::map<Split, std::vector<uint64_t>> hashes;
    for (const auto& [file, rows] : files_) {
      std::vector<uint64_t>& own = hashes[file];
      for (const ExampleRows::Row& row : rows->rows) own.push_back(row.hash);
    }
    for (const auto& [split, rows] : assign_splits(
             hashes, {options_.val_fraction, options_.test_fraction}, path, noun, corpus_.notes))
      if (!rows.empty()) splits_[split].rows.assign(rows.begin(), rows.end());
  }
  for (auto& [split, own] : splits_)
    own.file = files_[files_.contains(split) ? split : Split::train];
}

// ---- vocabularies

// Returns whether a language model needs tokens to see where prompts and targets end.
bool ExampleLoader::needs_marks() const {
  if (reader_.form() != Form::pair) return true;
  if (const auto& codec = request_.existing.target) {
    const Vocabulary& known = codec->vocabulary();
    return std::max({known.begin(), known.end(), known.separator()}) != Vocabulary::none;
  }
  if (options_.level == Level::subword) return true;
  std::set<std::pair<size_t, size_t>> lengths;
  for (const auto& [name, split] : splits_)
    for (const int64_t i : split.rows) {
      const auto x = split.file->ids.x[i], y = split.file->ids.y[i];
      if (is_complete(x, y)) lengths.emplace(x.size(), y.size());
      if (lengths.size() > 1) return true;
    }
  return lengths.empty();
}

void ExampleLoader::choose_vocabularies() {
  const bool reads = reader_.reads_tokens(), two = reader_.has_two_sources(),
             writes = !reader_.has_labels() && !reader_.has_numbers(),
             are_same = &source_ == &target_;
  for (const auto& [name, split] : splits_) {
    if (name != Split::train && options_.command.empty()) continue;
    for (const int64_t i : split.rows) {
      const RowIds& ids = split.file->ids;
      if (reads) source_.count(two ? ids.source[i] : ids.x[i]);
      if (writes) target_.count(ids.y[i]);
    }
  }
  std::vector<std::string> marks;
  if (reader_.form() == Form::line || request_.framing == ModelKind::seq2seq)
    marks = {begin_token, end_token};
  else if (reader_.form() == Form::pair && has_marks_)
    marks = {separator_token, end_token};
  if (writes || (are_same && reads)) target_.choose(marks, corpus_.notes);
  if (!are_same && reads) source_.choose({}, corpus_.notes);
}

void ExampleLoader::choose_labels() {
  const SplitRows& train = splits_.at(Split::train);
  std::vector<ExampleReader::Label>& labels = reader_.labels();
  std::set<std::string_view> names;
  for (const int64_t i : train.rows)
    for (const int32_t id : train.file->ids.y[i])
      if (id != ignored && labels[static_cast<size_t>(id)].count++ == 0)
        names.insert(labels[static_cast<size_t>(id)].name);
  check_input(names.size() >= 2,
              "{}: all training lines have the label {}: at least two labels are needed",
              train.file->rows[0].origin.path, in_quotes(*names.begin()));
  corpus_.labels.assign(names.begin(), names.end());
  for (ExampleReader::Label& label : labels)
    if (label.count > 0)
      label.id = static_cast<int32_t>(std::distance(names.begin(), names.find(label.name)));
}

void ExampleLoader::choose_reference(const std::string& path) {
  corpus_.reference_width = reader_.reference_width();
  if (corpus_.reference_width <= 1) return;
  check_input(!reader_.has_numbers(),
              "{}: expected a number as the \"reference\" of a target that is one", path);
  const bool are_labels = reader_.has_labels();
  const std::vector<std::string> names =
      are_labels ? corpus_.labels : target_.codec()->vocabulary().tokens();
  sorted_ids_ = reference_order(names, are_labels);
  corpus_.reference_width = std::ssize(names);
}

// ---- encoding

void ExampleLoader::encode_target(int64_t* skipped) {
  if (!reader_.reads_targets()) {
    const bool is_whole = reader_.form() == Form::labelled;
    const int64_t count = is_whole ? 1 : request_.queries;
    y_.assign(count > 0 ? static_cast<size_t>(count) : x_.size(), 0);
  }
  if (!reader_.reads_targets() || reader_.has_numbers()) return;
  if (!reader_.has_labels())
    return target_.encode(y_, reader_.form() == Form::pair ? skipped : nullptr);
  for (int32_t& id : y_) {
    if (id == ignored) continue;
    const ExampleReader::Label& label = reader_.labels()[static_cast<size_t>(id)];
    const std::vector<std::string>& labels = corpus_.labels;
    check_input(
        label.id >= 0, "the label {} does not occur in training, which has {} labels, {} to {}",
        in_quotes(label.name), labels.size(), in_quotes(labels.front()), in_quotes(labels.back()));
    id = label.id;
  }
}

// Writes the reference of each target, in the order of ids. It was written for each target, or for
// each position, and <eos> has none.
void ExampleLoader::lay_out_reference(std::span<const float> written) {
  reference_.clear();
  if (written.empty()) return;
  const auto width = static_cast<size_t>(reader_.reference_width()), count = written.size() / width;
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

// Encodes row i after the others. Returns false, and adds nothing, if it is incomplete.
bool ExampleLoader::encode(const ExampleRows& rows, int64_t i, RowIds& ids, int64_t* skipped) {
  const auto x = rows.ids.x[i], y = rows.ids.y[i], tokens = rows.ids.source[i];
  x_.assign(x.begin(), x.end());
  y_.assign(y.begin(), y.end());
  tokens_.assign(tokens.begin(), tokens.end());
  const char* key = "";
  try {
    if (reader_.reads_tokens()) source_.encode(reader_.has_two_sources() ? tokens_ : x_, skipped);
    encode_target(skipped);
    check_input(!is_trained_ || !x_.empty(), "there is no input");
    const bool complete =
        is_trained_ || is_complete(x_, y_);  // no example of a stream may change its number
    check_input(complete || options_.command.empty(), "an input or target is empty");
    if (!complete) return false;
    key = "target";
    const int64_t queries = request_.queries;
    check_input(queries == 0 || std::ssize(y_) == queries,
                "expected a target, or none, for each of the {} learned queries, found {}", queries,
                y_.size());
    check_input(queries > 0 || reader_.form() != Form::positions || x_.size() == y_.size(),
                "expected a target, or none, at each of the {} positions of the input, found {}",
                x_.size(), y_.size());
    key = "reference";
    lay_out_reference(rows.ids.reference[i]);
    key = "positions";
    const size_t positions = rows.positions[i].size();
    check_input(positions == 0 || positions == x_.size(),
                "expected {}, one for each token of the input, found {}", x_.size(), positions);
  } catch (const InputError& error) {
    throw_line_error(rows[i].origin, key, error.what());
  }
  const auto longest = static_cast<int64_t>(std::max(x_.size(), y_.size()));
  if (options_.max_length == 0 || longest <= options_.max_length) {
    ids.x.add(x_);
    ids.source.add(tokens_);
    ids.y.add(y_);
    ids.reference.add(reference_);
  }
  return true;
}

void ExampleLoader::encode_split(const char* name, SplitRows& split) {
  const ExampleRows& file = *split.file;
  int64_t kept = 0, empty = 0, too_long = 0;
  if (split.rows.size() > file.rows.size() / 2) {
    split.ids.x.reserve(file.ids.x);
    split.ids.y.reserve(file.ids.y);
  }
  for (const int64_t i : split.rows) {
    const bool complete = encode(file, i, split.ids);
    empty += !complete;
    too_long += complete && split.ids.x.size() == kept;
    if (split.ids.x.size() == kept) continue;
    if (reader_.form() == Form::line) corpus_.target_bytes[name] += file[i].bytes + 1;
    split.rows[static_cast<size_t>(kept++)] = i;
  }
  note_split(name, split, kept, empty, too_long);
  split.rows.resize(static_cast<size_t>(kept));
}

bool ExampleLoader::read(const ExampleLine& line, const LineOrigin& origin, Example& example,
                         int64_t* skipped) {
  ExampleRows row;
  RowIds ids;
  reader_.read(line, origin, row);
  encode(row, 0, ids, skipped);
  layout_->lay_out(row, 0, ids, 0, example);
  if (reader_.has_numbers() && !reader_.reads_targets())
    example.values.assign(example.target.size(), 0);
  return held_out_.contains(row[0].hash);
}

void ExampleLoader::note_split(const char* name, const SplitRows& split, int64_t kept,
                               int64_t empty, int64_t too_long) {
  std::string note = fmt::format("{}: {} examples", name, kept);
  if (empty > 0) note += fmt::format(", dropped {} with an empty side", empty);
  if (too_long > 0)
    note +=
        fmt::format(", dropped {} longer than `max_length` = {}", too_long, options_.max_length);
  check_input(kept > 0, "{}: no example is left. {}", split.file->rows[0].origin.path, note);
  corpus_.notes.push_back(note);
}

// ---- the corpus

void ExampleLoader::RowLayout::lay_out(const ExampleRows& rows, int64_t i, const RowIds& ids,
                                       int64_t j, Example& example) const {
  const auto assign = [](auto& to, auto list) { to.assign(list.begin(), list.end()); };
  const std::span<const int32_t> x = ids.x[j];
  pair.lay_out(format.features > 0 ? std::span<const int32_t>() : x, ids.y[j], example);
  if (format.two_sources) assign(example.source, ids.source[j]);
  example.group = rows[i].group;
  assign(example.features, rows.features[i]);
  assign(example.values, rows.values[i]);
  assign(example.global, rows.globals[i]);
  if (format.has_edges) {
    for (std::vector<int32_t>* ends : {&example.sender, &example.receiver}) ends->clear();
    example.edge_features.clear();
    const auto width = static_cast<size_t>(2 + format.edge_features);
    for (auto edges = rows.edges[i]; !edges.empty(); edges = edges.subspan(width)) {
      example.sender.push_back(static_cast<int32_t>(edges[0]));
      example.receiver.push_back(static_cast<int32_t>(edges[1]));
      example.edge_features.insert(example.edge_features.end(), edges.begin() + 2,
                                   edges.begin() + static_cast<ptrdiff_t>(width));
    }
  }
  assign(example.position_ids, rows.positions[i]);
  if (format.position_ids && example.position_ids.empty()) {
    example.position_ids.resize(x.size());
    std::iota(example.position_ids.begin(), example.position_ids.end(), 0);
  }
  assign(example.reference, ids.reference[j]);
  if (pair.framing != ModelKind::classifier && !example.reference.empty() &&
      pair.end != Vocabulary::none)
    example.reference.insert(example.reference.end(), static_cast<size_t>(reference_width),
                             std::numeric_limits<float>::quiet_NaN());  // at <eos>
}

void ExampleLoader::choose_codecs() {
  const bool are_same = &source_ == &target_;
  const auto codec_of = [&](const TextEncoder& encoder) {
    return corpus_.format.at_positions
               ? std::make_shared<TextCodec>(encoder.codec()->without_marks())
               : encoder.codec();
  };
  if (reader_.reads_tokens()) corpus_.source = codec_of(source_);
  if (are_same && corpus_.source && !reader_.has_numbers())
    corpus_.target = corpus_.source;
  else if (!reader_.has_numbers() && !(reader_.reads_vectors() && reader_.has_labels()))
    corpus_.target = codec_of(target_);
  const auto& one = corpus_.source ? corpus_.source : corpus_.target;
  if (are_same && one)
    corpus_.notes.push_back(fmt::format("vocabulary of {}", one->vocabulary().size()));
  else if (corpus_.source)
    corpus_.notes.push_back(fmt::format("vocabularies of {} and {}",
                                        corpus_.source->vocabulary().size(),
                                        corpus_.target->vocabulary().size()));
  source_.close();
  target_.close();
}

void ExampleLoader::choose_layout() {
  static const Vocabulary no_marks({"-"});
  const bool is_pair = reader_.form() == Form::line || reader_.form() == Form::pair;
  layout_ = RowLayout{Layout(is_pair ? request_.framing : ModelKind::classifier,
                             is_pair ? corpus_.target->vocabulary() : no_marks),
                      corpus_.reference_width, corpus_.format};
}

Dataset ExampleLoader::dataset(int64_t size, std::function<void(int64_t, Example&)> get) const {
  const ExampleFormat& format = corpus_.format;
  const bool is_plain = format.features == 0 && !format.numbers && !format.has_edges &&
                        !format.position_ids && !(format.at_positions && reader_.has_labels());
  return is_plain ? Dataset{size, std::move(get)} : feature_dataset(format, size, std::move(get));
}

void ExampleLoader::store(const char* name, SplitRows split) {
  const int64_t size = std::ssize(split.rows);
  auto get = [split = std::make_shared<const SplitRows>(std::move(split)), layout = *layout_](
                 int64_t i, Example& example) {
    layout.lay_out(*split->file, split->rows[static_cast<size_t>(i)], split->ids, i, example);
  };
  Dataset dataset = this->dataset(size, std::move(get));
  Example example;
  const bool is_source = request_.framing == ModelKind::seq2seq;
  for (int64_t i = 0; i < dataset.size; ++i) {
    dataset.get(i, example);
    const int64_t vectors = is_source ? example.positions : 0, tokens = std::ssize(example.source);
    corpus_.longest_source =
        std::max(corpus_.longest_source,
                 corpus_.format.two_sources ? vectors + tokens : std::max(vectors, tokens));
    corpus_.longest_input = std::max<int64_t>(
        {corpus_.longest_input, std::ssize(example.input), is_source ? 0 : example.positions});
  }
  corpus_.splits[name] = std::move(dataset);
}

Corpus ExampleLoader::load(const std::string& path, const char* noun,
                           std::vector<std::string> notes) {
  corpus_.notes = std::move(notes);
  choose_splits(path, noun);
  const SplitRows& train = splits_.at(Split::train);
  const RowIds& ids = train.file->ids;
  if (std::none_of(train.rows.begin(), train.rows.end(),
                   [&](int64_t i) { return is_complete(ids.x[i], ids.y[i]); }))
    note_split("train", train, 0, std::ssize(train.rows), 0);  // throws
  has_marks_ = needs_marks();
  choose_vocabularies();
  if (reader_.has_labels()) choose_labels();
  choose_reference(path);
  for (auto& [split, rows] : splits_) encode_split(name_of(split_names, split), rows);
  corpus_.format.at_positions = reader_.form() == Form::positions;
  corpus_.format.targets = request_.queries;
  choose_codecs();
  choose_layout();
  for (const auto& [file, rows] : files_) rows->ids = {};
  for (auto& [split, rows] : splits_) store(name_of(split_names, split), std::move(rows));
  reader_.close();
  files_.clear();
  splits_.clear();
  return corpus_;
}

}  // namespace heed
