// The data of a run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/example_program.h"
#include "data/features.h"
#include "data/options.h"
#include "data/text_codec.h"

namespace heed {

// The groups that an example is in: each group's name with the example's value, such as {"length",
// "12"}. The name is "" for a group that is a single string.
using Groups = std::vector<std::pair<std::string, std::string>>;

// What a reader of files needs to know besides the options. Clients do not need it.
struct LoadRequest {
  ModelKind framing;            // of the examples
  bool at_positions;            // see load_corpus()
  int64_t queries;              // see load_corpus()
  ExistingVocabulary existing;  // null codecs: there is none
};

struct Corpus {
  ExampleFormat format;                           // whether positions hold tokens or features
  ModelKind framing = ModelKind::language_model;  // the kind of model that the examples are for
  // Vocabularies of what the model reads first and of what it writes: one object unless the two
  // sides of pairs have a vocabulary each. A classifier reads `source` and has one class per label.
  // Null where positions hold features: `source`, and `target` of a classifier.
  std::shared_ptr<const TextCodec> source, target;
  std::vector<std::string> labels;  // by id, sorted; classifier only
  // Number of tokens of the prompt and of the target, for tasks of language models whose targets
  // have no <eos>, because their length is fixed. Otherwise 0.
  int64_t prompt_length = 0, target_length = 0;

  // Those of "train", "val", "test" and "test_longer" that exist. None is empty.
  std::map<std::string, Dataset> splits;
  // Texts and lines: the bytes that the targets of a split stand for, a new line at the end of each
  // line among them. Not of overlapping windows.
  std::map<std::string, int64_t> target_bytes;
  // The maximum number of source positions and of inputs of any example.
  int64_t longest_source = 0, longest_input = 0;
  int64_t last_position = 0;  // maximum of Example::position_ids
  int64_t max_edges = 0;      // maximum number of edges of any example
  // Shape of the grid that the positions form, row-major: (height, width) of an image, (frames,
  // height, width) of a video. Empty for a sequence, a set or a graph.
  std::vector<int64_t> grid;

  // The different combinations of groups, by Example::group. One for each combination that occurs,
  // so that an example has one index however many groups it is in.
  std::vector<Groups> groups;
  // Numbers of Example::reference for each target: 1, the loss of the best possible predictor
  // there, or the size of the vocabulary, its probabilities. 0: examples have no reference.
  int64_t reference_width = 0;

  // Of data.command: the words that are files, with the digests of their contents.
  std::vector<std::pair<std::string, std::string>> program_files;
  // The lines that a run keeps, by split: the held-out and the first training examples.
  std::map<std::string, std::string> kept_lines;
  std::function<double()> seconds_waited;  // those that training has waited for examples

  uint64_t seed = 0;                           // data.seed, or the experiment's
  std::vector<std::string> files;              // all files that were read
  std::vector<std::string> file_fingerprints;  // hash of the contents of the files up to each
  std::string fingerprint;         // hash of their content and of the options that matter
  std::vector<std::string> notes;  // log lines: number of examples, what was dropped
};

// Reads or generates the data. `seed` is the experiment's.
//
// "train" of a text has a window of `context` tokens at every position, so that a shuffled epoch
// has windows at random positions, each once. "val" is the end of the text, cut into adjacent
// windows, in which every token but the first is a target once.
//
// "train" of a task with more than 2^20 examples is drawn during training: 2^40 examples, or
// train_size.
//
// Files of text are read with the vocabulary `existing`, to which special tokens that the kind
// needs are added. data.vocabulary is not read here.
//
// With data.command, `program` is the program that writes the examples: val_size and test_size of
// the held-out ones, and training examples without end, which are read ahead.
//
// Throws Error if `existing` has one of its two vocabularies only.
//
// Throws InputError for options that check_options() rejects, for a file that is missing, empty,
// damaged, not text, or not of the kind that data.kind names, and for a vocabulary of another level
// or that lacks tokens. The message has the file, the line and what to do.
//
// `at_positions`: a classifier has an output at each position, model.pool = "none", or at each of
// `queries` learned queries, model.pool = "queries".
Corpus load_corpus(const DataOptions& options, ModelKind framing, uint64_t seed,
                   const ExistingVocabulary& existing = {}, bool at_positions = false,
                   const ExampleProgram* program = nullptr, int64_t queries = 0);

// Returns the source of an example without special tokens: what an encoder or a classifier reads,
// or the prompt of a language model. Without a prompt it is the line, or the window of a text.
// Empty where positions hold features. Valid as long as the example.
std::span<const int32_t> source_of(const Corpus& corpus, const Example& example);
// Returns the length of the source: its tokens, or the vectors that replace them.
int64_t source_length(const Corpus& corpus, const Example& example);

// Throws InputError unless the text is a fingerprint: 16 hexadecimal digits.
void check_fingerprint(const std::string& text);
// Returns the fingerprint of the files alone, from Corpus::fingerprint of data with these options:
// other options, such as data.bucketing, leave it as it is. "" for a generated task, which has no
// files. Throws InputError for a text that is not a fingerprint.
std::string files_fingerprint(const std::string& fingerprint, const DataOptions& options);

}  // namespace heed
