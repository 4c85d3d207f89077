#include "apps/training/arrays.h"

#include <algorithm>
#include <optional>

#include "apps/config/named_run.h"
#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/names.h"
#include "apps/training/saved_run.h"
#include "core/check.h"
#include "core/tensor_file.h"
#include "data/token_counts.h"

namespace heed {
namespace {

static_assert(sizeof(real) == 4, "checkpoints hold float32");

// A file of weights, and the known vocabularies of its arrays.
struct Weights {
  std::string path;
  RowVocabularies row_vocabularies = {};
  std::optional<Checkpoint> checkpoint = {};  // of a run
};

Weights weights_of(const std::string& path) {
  if (!exists(path)) throw InputError("`train.load`: " + no_such_run(path, "run or file"));
  if (!is_folder(path)) return {path};
  const SavedRun run = SavedRun::open(path);
  Checkpoint best = run.checkpoint("best");
  return {in_folder(best.path(), Checkpoint::model_file), row_vocabularies(run.vocabulary()),
          std::move(best)};
}

// The vocabularies of the rows of an array: in the file, and in the data.
struct RowMap {
  const RowVocabulary *from, *to;

  // Returns the tokens of the data that the file lacks, without special ones.
  TokenCounts lacking() const {
    TokenCounts counts;
    for (const std::string& token : to->tokens) counts.add(token);
    return counts.without(Vocabulary(from->tokens));
  }
};

// Returns how to map the rows of a parameter, or nothing if they stand for the same tokens. Throws
// InputError if it is not known for what they stand.
std::optional<RowMap> row_map(const SafetensorsFile& file, const std::string& name,
                              const RowVocabulary& expected, const RowVocabularies& known) {
  const auto stated = file.metadata().find(vocabulary_key(name));
  const auto found = known.find(name);
  if (stated == file.metadata().end() && found == known.end()) {
    logging::warning(
        "train.load: {} does not say which tokens the rows of {} stand for; "
        "assuming those of the data, in the same order",
        file.path(), name);
    return {};
  }
  const bool is_stated = stated != file.metadata().end();
  if ((is_stated ? stated->second : found->second.digest) == expected.digest) return {};
  check_input(found != known.end() && (!is_stated || stated->second == found->second.digest) &&
                  found->second.kind == expected.kind,
              "`train.load`: {}: the rows of {} stand for other tokens or labels than those of the "
              "data; load the run, which knows them, use data with the same vocabulary, or set "
              "`train.load_names` to other parameters",
              file.path(), name);
  return RowMap{&found->second, &expected};
}

// Throws InputError if an array is not of the expected type and shape. Mapped rows may differ.
void check_shape(const SafetensorsFile& file, const NamedParameter& target,
                 const std::optional<RowMap>& rows) {
  const NamedArray* stored = file.find(target.name);
  check_input(stored != nullptr,
              "`train.load`: {} has no {}; set `train.load_names` to the parameters to load",
              file.path(), target.name);
  NamedArray expected = array_of(target);
  if (rows) expected.dims[0] = std::ssize(rows->from->tokens);
  check_input(stored->dtype == expected.dtype && stored->dims == expected.dims,
              "`train.load`: {}: expected {} of type {}, found {}", file.path(), target.name,
              type_text(expected), type_text(*stored));
}

// Reads an array and copies the row of each token to that of the same token.
void read_rows(const SafetensorsFile& file, NamedParameter target, const RowMap& rows) {
  const NamedArray& array = *file.find(target.name);
  const Tensor stored = Tensor::empty(Shape(std::span(array.dims)));
  read_array(file, {target.name, stored});
  const auto values = stored.values();
  const size_t width = values.size() / rows.from->tokens.size();
  const Vocabulary from(rows.from->tokens);
  real* row = target.tensor.mutable_data();
  size_t mapped = 0;
  for (const std::string& token : rows.to->tokens) {
    if (const int32_t id = from.find(token); id != Vocabulary::none) {
      std::copy_n(values.data() + static_cast<size_t>(id) * width, width, row);
      ++mapped;
    }
    row += width;
  }
  logging::info("train.load: {}: {} of {} rows loaded by their token, {} start anew", target.name,
                mapped, rows.to->tokens.size(), rows.to->tokens.size() - mapped);
}

}  // namespace

void load_weights(const std::string& path, const std::vector<std::string>& patterns,
                  const std::vector<NamedParameter>& parameters,
                  const RowVocabularies& row_vocabularies, NewTokens new_tokens) {
  const Weights weights = weights_of(path);
  const SafetensorsFile file(weights.path);
  std::vector<NamedParameter> chosen;
  for (const NamedParameter& p : parameters)
    if (matches_any(p.name, patterns)) chosen.push_back(p);
  check_input(!chosen.empty(),
              "`train.load_names`: no parameter matches; `heed summary` lists their names");
  std::vector<std::optional<RowMap>> maps;
  for (const NamedParameter& target : chosen) {
    std::optional<RowMap>& rows = maps.emplace_back();
    if (const auto found = row_vocabularies.find(target.name); found != row_vocabularies.end())
      rows = row_map(file, target.name, found->second, weights.row_vocabularies);
    check_shape(file, target, rows);
    if (!rows || new_tokens == NewTokens::add) continue;
    const TokenCounts lacking = rows->lacking();
    check_input(
        lacking.size() == 0,
        "`train.load`: {}: {} has no row for {} of the {} of the data: {}; set `train.new_tokens` "
        "= \"add\" to let their rows start anew, or `train.load_names` to other parameters",
        file.path(), target.name, lacking.size(), rows->to->kind == "labels" ? "labels" : "tokens",
        lacking.examples(10));
  }
  if (weights.checkpoint) weights.checkpoint->model().check_digest();
  for (size_t i = 0; i < chosen.size(); ++i)
    maps[i] ? read_rows(file, chosen[i], *maps[i]) : read_array(file, chosen[i]);
}

}  // namespace heed
