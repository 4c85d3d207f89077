#include "data/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "core/joined.h"
#include "core/model_kind_names.h"
#include "core/text.h"

namespace heed {

constexpr Named<Operation> operations[] = {{"add", Operation::add},
                                           {"subtract", Operation::subtract},
                                           {"multiply", Operation::multiply},
                                           {"divide", Operation::divide}};
constexpr Named<LabelColumn> label_columns[] = {{"first", LabelColumn::first},
                                                {"last", LabelColumn::last}};

void DataOptions::fields(Fields& f) {
  f.choice("kind", kind, data_kinds::all, "a generated task, or what the files hold");
  f.integer("symbols", symbols, {2, 100'000},
            "number of different symbols of a task: numbers, keys, words of a kind, node colours");
  f.integers("lengths", lengths, {1, 100'000},
             "shortest and longest sequence of a task; graph: nodes; recall: pairs");
  f.integers("longer_lengths", longer_lengths, {1, 100'000},
             "shortest and longest sequence of an additional split, test_longer; empty: no split");
  f.integer("digits", digits, {1, 1000}, "addition: digits of each number");
  f.integer("modulus", modulus, {2, 10'000}, "modular: p, where a ∘ b = c mod p");
  f.choice("operation", operation, operations, "modular: the operation ∘");
  f.integer("size", size, {3, 256}, "shapes, video: height and width of the picture, in pixels");
  f.integer("frames", frames, {2, 256}, "video: number of frames");
  f.number("noise", noise, {0, 100},
           "shapes, video, streams: standard deviation of the noise added to features");
  f.integer("edge_kinds", edge_kinds, {0, 1000},
            "graph: number of edge kinds; 0: edges have no features");
  f.integer("nouns", nouns, {1, 10'000}, "subject: nouns in a sentence; one is the subject");
  f.integer("train_size", train_size, {0, 1e12},
            "training examples of a task; 0: all, or unlimited if they cannot be listed");
  f.integer("val_size", val_size, {0, 1e6},
            "validation examples of a task; 0: all, or 1,000 if they cannot be listed");
  f.integer("test_size", test_size, {0, 1e6}, "the same for test and test_longer");
  f.path("path", path, "the file; of two parallel files the source side; images: the images",
         Field::Effect::data);
  f.paths("paths", paths, "several files in place of path, read as one", Field::Effect::data);
  f.texts("command", command,
          "examples: a program that writes them, in place of path: its words, without a shell",
          Field::Effect::weights, &command_folder);
  f.path("command_folder", command_folder,
         "folder to start the command in; default: that of the config that sets the command",
         Field::Effect::data);
  f.integer("command_timeout", command_timeout, {1, 1e6},
            "seconds that the command may write nothing for while heed waits", Field::Effect::none);
  f.integer("vocabulary_examples", vocabulary_examples, {1, 1e7},
            "command: training examples whose tokens are in the vocabulary, as are those of "
            "validation and test");
  f.path("target_path", target_path,
         "pairs: the target side, or empty if path is a TSV of two columns; images: the labels",
         Field::Effect::data);
  f.path("val_path", val_path, "file for validation; empty: val_fraction of path",
         Field::Effect::data);
  f.path("val_target_path", val_target_path, "pairs: its target side; images: its labels",
         Field::Effect::data);
  f.path("test_path", test_path, "file for the test; empty: test_fraction of path",
         Field::Effect::data);
  f.path("test_target_path", test_target_path, "pairs: its target side; images: its labels",
         Field::Effect::data);
  f.choice("level", level, levels, "what a token is; subword: a piece of a SentencePiece model");
  f.path("tokenizer", tokenizer,
         "subword: a model of SentencePiece; empty: train one of max_vocabulary pieces",
         Field::Effect::data);
  f.path("vocabulary", vocabulary,
         "run, or its vocabulary.json, whose vocabulary to use; empty: that of the weights to "
         "load, else chosen from the training data");
  f.integer("context", context, {1, 1'000'000}, "text: tokens in a window");
  f.text("alphabet", alphabet, "lines: skip lines with other characters; empty: keep all");
  f.choice("label_column", label_column, label_columns,
           "labelled: the column that has the label; the other one has the text");
  f.integer("max_length", max_length, at_least(0),
            "drop examples with more tokens than this on either side; 0: keep all");
  f.integer("min_count", min_count, at_least(1),
            "tokens that occur less often in training become <unk>");
  f.integer("max_vocabulary", max_vocabulary, {0, 10'000'000},
            "keep only this many tokens, the most frequent ones; 0: keep all; subword: the number "
            "of pieces, including 257 for bytes and <unk>");
  f.flag("share_vocabulary", share_vocabulary,
         "pairs, examples: use one vocabulary for both sides, so that embeddings can be tied");
  f.text("none", none, "examples: what a text of targets has at positions without a target");
  f.integer("patch", patch, {1, 1024},
            "images: height and width of a patch in pixels; each patch is a position");
  f.texts("label_names", label_names,
          "images: the names of label 0, label 1, …; empty: the numbers themselves");
  static const std::string keep_help =
      fmt::format("copy the files into the run's folder, at most {} MiB, so that it can be moved",
                  max_kept_bytes >> 20);
  f.flag("keep", keep, keep_help.c_str(), Field::Effect::none);
  f.number("val_fraction", val_fraction, {0, 0.9},
           "fraction of examples held out for validation, chosen by hash; text: its end");
  f.number("test_fraction", test_fraction, {0, 0.9},
           "fraction of examples held out for the test, chosen by hash");
  f.texts("augment", augment,
          "shapes, video, images: change each training picture at random, by some of \"shift\", "
          "\"flip\" (left and right) and \"rotate\" (quarter turns)");
  f.integer("bucketing", bucketing, {1, 1000},
            "sort the examples of this many batches by length to reduce padding; 1: do not sort");
  f.integer("seed", seed, {-1, 9e15}, "of examples and their order; -1: the experiment's seed");
}

const DataKind* DataKind::named(std::string_view name) {
  for (const DataKind* kind : data_kinds::all)
    if (kind->name == name) return kind;
  return nullptr;
}

bool DataKind::uses(std::string_view key) const {
  if (key == "longer_lengths") key = "lengths";
  const auto contains = [key](const auto& names) {
    return std::find(std::begin(names), std::end(names), key) != std::end(names);
  };
  constexpr std::string_view all_kinds[] = {"kind", "val_fraction", "bucketing", "seed"};
  constexpr std::string_view tasks[] = {"train_size", "val_size", "test_size", "test_fraction"};
  return contains(all_kinds) || (is_task() ? contains(tasks) : key == "keep") || contains(keys);
}

namespace {

struct Key {
  std::string name, value;
  bool is_path;
  Field::Effect effect;
};

// The value of a field as text.
struct AsText {
  std::string operator()(const Field::Choice& choice) const {
    return choice.words[static_cast<size_t>(*choice.index)];
  }
  template <class Value>
  std::string operator()(const std::vector<Value>* values) const {
    return joined(*values);
  }
  template <class Value>
  std::string operator()(const Value* value) const {
    return fmt::format("{}", *value);
  }
};

// Lists the fields of a struct as text.
struct Listing final : Fields {
  std::vector<Key> keys;

  void visit(const Field& field) override {
    keys.push_back({field.name, std::visit(AsText(), field.value), field.is_path, field.effect});
  }
  void enter(const char*, const char*) override {}
  void leave() override {}
};

std::vector<Key> keys_of(DataOptions options) {
  Listing listing;
  options.fields(listing);
  return listing.keys;
}

void check_used(const DataOptions& options) {
  const std::vector<Key> keys = keys_of(options), defaults = keys_of({});
  std::vector<std::string_view> used;
  for (const Key& key : keys)
    if (options.kind->uses(key.name)) used.push_back(key.name);
  for (size_t i = 0; i < keys.size(); ++i)
    check_input(options.kind->uses(keys[i].name) || keys[i].value == defaults[i].value,
                "`{}` is not used by `kind` = \"{}\", which uses: {}", keys[i].name,
                options.kind->name, joined(used));
}

void check_framing(const DataKind& kind, ModelKind framing) {
  const auto trains = [framing](const DataKind& other) {
    return std::find(other.framings.begin(), other.framings.end(), framing) != other.framings.end();
  };
  std::vector<std::string_view> models, kinds;
  for (const ModelKind other : kind.framings) models.push_back(name_of(model_kind_names, other));
  for (const DataKind* other : data_kinds::all)
    if (trains(*other)) kinds.push_back(other->name);
  const char* const model = name_of(model_kind_names, framing);
  check_input(
      trains(kind),
      "`kind` = \"{}\" cannot train `framing` = \"{}\", it trains: {}; to train a {}, use: {}",
      kind.name, model, joined(models), model, joined(kinds));
}

void check_lengths(const char* key, const std::vector<int64_t>& lengths) {
  check_input(lengths.size() == 2 && 1 <= lengths[0] && lengths[0] <= lengths[1],
              "`{}` = [{}] must be two lengths, the shortest and the longest", key,
              shortened(joined(lengths)));
}

void check_task(const DataOptions& options) {
  check_lengths("lengths", options.lengths);
  if (options.longer_lengths.empty()) return;
  check_lengths("longer_lengths", options.longer_lengths);
  check_input(options.longer_lengths[0] > options.lengths[1],
              "`longer_lengths` = [{}] must start above the longest of `lengths`, {}",
              shortened(joined(options.longer_lengths)), options.lengths[1]);
}

// Throws InputError for keys of files with data.command, and for its keys without it.
void check_command(const DataOptions& options) {
  const std::vector<Key> keys = keys_of(options), defaults = keys_of({});
  const bool is_set = !options.command.empty();
  constexpr std::string_view own[] = {"command_folder", "command_timeout", "vocabulary_examples",
                                      "val_size", "test_size"},
                             of_files[] = {"path",      "paths",        "val_path",
                                           "test_path", "val_fraction", "test_fraction",
                                           "max_length"};
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].value == defaults[i].value) continue;
    const auto& name = keys[i].name;
    check_input(is_set || std::find(std::begin(own), std::end(own), name) == std::end(own),
                "`{}` needs `command`, the program that writes the examples", name);
    check_input(
        !is_set || std::find(std::begin(of_files), std::end(of_files), name) == std::end(of_files),
        "`{}` and `command` exclude each other: the program writes the examples of every "
        "split, `val_size` and `test_size` of the held-out ones",
        name);
  }
  for (const std::string& word : options.command)
    check_input(word.find('\0') == word.npos && !options.command[0].empty(),
                "`command`: expected the name of a program and its arguments, without NUL bytes");
}

void check_files(const DataOptions& options) {
  check_input(options.path.empty() || options.paths.empty(),
              "`path` and `paths` exclude each other: set one of them");
  check_input(!options.path.empty() || !options.paths.empty() || !options.command.empty(),
              "`kind` = \"{}\" needs `path`, the file to read", options.kind->name);
  check_command(options);
  const bool two_files = !options.target_path.empty();
  for (const auto& [key, source, target] :
       {std::tuple("val", &options.val_path, &options.val_target_path),
        std::tuple("test", &options.test_path, &options.test_target_path)}) {
    const std::string path_key = fmt::format("{}_path", key),
                      target_key = fmt::format("{}_target_path", key);
    check_input(source->empty() || two_files == !target->empty(),
                "`{}` and `{}` must have the form of `path` and `target_path`: two files each, or "
                "one TSV each",
                path_key, target_key);
    check_input(!source->empty() || target->empty(), "`{}` needs `{}`", target_key, path_key);
  }
  check_input(
      options.level != Level::byte || (options.min_count == 1 && options.max_vocabulary == 0),
      "`min_count` and `max_vocabulary` cannot be used with `level` = \"byte\": all 256 bytes are "
      "in the vocabulary");
  const bool subword = options.level == Level::subword;
  check_input(!subword || options.min_count == 1,
              "`min_count` cannot be used with `level` = \"subword\", which has no unknown tokens");
  check_input(subword || options.tokenizer.empty(), "`tokenizer` needs `level` = \"subword\"");
  check_input(options.tokenizer.empty() || options.vocabulary.empty(),
              "`tokenizer` and `vocabulary` exclude each other: set one of them");
  check_input(options.tokenizer.empty() || options.max_vocabulary == 0,
              "`max_vocabulary` cannot be used with `tokenizer`, whose pieces are the vocabulary");
}

}  // namespace

void check_options(const DataOptions& options, ModelKind framing) {
  check_fields(options, "data");
  check_used(options);
  check_framing(*options.kind, framing);
  check_input(options.val_fraction + options.test_fraction <= 0.9,
              "`val_fraction` = {} and `test_fraction` = {} leave less than a tenth for training",
              options.val_fraction, options.test_fraction);
  options.kind->is_task() ? check_task(options) : check_files(options);
  if (options.kind->check) options.kind->check(options);
}

std::vector<std::pair<const char*, std::string*>> data_files(DataOptions& options) {
  std::vector<std::pair<const char*, std::string*>> files = {
      {"path", &options.path},           {"target_path", &options.target_path},
      {"val_path", &options.val_path},   {"val_target_path", &options.val_target_path},
      {"test_path", &options.test_path}, {"test_target_path", &options.test_target_path},
      {"tokenizer", &options.tokenizer}};
  for (std::string& path : options.paths) files.emplace_back("paths", &path);
  std::erase_if(files, [](const auto& file) { return file.second->empty(); });
  return files;
}

std::string describe(const DataOptions& options) {
  std::string text;
  const auto is_new = [](const Key& key) {  // fingerprints of older runs are without it
    return key.name != "label_column" || key.value != "first";
  };
  for (const Key& key : keys_of(options))
    if (options.kind->uses(key.name) && !key.is_path && key.effect != Field::Effect::none &&
        is_new(key) && key.name != "augment")  // which changes what training sees, and no data
      text += fmt::format("{} = {}\n", key.name, key.value);
  return text;
}

}  // namespace heed
