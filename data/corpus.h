// Everything a run needs to know of its data.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/options.h"
#include "data/text_codec.h"

namespace heed {

struct Corpus {
  ExampleFormat format;
  Framing framing = Framing::language_model;
  // What the model reads first and what it writes: one object unless the two sides of pairs have
  // vocabularies of their own. A classifier reads `source` and has as many classes as labels. What
  // is read as features has no vocabulary: no `source`, and for a classifier no `target` either.
  std::shared_ptr<const TextCodec> source, target;
  std::vector<std::string> labels;  // by id, sorted; classifier only

  // "train", "val", "test", "test_longer": those there are. Never empty ones.
  std::map<std::string, std::unique_ptr<Dataset>> splits;
  // The most source places and inputs any example has: what positions must reach.
  int64_t longest_source = 0, longest_input = 0;
  // Where places lie side by side on a grid, row-major: (height, width) of an image, (frames,
  // height, width) of a video; empty: a sequence, a set or a graph.
  std::vector<int64_t> grid;

  uint64_t seed = 0;               // data.seed, or the experiment's
  std::vector<std::string> files;  // every file that was read
  std::string fingerprint;         // a hash of what the files hold and of the options that matter
  std::vector<std::string> notes;  // for the log: what there is, what was dropped

  // Lets the two longest cover this example.
  void measure(const Example& example);
};

// Reads or generates the data. `seed` is the experiment's.
//
// "train" of a text has a window of `context` tokens at every place, so a shuffled epoch is windows
// at random places, no place twice; "val" is its end cut into windows side by side, the last one
// shorter, in which every token but the first is a target once.
//
// "train" of a task with more than 2^20 problems is drawn as it is used: 2^40 examples, or
// train_size.
//
// Throws InputError for options that check_options() refuses and for a file that is missing, empty,
// damaged, not text, or not of the form that data.kind says: it names the file, the line where
// there are lines, and what to do.
Corpus load_corpus(const DataOptions& options, Framing framing, uint64_t seed);

}  // namespace heed
