// The section [data] of a config.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/fields.h"
#include "data/kind.h"
#include "data/tokens.h"

namespace heed {

// That of the task "modular".
enum class Operation { add, subtract, multiply, divide };
// The column of a labelled line that has the label.
enum class LabelColumn { first, last };

// The keys of [data]. fields() describes each.
struct DataOptions {
  const DataKind* kind = &data_kinds::reverse;

  // ---- generated tasks
  int64_t symbols = 50;
  std::vector<int64_t> lengths = {1, 25};
  std::vector<int64_t> longer_lengths = {};
  int64_t digits = 2;
  int64_t modulus = 97;
  Operation operation = Operation::add;
  int64_t size = 8;
  int64_t frames = 4;
  double noise = 0.1;
  int64_t edge_kinds = 0;
  int64_t nouns = 4;
  int64_t train_size = 0, val_size = 0, test_size = 0;

  // ---- files
  std::string path = {}, target_path = {};
  std::string val_path = {}, val_target_path = {};
  std::string test_path = {}, test_target_path = {};
  std::vector<std::string> paths = {};
  std::vector<std::string> command = {};  // the words of a program that writes examples
  std::string command_folder = {};        // to start it in
  int64_t command_timeout = 60;           // seconds
  int64_t vocabulary_examples = 10'000;
  Level level = Level::character;
  std::string tokenizer = {}, vocabulary = {};
  int64_t context = 64;
  std::string alphabet = {};
  LabelColumn label_column = LabelColumn::last;
  int64_t max_length = 0;
  int64_t min_count = 1;
  int64_t max_vocabulary = 0;
  bool share_vocabulary = false;
  std::string none = ".";
  int64_t patch = 4;
  std::vector<std::string> label_names = {};
  bool keep = false;  // copy the files into the folder of the run, at most max_kept_bytes

  // ---- both
  double val_fraction = 0.1, test_fraction = 0.1;
  std::vector<std::string> augment = {};  // of pictures
  int64_t bucketing = 1;
  int64_t seed = -1;

  void fields(Fields& f);  // visits each, for a config
};

// The maximum size of the files that data.keep copies.
inline constexpr int64_t max_kept_bytes = int64_t{1} << 28;

// Throws InputError for a value out of range, for a key that the kind does not use, for keys that
// contradict each other, for a missing key, and for a kind that cannot train a model of this
// framing.
void check_options(const DataOptions& options, ModelKind framing);

// The files that the options name, each with its key: {"path", &options.path}, …
std::vector<std::pair<const char*, std::string*>> data_files(DataOptions& options);

// The keys that the kind uses with their values, one "name = value" per line, without paths and
// whether the files are kept.
std::string describe(const DataOptions& options);

}  // namespace heed
