// What the tests of data share: files that vanish, options for a file, and errors as text.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "core/check.h"
#include "data/corpus.h"

namespace heed {

// A folder of its own for each test, removed at its end.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("heed-test-data-{}-{}", getpid(), count_++)) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  std::string write(const char* name, std::string_view text) const {
    std::filesystem::remove(path_ / name);  // to truncate a file may wait for the disk
    std::ofstream(*this / name, std::ios::binary) << text;
    return *this / name;
  }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

inline DataOptions file_options(DataKind kind, const std::string& path) {
  DataOptions options;
  options.kind = kind;
  options.path = path;
  return options;
}

// The text of the InputError that `action` throws; fails if it throws none or something else.
template <class Action>
std::string input_error(Action action) {
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

#define CHECK_CONTAINS(text, part) \
  CHECK_MESSAGE(std::string(text).find(part) != std::string::npos, text)

inline Example example_of(const Dataset& dataset, int64_t i) {
  Example example;
  dataset.get(i, example);
  return example;
}

inline const Dataset& split(const Corpus& corpus, const char* name) {
  REQUIRE(corpus.splits.contains(name));
  return *corpus.splits.at(name);
}

}  // namespace heed
