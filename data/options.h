// What a config may say about data: the section [data].
#pragma once

#include <string>
#include <vector>

#include "core/fields.h"
#include "data/dataset.h"
#include "data/tokens.h"

namespace heed {

enum class DataKind {
  copy,
  reverse,
  sort,
  addition,
  modular,
  parity,  // generated tasks, data/tasks: problems
  shapes,
  video,
  graph,
  streams,
  set,
  subject,
  recall,  // generated tasks, data/tasks: drawn examples
  text,
  lines,
  pairs,
  labelled,
  images  // read from files
};
inline constexpr const char* data_kinds[] = {"copy",   "reverse",  "sort",   "addition", "modular",
                                             "parity", "shapes",   "video",  "graph",    "streams",
                                             "set",    "subject",  "recall", "text",     "lines",
                                             "pairs",  "labelled", "images"};
inline bool is_task(DataKind kind) { return kind < DataKind::text; }
inline bool is_drawn(DataKind kind) { return is_task(kind) && kind >= DataKind::shapes; }

enum class Operation { add, subtract, multiply, divide };
inline constexpr const char* operation_names[] = {"add", "subtract", "multiply", "divide"};

struct DataOptions {
  DataKind kind = DataKind::reverse;

  // Generated tasks.
  int64_t symbols = 50;
  std::vector<int64_t> lengths = {1, 25};
  std::vector<int64_t> longer_lengths;
  int64_t digits = 2;
  int64_t modulus = 97;
  Operation operation = Operation::add;
  int64_t size = 8;
  int64_t frames = 4;
  double noise = 0.1;
  int64_t edge_kinds = 0;
  int64_t nouns = 4;
  int64_t train_size = 0, val_size = 0, test_size = 0;

  // Files.
  std::string path, target_path, val_path, val_target_path, test_path, test_target_path;
  std::vector<std::string> paths;
  Level level = Level::character;
  int64_t context = 64;
  std::string alphabet;
  int64_t max_length = 0;
  int64_t min_count = 1;
  int64_t max_vocabulary = 0;
  bool share_vocabulary = false;
  int64_t patch = 4;
  std::vector<std::string> label_names;

  // Both.
  double val_fraction = 0.1, test_fraction = 0.1;
  int64_t bucketing = 1;
  int64_t seed = -1;

  void fields(Fields& f);
};

// Throws InputError for a key that `kind` does not use, keys that contradict each other, one that
// is missing, or a kind that cannot train a model of this framing. Ranges of single keys are
// checked by whoever sets them.
void check_options(const DataOptions& options, Framing framing);

// The keys that `kind` uses with their values, one "name = value" a line; no paths, as a file is
// what it holds.
std::string describe(const DataOptions& options);

}  // namespace heed
