// Shared by the tests of data: options for a file, and errors as text.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

#include "checks.h"
#include "core/check.h"
#include "data/corpus.h"
#include "temporary_folder.h"

namespace heed {

DataOptions file_options(const DataKind* kind, const std::string& path);
Corpus load(const DataOptions& options);  // for the first of the framings that the data have

// Returns the text of the InputError that `action` throws. Fails if it throws nothing or something
// else.
std::string input_error(const std::function<void()>& action);

Example example_of(const Dataset& dataset, int64_t i);
const Dataset& split(const Corpus& corpus, const char* name);  // fails if it does not exist

}  // namespace heed
