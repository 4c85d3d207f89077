// The kinds of data that data.kind can name: generated tasks and kinds of files.
//
// Each kind is an entry in a file of its own: a task in data/tasks, a kind of file in
// data/*_corpus.cpp. One line below registers it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/registry.h"
#include "data/dataset.h"
#include "data/tokens.h"

namespace heed {

class Files;
struct Corpus;
struct DataOptions;
struct Lengths;
struct LoadRequest;
struct SequenceTask;
struct Task;

// A kind of data: how to generate or read it.
struct DataKind {
  const char* name;  // the word in a config
  // The keys of [data] that it uses, besides those that all kinds and all tasks use: see uses().
  std::vector<std::string_view> keys;
  std::vector<ModelKind> framings;  // the models that it can train

  // Throws InputError for options that contradict each other. Null: any options are valid.
  void (*check)(const DataOptions& options) = nullptr;

  // Exactly one of three is set: a task from sequences to sequences (data/tasks/sequence_task.h),
  SequenceTask (*sequence_task)(const DataOptions& options, Lengths lengths) = nullptr;
  // any other task (data/tasks/task.h),
  Task (*task)(const DataOptions& options, Lengths lengths) = nullptr;
  // or a reader of files.
  Corpus (*load)(const DataOptions& options, Files& files, const LoadRequest& request) = nullptr;

  // Of a task from sequences to sequences: how its tokens are written in a text, "3 1 4" or "314".
  Level level = Level::word;
  // Of such a task that can train a classifier: the names of the classes, by target id.
  std::vector<std::string> (*labels)(const DataOptions& options) = nullptr;

  bool is_task() const { return load == nullptr; }  // its examples are generated
  // Returns whether it uses a key of [data]. A kind with "lengths" also uses "longer_lengths".
  bool uses(std::string_view key) const;
  // Returns the kind of this name, or null.
  static const DataKind* named(std::string_view name);
};

// clang-format off
#define HEED_DATA_KINDS(entry) \
  entry(copy) \
  entry(reverse) \
  entry(sort) \
  entry(addition) \
  entry(modular) \
  entry(parity) \
  entry(shapes) \
  entry(video) \
  entry(graph) \
  entry(streams) \
  entry(set) \
  entry(subject) \
  entry(recall) \
  entry(text) \
  entry(lines) \
  entry(pairs) \
  entry(labelled) \
  entry(examples) \
  entry(images)
// clang-format on
HEED_REGISTRY(data_kinds, DataKind, HEED_DATA_KINDS)

}  // namespace heed
