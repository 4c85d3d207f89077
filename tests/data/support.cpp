#include "support.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace heed {

namespace fs = std::filesystem;

Folder::Folder() {
  static int count = 0;
  path_ = fs::temp_directory_path() / fmt::format("heed-test-data-{}-{}", getpid(), count++);
  fs::create_directories(path_);
}

Folder::~Folder() { fs::remove_all(path_); }

std::string Folder::write(const char* name, std::string_view text) const {
  const std::string path = *this / name;
  fs::remove(path);  // to truncate a file may wait for the disk
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

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
