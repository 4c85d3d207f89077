// Reads examples into rows: checks what one example can show, and gives tokens provisional ids.
//
// There are four forms:
//
//   line        a target alone                   language_model
//   pair        a source and its target          seq2seq, language_model
//   labelled    an input and its label           classifier
//   positions   an input, and at each of its positions a target or none
//                                                language_model, classifier with model.pool =
//                                                "none"
//
// An input is tokens or vectors, which may be the cells of a grid or the nodes of a graph. Targets
// of inputs may be numbers. A classifier and an encoder-decoder may read two sources: an input of
// vectors, and a source of tokens. The first example decides for all.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/example_line.h"
#include "data/text_encoder.h"

namespace heed {

// Many lists in one array.
template <class T>
class Lists {
 public:
  std::span<const T> operator[](int64_t i) const {
    const size_t start = starts_[static_cast<size_t>(i)];
    return std::span(all_).subspan(start, starts_[static_cast<size_t>(i) + 1] - start);
  }
  void add(std::span<const T> list) {
    all_.insert(all_.end(), list.begin(), list.end());
    starts_.push_back(all_.size());
  }
  // Makes room for lists that have as many elements as those.
  void reserve(const Lists& like) {
    all_.reserve(like.all_.size());
    starts_.reserve(like.starts_.size());
  }
  int64_t size() const { return std::ssize(starts_) - 1; }

 private:
  std::vector<T> all_;
  std::vector<size_t> starts_ = {0};
};

// The ids of examples. x is 0 at each position with a vector, y at each with a number, and
// `ignored` at positions without a target.
struct RowIds {
  Lists<int32_t> x, y;
  Lists<int32_t> source;   // of two sources the tokens
  Lists<float> reference;  // of the targets: as written, or as Example::reference
};

// What examples have besides ids that depend on a vocabulary.
struct ExampleRows {
  struct Row {
    LineOrigin origin;
    uint64_t hash = 0;   // of the input, or of the target if there is none: it decides the split
    int64_t bytes = 0;   // of the target as text
    int32_t group = -1;  // Example::group
  };

  std::vector<Row> rows;
  RowIds ids;                     // provisional ones: data/text_encoder.h
  Lists<int32_t> positions;       // Example::position_ids
  Lists<float> features, values;  // as in Example
  Lists<float> edges;             // for each edge its two nodes and its features
  Lists<float> globals;           // Example::global

  const Row& operator[](int64_t i) const { return rows[static_cast<size_t>(i)]; }
  int64_t size() const { return std::ssize(rows); }
};

// The maximum number of different combinations of groups.
inline constexpr int32_t max_groups = 10'000;

class ExampleReader {
 public:
  enum class Form { unknown, line, pair, labelled, positions };
  struct Label {
    std::string_view name;
    int64_t count = 0;  // in training
    int32_t id = -1;    // in Corpus::labels; -1: training lacks it
  };

  // All must outlive the reader. It writes what all examples have in common into the corpus: the
  // format, grid and groups, the last position and the maximum number of edges. The encoders are
  // one object if the two sides have one vocabulary.
  ExampleReader(const DataOptions& options, const LoadRequest& request, TextEncoder& source,
                TextEncoder& target, Corpus& corpus);

  // Appends an example. Throws InputError with file, line and key for one that this kind of model
  // cannot use, or of another form than the first one.
  void read(const ExampleLine& line, const LineOrigin& origin, ExampleRows& rows);
  // Ends what all examples have in common: a group that is new is none, and positions may not be.
  void close() { is_closed_ = true; }
  // Reads examples for a trained model, whose corpus says what all have in common. With
  // `with_targets` false it does not read their targets, and the ids of a target are empty.
  void resume(Form form, bool with_targets);

  Form form() const { return form_; }                                 // of all examples
  int64_t reference_width() const { return reference_width_; }        // as it was written
  std::vector<Label>& labels() { return labels_; }                    // by provisional id
  bool has_numbers() const { return corpus_.format.numbers; }         // as targets
  bool reads_vectors() const { return corpus_.format.features > 0; }  // as inputs
  bool has_two_sources() const { return corpus_.format.two_sources; }
  bool reads_targets() const { return reads_targets_; }  // see resume()
  bool reads_tokens() const { return !reads_vectors() || has_two_sources(); }
  bool has_labels() const { return request_.framing == ModelKind::classifier && !has_numbers(); }

 private:
  template <class Value>
  void expect_same(Value& known, const Value& own, const char* what) const;
  Form form_of(const ExampleLine& line, const LineOrigin& origin) const;
  void read_input(const LineValue& input);
  void read_source(const ExampleLine& line);
  void read_tokens(const LineValue& value, std::vector<int32_t>& ids);
  void read_vectors(const LineValue& input);
  void read_edges(const LineValue& edges);
  void read_global(const LineValue& global);
  void read_grid(const std::vector<int32_t>& grid);
  void read_target(const LineValue& target);
  void read_numbers(const LineValue& target);
  void read_reference(const LineValue& reference);
  void read_positions(const ExampleLine& line);
  int32_t target_id(std::string_view token);
  int32_t group_of(const ExampleLine& line);
  uint64_t hash_of(const LineValue& value);
  uint64_t hash_of(const ExampleLine& line);

  const DataOptions& options_;
  const LoadRequest& request_;
  TextEncoder &source_, &target_;
  Corpus& corpus_;
  Form form_ = Form::unknown;
  bool is_first_ = true;       // the example that is being read, which decides the format of all
  bool knows_target_ = false;  // some example had one that is not null
  bool is_closed_ = false, reads_targets_ = true;
  const char* known_from_ = "as in the first example";  // what all examples have in common
  std::optional<int64_t> edge_width_;                   // of the first edge
  int64_t reference_width_ = 0;
  std::vector<Label> labels_;
  StringMap<int32_t> label_ids_, group_ids_;  // groups: names and values, a zero byte after each

  // Of the example that is being read.
  std::vector<int32_t> x_, y_, tokens_;
  std::string text_;
};

}  // namespace heed
