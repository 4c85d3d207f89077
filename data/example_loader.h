// Makes a corpus of examples as they were written: the way from a file, or a stream, to batches.
//
// Call add() with every example, then load(). Until the vocabulary has been chosen, tokens have
// provisional ids (data/text_encoder.h), so that each example is read once.
#pragma once

#include <forward_list>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "data/corpus.h"
#include "data/example_reader.h"
#include "data/framing.h"
#include "data/split.h"

namespace heed {

// Returns the ids of labels, or of the ordinary tokens of a vocabulary, sorted by their names: the
// order of the probabilities in a reference, as it is written.
std::vector<int32_t> reference_order(const std::vector<std::string>& names, bool are_labels);

class ExampleLoader {
 public:
  // Throws InputError if the two sides are to share one vocabulary and the existing one has two, or
  // has another level.
  ExampleLoader(const DataOptions& options, const LoadRequest& request);
  // A loader that read() may be called of at once, for examples that a trained model is to read,
  // with the vocabularies, labels and format of its corpus. With `with_targets` false their targets
  // are not read, and are those of id 0, or the number 0.
  ExampleLoader(const DataOptions& options, const Corpus& trained, bool with_targets);
  ExampleLoader(const ExampleLoader&) = delete;
  ExampleLoader& operator=(const ExampleLoader&) = delete;

  // Says that a split has a file of its own, which may turn out to be empty.
  void open(Split file) { rows_of(file); }
  // Reads an example of the file of a split. The path and, at subword level, the text of the line
  // must outlive the loader, which takes over line.unescaped. Throws as ExampleReader::read() does.
  void add(Split file, ExampleLine& line, const LineOrigin& origin);
  // Chooses the vocabularies, and returns the corpus without the files. `path` of the training file
  // and `noun`, the word for an example, are for messages; `notes` come first. Throws InputError
  // for an empty split, a label that training lacks, and numbers of targets, positions and
  // references that do not match.
  Corpus load(const std::string& path, const char* noun, std::vector<std::string> notes);
  // Writes one more example, after load(): for streams. A group that is new is none. Returns
  // whether it has the input of a held-out one. Throws InputError as add() and load() do, and for a
  // token that is not in the vocabulary and an example that load() would drop. With `skipped` such
  // a token is left out instead, and counted there.
  bool read(const ExampleLine& line, const LineOrigin& origin, Example& example,
            int64_t* skipped = nullptr);
  // Returns a dataset of examples of this format, written by `get` as Dataset::get does.
  Dataset dataset(int64_t size, std::function<void(int64_t i, Example& example)> get) const;
  // Returns the number of the first example of training, not held out, that replaces example i of a
  // stream if that is held out. Depends on i alone.
  int64_t replacement(int64_t i) const { return others_[static_cast<size_t>(i) % others_.size()]; }

 private:
  using Form = ExampleReader::Form;
  // The examples of a split, with their ids once these are those of the vocabulary.
  struct SplitRows {
    std::shared_ptr<ExampleRows> file;
    std::vector<int64_t> rows;  // of the file
    RowIds ids = {};
  };

  // Lays out rows as examples of a model.
  struct RowLayout {
    Layout pair;  // a classifier's: an input and its targets
    int64_t reference_width;
    ExampleFormat format;  // an example without position ids has 0, 1, …
    // Writes row i, whose ids are those at j.
    void lay_out(const ExampleRows& rows, int64_t i, const RowIds& ids, int64_t j,
                 Example& example) const;
  };

  ExampleRows& rows_of(Split file);
  bool is_complete(std::span<const int32_t> x, std::span<const int32_t> y) const;
  void choose_splits(const std::string& path, const char* noun);
  void replace_held_out(const std::string& path);
  bool needs_marks() const;
  void choose_vocabularies();
  void choose_labels();
  void choose_reference(const std::string& path);
  bool encode(const ExampleRows& rows, int64_t i, RowIds& ids, int64_t* skipped = nullptr);
  void encode_target(int64_t* skipped);
  void lay_out_reference(std::span<const float> written);
  void encode_split(const char* name, SplitRows& split);
  void note_split(const char* name, const SplitRows& split, int64_t kept, int64_t empty,
                  int64_t too_long);
  void choose_codecs();
  void choose_layout();
  void store(const char* name, SplitRows split);

  const DataOptions options_;
  const LoadRequest request_;
  bool is_trained_ = false;  // examples are for a trained model
  Corpus corpus_;
  TextEncoder first_, second_;
  TextEncoder &source_, &target_;  // the same object if there is one vocabulary
  ExampleReader reader_;
  std::map<Split, std::shared_ptr<ExampleRows>> files_;
  std::map<Split, SplitRows> splits_;
  std::unordered_set<uint64_t> held_out_;  // data.command: hashes of inputs
  std::vector<int64_t> others_;            // data.command: training examples that are not held out
  std::forward_list<std::string> texts_;   // that had escapes, at subword level
  bool has_marks_ = true;                  // whether pairs have <sep> and <eos>
  std::vector<int32_t> sorted_ids_;        // reference_order()
  std::optional<RowLayout> layout_;

  // Of the example that is being encoded.
  std::vector<int32_t> x_, y_, tokens_;
  std::vector<float> reference_;
};

}  // namespace heed
