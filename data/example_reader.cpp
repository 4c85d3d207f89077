#include "data/example_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.h"
#include "core/joined.h"
#include "core/standard_ops.h"
#include "data/file_splits.h"

namespace heed {

namespace {

using ValueForm = LineValue::Form;

bool is_vectors(const LineValue& value) {
  return value.form == ValueForm::vectors || value.form == ValueForm::numbers;
}
// Returns whether it is a number, or a list of numbers and nulls; a list of nulls only.
bool is_numbers(const LineValue& value) {
  return value.form == ValueForm::number || value.form == ValueForm::numbers;
}
bool is_nulls(const LineValue& value) {
  return value.form == ValueForm::tokens && !value.numbers.empty();
}

std::string_view bytes_of(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

}  // namespace

ExampleReader::ExampleReader(const DataOptions& options, const LoadRequest& request,
                             TextEncoder& source, TextEncoder& target, Corpus& corpus)
    : options_(options), request_(request), source_(source), target_(target), corpus_(corpus) {}

void ExampleReader::resume(Form form, bool with_targets) {
  form_ = form;
  is_first_ = false;
  knows_target_ = is_closed_ = true;
  reads_targets_ = with_targets;
  known_from_ = "as in training";
  if (corpus_.format.has_edges) edge_width_ = 2 + corpus_.format.edge_features;
  for (const std::string& label : corpus_.labels) {
    const int32_t id = target_id(label);
    labels_[static_cast<size_t>(id)].id = id;
  }
}

// Takes the value from the first example. Throws InputError if a later example has another value.
template <class Value>
void ExampleReader::expect_same(Value& known, const Value& own, const char* what) const {
  if (is_first_) known = own;
  check_input(known == own, "expected {}, {}", what, known_from_);
}

ExampleReader::Form ExampleReader::form_of(const ExampleLine& line,
                                           const LineOrigin& origin) const {
  if (options_.kind == &data_kinds::lines) return Form::line;
  const auto refuse_if = [&](bool is_wrong, std::string_view key, std::string_view what) {
    if (is_wrong) throw_line_error(origin, key, what);
  };
  const ModelKind framing = request_.framing;
  const bool is_graph = *line.input_key == 'n', is_pair = line.is_pair(),
             reads_rows = framing == ModelKind::language_model;
  refuse_if(!line.input.exists(), "input",
            "missing: an example has an \"input\", a \"source\" or \"nodes\"");
  refuse_if(!line.target.exists() && reads_targets_, "target", "missing: an example has a target");
  refuse_if(line.edges.exists() && !is_graph, "edges", "expected \"nodes\" with it");
  refuse_if(line.global.exists() && !is_graph, "global", "expected \"nodes\" with it");
  refuse_if(is_graph && reads_rows, "nodes", "a language model reads an \"input\" or a \"source\"");
  refuse_if(!line.grid.empty() && reads_rows, "grid", "a language model reads a sequence");
  refuse_if(is_pair && framing == ModelKind::classifier, "source",
            "a classifier reads an \"input\"");
  refuse_if(is_pair && reads_rows && is_vectors(line.input), "source",
            "a language model reads vectors as an \"input\", with targets at its positions");
  const bool two = line.source.exists();
  refuse_if(two && reads_rows, "source", "a language model has an \"input\" or a \"source\"");
  refuse_if(two && !is_vectors(line.input), "input",
            "expected vectors: of two sources \"source\" is tokens and \"input\" vectors");
  refuse_if(!is_pair && !is_graph && !two && framing == ModelKind::seq2seq, "input",
            "an encoder-decoder reads a \"source\", and writes a \"target\"");
  if (is_pair || framing == ModelKind::seq2seq) return Form::pair;
  return framing == ModelKind::classifier && !request_.at_positions ? Form::labelled
                                                                    : Form::positions;
}

void ExampleReader::read_input(const LineValue& input) {
  x_.clear();
  if (!input.exists()) return;
  if (is_vectors(input)) return read_vectors(input);
  expect_same(corpus_.format.features, int64_t{0}, "vectors");
  check_input(input.form == ValueForm::text || input.form == ValueForm::tokens,
              "expected tokens, a text or a list of strings, or a list of vectors");
  read_tokens(input, x_);
}

void ExampleReader::read_tokens(const LineValue& value, std::vector<int32_t>& ids) {
  check_input(!value.has_null, "expected no null: an input has a token at each position");
  if (value.form == ValueForm::text) return source_.read(value.text, ids);
  for (const std::string_view token : value.tokens) ids.push_back(source_.id_of(token));
}

void ExampleReader::read_source(const ExampleLine& line) {
  tokens_.clear();
  const LineValue& source = line.source;
  expect_same(corpus_.format.two_sources, source.exists(),
              has_two_sources() ? "one beside the \"input\"" : "none beside the \"input\"");
  if (!source.exists()) return;
  check_input(source.form == ValueForm::text || source.form == ValueForm::tokens,
              "expected tokens, a text or a list of strings: the \"input\" is vectors");
  read_tokens(source, tokens_);
  check_input(!tokens_.empty(), "expected a token at least");
  if (request_.framing == ModelKind::seq2seq)
    expect_same(corpus_.format.positions, line.input.size,
                "an \"input\" of as many vectors beside it");
}

void ExampleReader::read_vectors(const LineValue& input) {
  check_input(!input.has_null, "expected no null: an input has a vector at each position");
  const int64_t width = input.form == ValueForm::vectors ? input.width : 1;
  int64_t& known = corpus_.format.features;
  if (is_first_) known = width;
  check_input(known > 0, "expected tokens, {}", known_from_);
  check_input(width == known, "expected vectors of {} numbers, {}, found {}", known, known_from_,
              width);
  x_.assign(static_cast<size_t>(input.size), 0);
}

void ExampleReader::read_edges(const LineValue& edges) {
  const bool is_empty = edges.form == ValueForm::tokens && edges.size == 0;
  if (!edges.exists() || is_empty) return;
  if (!edge_width_) edge_width_ = edges.width;
  check_input(edges.form == ValueForm::vectors && edges.width >= 2 && edges.width == *edge_width_,
              "expected lists of {} numbers, the two nodes of an edge first",
              std::max<int64_t>(2, *edge_width_));
  corpus_.format.edge_features = edges.width - 2;
  corpus_.max_edges = std::max(corpus_.max_edges, edges.size);
  for (size_t i = 0; i < edges.numbers.size(); i += static_cast<size_t>(edges.width))
    for (const float node : {edges.numbers[i], edges.numbers[i + 1]})
      check_input(node >= 0 && node < static_cast<float>(x_.size()) && node == std::floor(node),
                  "expected nodes from 0 to {}, found {}", std::ssize(x_) - 1, node);
}

void ExampleReader::read_global(const LineValue& global) {
  check_input(!global.exists() || global.is_vector(), "expected a list of numbers");
  expect_same(corpus_.format.global, global.size, "as many numbers");
}

void ExampleReader::read_grid(const std::vector<int32_t>& grid) {
  const std::vector<int64_t> own(grid.begin(), grid.end());
  expect_same(corpus_.grid, own, "the same grid");
  if (own.empty()) return;
  check_input(reads_vectors(), "expected vectors as the input");
  int64_t cells = 1;
  for (const int64_t length : own)
    cells = std::min<int64_t>(cells * length, std::numeric_limits<int32_t>::max());
  check_input(own.size() <= 5 && cells == std::ssize(x_),
              "expected at most 5 lengths whose product is the number of vectors, {}, found {}",
              x_.size(), joined(own, " × "));
}

void ExampleReader::read_numbers(const LineValue& target) {
  const bool whole = form_ == Form::labelled, is_one = target.form == ValueForm::number;
  check_input(form_ != Form::pair,
              "expected tokens: a text, or a list of strings; numbers are targets of an \"input\"");
  check_input(!whole || is_one,
              "expected one number for the whole input, because the model pools all positions; "
              "with the pool \"none\" it has one at each");
  check_input(whole || !is_one, "expected a list: a number or null at each position");
  for (const float number : target.numbers) y_.push_back(std::isnan(number) ? ignored : 0);
}

int32_t ExampleReader::target_id(std::string_view token) {
  if (!has_labels()) return target_.id_of(token);
  const auto found = label_ids_.find(token);
  if (found != label_ids_.end()) return found->second;
  const auto id = static_cast<int32_t>(labels_.size());
  labels_.push_back({label_ids_.emplace(token, id).first->first});
  return id;
}

void ExampleReader::read_target(const LineValue& target) {
  if (is_nulls(target) && form_ == Form::positions)
    return y_.assign(static_cast<size_t>(target.size), ignored);
  const bool numbers = is_numbers(target);
  if (!std::exchange(knows_target_, true)) corpus_.format.numbers = numbers;
  check_input(numbers == has_numbers(), "expected {}, {}",
              has_numbers() ? "numbers" : "tokens or labels, not numbers", known_from_);
  if (has_numbers()) return read_numbers(target);
  const bool is_text = target.form == ValueForm::text, at_positions = form_ == Form::positions;
  check_input(is_text || target.form == ValueForm::tokens,
              "expected tokens: a text, or a list of strings");
  if (form_ == Form::labelled) {
    check_input(is_text && !target.text.empty(), "expected one label for the whole input, a text");
    return y_.push_back(target_id(target.text));
  }
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

void ExampleReader::read_reference(const LineValue& reference) {
  if (!reference.exists()) return;
  check_input(!reference.numbers.empty() && reference.form != ValueForm::tokens,
              "expected for each target the loss of the best possible predictor, or a list of "
              "probabilities");
  const int64_t width = reference.form == ValueForm::vectors ? reference.width : 1;
  if (reference_width_ == 0) reference_width_ = width;
  check_input(width == reference_width_, "expected {} for each target as before, found {}",
              reference_width_, width);
}

void ExampleReader::read_positions(const ExampleLine& line) {
  if (line.positions.empty()) return;
  check_input(form_ != Form::pair, "expected with an \"input\"");
  check_input(line.grid.empty(), "excludes \"grid\"");
  check_input(!is_closed_ || corpus_.format.position_ids,
              "none of the first examples has positions");
  corpus_.format.position_ids = true;
  corpus_.last_position = std::max<int64_t>(
      corpus_.last_position, *std::max_element(line.positions.begin(), line.positions.end()));
}

int32_t ExampleReader::group_of(const ExampleLine& line) {
  if (line.groups.empty()) return -1;
  text_.clear();
  for (const auto& [name, value] : line.groups)
    text_.append(name).append(1, '\0').append(value) += '\0';
  const auto found = group_ids_.find(text_);
  if (found != group_ids_.end()) return found->second;
  if (is_closed_) return -1;
  const auto id = static_cast<int32_t>(corpus_.groups.size());
  check_input(id < max_groups, "expected at most {} different groups", max_groups);
  corpus_.groups.emplace_back(line.groups.begin(), line.groups.end());
  return group_ids_[text_] = id;
}

// Returns a hash that is the same for a text and a list of its tokens.
uint64_t ExampleReader::hash_of(const LineValue& value) {
  if (value.form == ValueForm::text) return stable_hash(value.text);
  if (!value.numbers.empty()) return stable_hash(bytes_of(value.numbers));
  text_.clear();
  for (const std::string_view token : value.tokens) {
    if (options_.level == Level::word && !text_.empty()) text_ += ' ';
    text_ += token;
  }
  return stable_hash(text_);
}

// Returns a hash of the input, or of the target if that is empty.
uint64_t ExampleReader::hash_of(const ExampleLine& line) {
  const bool has_input =
      line.input.exists() && (line.input.form != ValueForm::text || !line.input.text.empty());
  uint64_t hash = hash_of(has_input ? line.input : line.target);
  if (line.source.exists()) hash = stable_hash(bytes_of(line.input.numbers), hash_of(line.source));
  for (const LineValue* of_graph : {&line.edges, &line.global})
    if (const std::vector<float>& numbers = of_graph->numbers; !numbers.empty())
      hash = stable_hash(bytes_of(numbers), hash);
  return hash;
}

void ExampleReader::read(const ExampleLine& line, const LineOrigin& origin, ExampleRows& rows) {
  const Form form = form_of(line, origin);
  if (form_ == Form::unknown) form_ = form;
  std::string_view key = line.input_key;
  int32_t group = -1;
  try {
    check_input(form == form_, "not with examples that have a{} before",
                form_ == Form::pair ? " \"source\"" : "n \"input\"");
    read_input(line.input);
    key = "source";
    read_source(line);
    key = "edges";
    expect_same(corpus_.format.has_edges, *line.input_key == 'n', "\"nodes\" and \"edges\"");
    read_edges(line.edges);
    key = "global";
    read_global(line.global);
    key = "grid";
    read_grid(line.grid);
    key = "target";
    y_.clear();
    if (reads_targets_) read_target(line.target);
    key = "reference";
    read_reference(line.reference);
    key = "positions";
    read_positions(line);
    key = "group";
    group = group_of(line);
  } catch (const InputError& error) {
    throw_line_error(origin, key, error.what());
  }
  rows.rows.push_back({origin, hash_of(line), std::ssize(line.target.text), group});
  rows.ids.x.add(x_);
  rows.ids.source.add(tokens_);
  rows.ids.y.add(y_);
  rows.ids.reference.add(line.reference.numbers);
  const std::span<const float> none;
  rows.positions.add(line.positions);
  rows.features.add(reads_vectors() ? line.input.numbers : none);
  rows.values.add(has_numbers() ? line.target.numbers : none);
  rows.edges.add(line.edges.numbers);
  rows.globals.add(line.global.numbers);
  is_first_ = false;
}

}  // namespace heed
