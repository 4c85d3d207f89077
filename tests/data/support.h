// Shared by the tests of data: temporary files, options for a file, and errors as text.
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

#include "checks.h"
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
Corpus load(const DataOptions& options);  // for the first of the framings that the data have

// Returns the text of the InputError that `action` throws. Fails if it throws nothing or something
// else.
std::string input_error(const std::function<void()>& action);

Example example_of(const Dataset& dataset, int64_t i);
const Dataset& split(const Corpus& corpus, const char* name);  // fails if it does not exist

}  // namespace heed
