// Makes a corpus of examples as they were written: the way from a file, or a stream, to batches.
//
// Call add() with every example, then load(). Until the vocabulary has been chosen, tokens have
// provisional ids (data/text_encoder.h), so that each example is read once. There are four forms:
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
// vectors, and a source of tokens.
#pragma once

#include <forward_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "data/corpus.h"
#include "data/example_line.h"
#include "data/framing.h"
#include "data/split.h"
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

 private:
  std::vector<T> all_;
  std::vector<size_t> starts_ = {0};
};

// What many examples have besides tokens, by Row::numbers.
struct NumberRows {
  Lists<float> features, edge_features;  // as in Example
  Lists<float> values;
  Lists<int32_t> sender, receiver;
  int64_t size = 0;
};

// Many examples.
struct ExampleRows {
  // What is known of an example besides its lists.
  struct Row {
    LineOrigin origin;
    uint64_t hash = 0;     // of the input, or of the target if there is none: it decides the split
    int64_t bytes = 0;     // of the target as text
    int32_t group = -1;    // Example::group
    int64_t numbers = -1;  // index in NumberRows; -1: it has none
  };

  std::vector<Row> rows;
  // Ids. x is 0 at each position with a vector, y at each with a number, and `ignored` at positions
  // without a target.
  Lists<int32_t> x, y;
  Lists<int32_t> source;                // of two sources the tokens
  Lists<int32_t> positions;             // Example::position_ids
  Lists<float> reference;               // Example::reference
  std::shared_ptr<NumberRows> numbers;  // null: no row has some

  int64_t size() const { return std::ssize(rows); }
  void add(const ExampleRows& others, int64_t i);  // example i of others
};

// The maximum number of different combinations of groups.
inline constexpr int32_t max_groups = 10'000;

class ExampleLoader {
 public:
  // Options and request must outlive the loader. Throws InputError if the two sides are to share
  // one vocabulary and the existing one has two, or has another level.
  ExampleLoader(const DataOptions& options, const LoadRequest& request);

  // Says that a split has a file of its own, which may turn out to be empty.
  void open(Split file) { files_[file]; }
  // Reads an example of the file of a split. The path and, at subword level, the text of the line
  // must outlive the loader, which takes over line.unescaped. Throws InputError with file, line and
  // key for an example that this kind of model cannot use, or of another form than the first one.
  void add(Split file, ExampleLine& line, const LineOrigin& origin);
  // Chooses the vocabularies, and returns the corpus without the files. `path` of the training file
  // and `noun`, the word for an example, are for messages; `notes` come first. Throws InputError
  // for an empty split, a label that training lacks, and numbers of targets, positions and
  // references that do not match.
  Corpus load(const std::string& path, const char* noun, std::vector<std::string> notes);
  // Writes one more example, after load(): for streams. A group that is new is none. Returns
  // whether it has the input of a held-out one. Throws InputError as add() and load() do, and for a
  // token that is not in the vocabulary and an example that load() would drop.
  bool read(const ExampleLine& line, const LineOrigin& origin, Example& example);
  // Returns the number of the first example of training, not held out, that replaces example i of a
  // stream if that is held out. Depends on i alone.
  int64_t replacement(int64_t i) const { return others_[static_cast<size_t>(i) % others_.size()]; }

 private:
  enum class Form { unknown, line, pair, labelled, positions };
  // Lays out rows. A pair as a classifier reads it: an input and its targets.
  struct RowLayout {
    Layout pair;
    size_t reference_width;
    ExampleFormat format;  // an example without position ids has 0, 1, …
    void lay_out(const ExampleRows& rows, int64_t i, Example& example) const;
  };
  struct Label {
    std::string_view name;
    int64_t count = 0;  // in training
    int32_t id = -1;    // in Corpus::labels; -1: training lacks it
  };

  bool has_numbers() const { return corpus_.format.numbers; }
  bool reads_vectors() const { return corpus_.format.features > 0; }
  bool has_two_sources() const { return corpus_.format.two_sources; }
  bool reads_tokens() const { return !reads_vectors() || has_two_sources(); }
  // The tokens that an example reads, of its only source or of one of two.
  std::span<const int32_t> tokens_of(const ExampleRows& rows, int64_t i) const {
    return has_two_sources() ? rows.source[i] : rows.x[i];
  }
  bool has_labels() const { return request_.framing == ModelKind::classifier && !has_numbers(); }
  Form form_of(const ExampleLine& line, const LineOrigin& origin) const;
  void read_input(const LineValue& input);
  void read_source(const ExampleLine& line);
  void read_tokens(const LineValue& value, std::vector<int32_t>& ids);
  void read_vectors(const LineValue& input);
  void read_edges(const LineValue& edges);
  void read_grid(const std::vector<int32_t>& grid);
  void read_numbers(const LineValue& target);
  int64_t add_lists(const ExampleLine& line, ExampleRows& rows) const;
  void read_target(const LineValue& target);
  void read_reference(const LineValue& reference);
  int32_t target_id(std::string_view token);
  int32_t group_of(const ExampleLine& line);
  uint64_t hash_of(const LineValue& value);
  std::map<Split, ExampleRows> split_rows(const std::string& path, const char* noun);
  void replace_held_out(const std::string& path);
  bool is_complete(const ExampleRows& rows, int64_t i) const;
  void choose_vocabularies(const std::map<Split, ExampleRows>& splits);
  void choose_labels(const ExampleRows& train);
  bool needs_marks(const std::map<Split, ExampleRows>& splits) const;
  void add(ExampleRows& rows, const ExampleLine& line, const LineOrigin& origin);
  void encode_row(const ExampleRows& rows, int64_t i);
  bool is_too_long() const;
  void add_encoded(const ExampleRows& rows, int64_t i, ExampleRows& encoded) const;
  ExampleRows encode_split(const ExampleRows& rows, const char* split);
  void encode_target();
  void check_counts(const ExampleRows& rows, int64_t i) const;
  void lay_out_reference(std::span<const float> written);
  void note_split(const char* split, const ExampleRows& rows, int64_t kept, int64_t empty,
                  int64_t too_long);
  void store(const char* name, ExampleRows rows);

  const DataOptions& options_;
  const LoadRequest& request_;
  Corpus corpus_;
  Form form_ = Form::unknown;
  bool is_first_ = true;       // the example that is being read, which decides the format of all
  bool knows_target_ = false;  // some example had one that is not null
  std::optional<int64_t> edge_width_;  // of the first edge
  TextEncoder first_, second_;
  TextEncoder &source_, &target_;  // the same object if there is one vocabulary
  std::vector<Label> labels_;      // by provisional id
  StringMap<int32_t> label_ids_;   // provisional
  StringMap<int32_t> group_ids_;   // by names and values, each with a zero byte after it
  std::map<Split, ExampleRows> files_;
  std::unordered_set<uint64_t> held_out_;  // data.command: hashes of inputs
  std::vector<int64_t> others_;            // data.command: training examples that are not held out
  std::forward_list<std::string> texts_;   // that had escapes, at subword level
  bool has_marks_ = true;                  // whether pairs have <sep> and <eos>
  std::vector<int32_t> sorted_ids_;        // of the tokens that have probabilities in a reference
  int64_t reference_width_ = 0;            // as it was written
  std::optional<RowLayout> layout_;

  // Of the example that is being read.
  std::vector<int32_t> x_, y_, tokens_, sender_, receiver_;
  std::vector<float> reference_, edge_features_;
  std::string key_, text_;
};

}  // namespace heed
