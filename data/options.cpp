#include "data/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/joined.h"
#include "data/utf8.h"

namespace heed {

void DataOptions::fields(Fields& f) {
  f.choice("kind", kind, data_kinds, "a generated task (copy … recall) or what the files hold");
  f.integer("symbols", symbols, {2, 100'000},
            "how many symbols a task has: numbers, keys, words of a sort, colours of nodes");
  f.integers("lengths", lengths, {1, 100'000},
             "shortest and longest sequence of a task; graph: nodes, recall: pairs");
  f.integers("longer_lengths", longer_lengths, {1, 100'000},
             "shortest and longest sequence of one more split, test_longer; empty: no such split");
  f.integer("digits", digits, {1, 1000}, "addition: digits of each number");
  f.integer("modulus", modulus, {2, 10'000}, "modular: p, where a ∘ b = c mod p");
  f.choice("operation", operation, operation_names, "modular: what ∘ stands for");
  f.integer("size", size, {3, 256}, "shapes, video: height and width of the picture");
  f.integer("frames", frames, {2, 256}, "video: pictures in a film");
  f.number("noise", noise, {0, 100}, "shapes, video, streams: deviation of the noise on features");
  f.integer("edge_kinds", edge_kinds, {0, 1000}, "graph: kinds of edges; 0: edges carry nothing");
  f.integer("nouns", nouns, {1, 10'000}, "subject: nouns in a sentence, one of them the subject");
  f.integer("train_size", train_size, {0, 1e12},
            "training examples of a task; 0: all, without end if they cannot be listed");
  f.integer("val_size", val_size, {0, 1e6},
            "validation examples of a task; 0: all, or 1,000 if they cannot be listed");
  f.integer("test_size", test_size, {0, 1e6}, "the same for test and test_longer");
  f.path("path", path, "the file; of two parallel ones that of the source side, or the images");
  f.paths("paths", paths, "several files in place of one, read as if they were one");
  f.path("target_path", target_path,
         "pairs: the target side; none: path is a TSV of two columns; images: the labels");
  f.path("val_path", val_path, "a file for validation; none: val_fraction of path");
  f.path("val_target_path", val_target_path, "pairs: its target side; images: its labels");
  f.path("test_path", test_path, "a file for the test; none: test_fraction of path");
  f.path("test_target_path", test_target_path, "pairs: its target side; images: its labels");
  f.choice("level", level, level_names, "what one token is");
  f.integer("context", context, {1, 1'000'000}, "text: tokens in a window");
  f.text("alphabet", alphabet, "lines: skip those with another character; empty: keep all");
  f.integer("max_length", max_length, at_least(0),
            "drop examples with a side of more tokens than this; 0: keep all");
  f.integer("min_count", min_count, at_least(1),
            "symbols seen less often in training are unknown, <unk>");
  f.integer("max_vocabulary", max_vocabulary, {0, 10'000'000},
            "keep this many symbols, the most frequent ones; 0: all");
  f.flag("share_vocabulary", share_vocabulary,
         "pairs: one vocabulary for both sides, so that embeddings can be tied");
  f.integer("patch", patch, {1, 1024},
            "images: a place is a patch of so many pixels in height and width");
  f.texts("label_names", label_names,
          "images: the name of label 0, of label 1, …; empty: the numbers name themselves");
  f.number("val_fraction", val_fraction, {0, 0.9},
           "share of examples held out for validation by their hash (of a text: its end)");
  f.number("test_fraction", test_fraction, {0, 0.9}, "share held out for the test, by hash");
  f.integer("bucketing", bucketing, {1, 1000},
            "sort the examples of this many batches by length, so that less is padding; 1: do not");
  f.integer("seed", seed, {-1, 9e15}, "of examples and their order; -1: the experiment's seed");
}

namespace {

using Names = std::vector<std::string_view>;

// The keys a kind of data uses besides those that all use, and the models it can train.
struct KindTraits {
  Names keys;
  std::vector<Framing> framings;
};

Names operator+(Names keys, const Names& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

const KindTraits& traits_of(DataKind kind) {
  using enum Framing;
  static const Names task = {"train_size", "val_size", "test_size", "test_fraction"};
  static const Names sequences = task + Names{"lengths", "longer_lengths"};
  static const Names numbers = sequences + Names{"symbols"};
  static const Names rows = {"path",  "val_path",   "test_path", "test_fraction",
                             "level", "max_length", "min_count", "max_vocabulary"};
  static const Names parallel = {"target_path", "val_target_path", "test_target_path"};
  static const Names pictures = task + Names{"size", "noise"};
  // In the order of DataKind: copy, reverse, sort, addition, modular, parity; shapes, video, graph,
  // streams, set, subject, recall; then the files.
  static const std::array<KindTraits, std::size(data_kinds)> traits = {{
      {numbers, {language_model, seq2seq}},
      {numbers, {language_model, seq2seq}},
      {numbers, {language_model, seq2seq}},
      {task + Names{"digits"}, {language_model, seq2seq}},
      {task + Names{"modulus", "operation"}, {language_model, seq2seq, classifier}},
      {sequences, {language_model, seq2seq, classifier}},
      {pictures, {classifier}},
      {pictures + Names{"frames"}, {classifier}},
      {numbers + Names{"edge_kinds"}, {classifier}},
      {numbers + Names{"noise"}, {seq2seq}},
      {numbers, {classifier}},
      {numbers + Names{"nouns"}, {classifier}},
      {numbers, {language_model}},
      {{"path", "paths", "level", "context", "min_count", "max_vocabulary"}, {language_model}},
      {rows + Names{"paths", "alphabet"}, {language_model}},
      {rows + parallel + Names{"share_vocabulary"}, {seq2seq}},
      {rows, {classifier}},
      {{"path", "target_path", "val_path", "val_target_path", "test_path", "test_target_path",
        "test_fraction", "patch", "label_names"},
       {classifier}},
  }};
  return traits[static_cast<size_t>(kind)];
}

bool uses(DataKind kind, std::string_view key) {
  static const Names all = {"kind", "val_fraction", "bucketing", "seed"};
  const Names& keys = traits_of(kind).keys;
  return std::find(all.begin(), all.end(), key) != all.end() ||
         std::find(keys.begin(), keys.end(), key) != keys.end();
}

struct Entry {
  std::string name, value;
  bool is_path;
};

// Reads the fields of a struct as text.
class Listing final : public Fields {
 public:
  std::vector<Entry> entries;

  void flag(const char* name, bool& value, const char*) override { add(name, value); }
  void integer(const char* name, int64_t& value, Range, const char*) override { add(name, value); }
  void number(const char* name, double& value, Range, const char*) override { add(name, value); }
  void text(const char* name, std::string& value, const char*) override { add(name, value); }
  void path(const char* name, std::string& value, const char*) override { add(name, value, true); }
  void texts(const char* name, std::vector<std::string>& values, const char*) override {
    add(name, joined(values));
  }
  void paths(const char* name, std::vector<std::string>& values, const char*) override {
    add(name, joined(values), true);
  }
  void integers(const char* name, std::vector<int64_t>& values, Range, const char*) override {
    add(name, joined(values));
  }

 private:
  template <class Value>
  void add(const char* name, const Value& value, bool is_path = false) {
    entries.push_back({name, fmt::format("{}", value), is_path});
  }
  void choose(const char* name, int& index, std::span<const char* const> words,
              const char*) override {
    add(name, words[static_cast<size_t>(index)]);
  }
  void enter(const char*, const char*) override {}
  void leave() override {}
};

std::vector<Entry> entries_of(DataOptions options) {
  Listing listing;
  options.fields(listing);
  return listing.entries;
}

const char* name_of(DataKind kind) { return data_kinds[static_cast<int>(kind)]; }

void check_keys(const DataOptions& options) {
  const std::vector<Entry> given = entries_of(options), defaults = entries_of({});
  for (size_t i = 0; i < given.size(); ++i)
    check_input(uses(options.kind, given[i].name) || given[i].value == defaults[i].value,
                "data.{} is of no use to data.kind = \"{}\", which takes: {}, val_fraction, "
                "bucketing, seed",
                given[i].name, name_of(options.kind), joined(traits_of(options.kind).keys));
}

void check_framing(DataKind kind, Framing framing) {
  const auto trains = [framing](DataKind other) {
    const std::vector<Framing>& framings = traits_of(other).framings;
    return std::find(framings.begin(), framings.end(), framing) != framings.end();
  };
  Names models, kinds;
  for (const Framing other : traits_of(kind).framings)
    models.push_back(framing_names[static_cast<int>(other)]);
  for (size_t i = 0; i < std::size(data_kinds); ++i)
    if (trains(static_cast<DataKind>(i))) kinds.push_back(data_kinds[i]);
  const char* const model = framing_names[static_cast<int>(framing)];
  check_input(
      trains(kind),
      "data.kind = \"{}\" cannot train model.kind = \"{}\", it trains: {}; to train a {}: {}",
      name_of(kind), model, joined(models), model, joined(kinds));
}

void check_lengths(const char* key, const std::vector<int64_t>& lengths) {
  check_input(lengths.size() == 2 && 1 <= lengths[0] && lengths[0] <= lengths[1],
              "data.{} = [{}] must be two lengths, the shortest and the longest", key,
              joined(lengths));
}

void check_task(const DataOptions& options) {
  check_lengths("lengths", options.lengths);
  if (!options.longer_lengths.empty()) {
    check_lengths("longer_lengths", options.longer_lengths);
    check_input(options.longer_lengths[0] > options.lengths[1],
                "data.longer_lengths = [{}] must begin above the longest of data.lengths, {}",
                joined(options.longer_lengths), options.lengths[1]);
  }
  if (options.kind == DataKind::modular && options.operation == Operation::divide)
    for (int64_t factor = 2; factor * factor <= options.modulus; ++factor)
      check_input(options.modulus % factor != 0,
                  "data.modulus = {} must be a prime for data.operation = \"divide\"",
                  options.modulus);
}

void check_drawn(const DataOptions& options) {
  const int64_t shortest = options.lengths[0], symbols = options.symbols;
  const int64_t longest =
      options.longer_lengths.empty() ? options.lengths[1] : options.longer_lengths[1];
  const auto check_shortest = [shortest](int64_t least, const char* why) {
    check_input(shortest >= least, "data.lengths must begin with {} at least, not {}: {}", least,
                shortest, why);
  };
  switch (options.kind) {
    case DataKind::graph:
      check_shortest(3, "a graph needs a node two steps from node 0");
      check_input(symbols <= 1000,
                  "data.symbols = {} colours are too many for data.kind = \"graph\", whose nodes "
                  "hold a number for each: 1000 at most",
                  symbols);
      return;
    case DataKind::set:
      return check_shortest(2, "only larger sets differ in how many different symbols they have");
    case DataKind::subject:
      check_shortest(options.nouns + 1, "a sentence must hold data.nouns nouns and a verb");
      check_input(options.nouns <= symbols,
                  "data.nouns = {} must not be more than the cases there are, data.symbols = {}",
                  options.nouns, symbols);
      check_input(symbols <= 1000,
                  "data.symbols = {} nouns in as many cases are too many words: 1000 at most",
                  symbols);
      return;
    case DataKind::recall:
      check_input(longest <= symbols,
                  "data.lengths: {} pairs need as many keys, and there are data.symbols = {}",
                  longest, symbols);
      return;
    default:
      return;
  }
}

void check_files(const DataOptions& options) {
  check_input(options.path.empty() || options.paths.empty(),
              "data.path and data.paths exclude each other: give one of them");
  check_input(!options.path.empty() || !options.paths.empty(),
              "data.kind = \"{}\" needs data.path, the file to read", name_of(options.kind));
  const bool two_files = !options.target_path.empty();
  check_input(options.kind != DataKind::images || two_files,
              "data.kind = \"images\" needs data.target_path, the file of labels");
  for (const auto& [key, source, target] :
       {std::tuple("val", &options.val_path, &options.val_target_path),
        std::tuple("test", &options.test_path, &options.test_target_path)}) {
    check_input(source->empty() || two_files == !target->empty(),
                "data.{0}_path and data.{0}_target_path must be of the form of data.path and "
                "data.target_path: two files each, or a TSV each",
                key);
    check_input(!source->empty() || target->empty(), "data.{0}_target_path needs data.{0}_path",
                key);
  }
  check_input(options.kind != DataKind::text || options.level != Level::word,
              "data.level = \"word\" is for lines, pairs and labelled; a text is read by "
              "character or byte");
  check_input(
      options.level != Level::byte || (options.min_count == 1 && options.max_vocabulary == 0),
      "data.min_count and data.max_vocabulary are of no use to data.level = \"byte\": all 256 "
      "bytes are known");
}

void check_label_names(const Names& names) {
  check_input(names.size() != 1, "data.label_names has one name: a classifier needs two labels");
  check_input(names.size() <= 256,
              "data.label_names has {} names, and labels are bytes: 256 at most", names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    check_input(!names[i].empty(), "data.label_names: the name of label {} is empty", i);
    const auto before = std::find(names.begin(), names.end(), names[i]) - names.begin();
    check_input(before == static_cast<std::ptrdiff_t>(i),
                "data.label_names: labels {} and {} are both named {}", before, i,
                in_quotes(names[i]));
  }
}

}  // namespace

void check_options(const DataOptions& options, Framing framing) {
  check_keys(options);
  check_framing(options.kind, framing);
  check_input(
      options.val_fraction + options.test_fraction <= 0.9,
      "data.val_fraction = {} and data.test_fraction = {} leave less than a tenth to train on",
      options.val_fraction, options.test_fraction);
  is_task(options.kind) ? check_task(options) : check_files(options);
  if (is_drawn(options.kind)) check_drawn(options);
  check_label_names(Names(options.label_names.begin(), options.label_names.end()));
}

std::string describe(const DataOptions& options) {
  std::string text;
  for (const Entry& entry : entries_of(options))
    if (uses(options.kind, entry.name) && !entry.is_path)
      text += fmt::format("{} = {}\n", entry.name, entry.value);
  return text;
}

}  // namespace heed
