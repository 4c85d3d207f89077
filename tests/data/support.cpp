#include "support.h"

namespace heed {

DataOptions file_options(const DataKind* kind, const std::string& path) {
  DataOptions options;
  options.kind = kind;
  options.path = path;
  return options;
}

Corpus load(const DataOptions& options) {
  return load_corpus(options, options.kind->framings[0], 1);
}

std::string input_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  } catch (const std::exception& error) {
    FAIL("not an InputError: ", error.what());
  }
  FAIL("no error was thrown");
  return "";
}

Example example_of(const Dataset& dataset, int64_t i) {
  Example example;
  dataset.get(i, example);
  return example;
}

const Dataset& split(const Corpus& corpus, const char* name) {
  REQUIRE(corpus.splits.contains(name));
  return corpus.splits.at(name);
}

}  // namespace heed
