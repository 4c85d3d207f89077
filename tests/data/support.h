// What the tests of data share: files that vanish, options for a file, and errors as text.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <functional>
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
  Folder();
  ~Folder();
  std::string operator/(const char* name) const { return path_ + '/' + name; }
  // Writes a file and returns its path.
  std::string write(const char* name, std::string_view text) const;

 private:
  std::string path_;
};

DataOptions file_options(const DataKind* kind, const std::string& path);

// The text of the InputError that `action` throws; fails if it throws none or something else.
std::string input_error(const std::function<void()>& action);

// Fails with `text` itself unless it has `part` in it.
void check_contains(const std::string& text, const std::string& part, const char* file, int line);
#define CHECK_CONTAINS(text, part) check_contains(text, part, __FILE__, __LINE__)

Example example_of(const Dataset& dataset, int64_t i);
const Dataset& split(const Corpus& corpus, const char* name);  // fails if there is none

}  // namespace heed
