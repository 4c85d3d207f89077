#include "apps/training/data_record.h"

#include <algorithm>

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr int64_t max_data_record_bytes = 1 << 24;

std::string path_in(const std::string& folder) { return own_file(folder, DataRecord::file); }

DataFiles files_in(const Json& entry) {
  DataFiles data;
  for (const Json& file : entry.at("files").elements()) {
    data.paths.push_back(file.at("path").string());
    data.fingerprints.push_back(file.at("fingerprint").string());
    check_fingerprint(data.fingerprints.back());
  }
  check_input(!data.paths.empty(), "expected files");
  return data;
}

bool have_same_content(const DataFiles& a, const DataFiles& b) {
  return a.fingerprints.back() == b.fingerprints.back();
}

}  // namespace

DataFiles DataFiles::of(const Corpus& corpus) {
  DataFiles data;
  for (const std::string& path : corpus.files) data.paths.push_back(escaped(path));
  data.fingerprints = corpus.file_fingerprints;
  return data;
}

DataRecord DataRecord::read(const std::string& folder) {
  DataRecord record(folder);
  const std::string path = path_in(folder);
  if (!exists(path)) return record;
  const auto read = [&](const Json& json) {
    for (const Json& entry : json.at("data").elements()) record.entries_.push_back(files_in(entry));
  };
  read_json(path, "record of data", max_data_record_bytes, read,
            "; restore the file, or train in another folder with --run");
  return record;
}

bool DataRecord::has(const DataFiles& run) const {
  return std::ranges::any_of(entries_,
                             [&](const DataFiles& entry) { return have_same_content(entry, run); });
}

void DataRecord::check(const DataFiles& run, bool varies) const {
  if (run.paths.empty() || entries_.empty()) return;
  for (const DataFiles& entry : entries_) {
    if (entry.paths != run.paths || have_same_content(entry, run)) continue;
    const auto changed = std::ranges::mismatch(entry.fingerprints, run.fingerprints).in2;
    check_input(false,
                "{}: changed since the sweep {} began; restore the file, or train in another "
                "folder with --run",
                shortened(run.paths[static_cast<size_t>(changed - run.fingerprints.begin())], 1000),
                folder_);
  }
  check_input(varies || has(run),
              "{}: not the data that the sweep {} began with, from {}; use files with the same "
              "contents, or train in another folder with --run",
              shortened(joined(run.paths), 1000), folder_,
              shortened(joined(entries_[0].paths), 1000));
}

void DataRecord::add(const DataFiles& run) {
  if (!run.paths.empty() && !has(run)) entries_.push_back(run);
}

void DataRecord::write() const {
  if (entries_.empty()) return;
  Json entries = Json::array();
  for (const DataFiles& data : entries_) {
    Json files = Json::array();
    for (size_t i = 0; i < data.paths.size(); ++i)
      files.push(
          Json::object().set("path", data.paths[i]).set("fingerprint", data.fingerprints[i]));
    entries.push(Json::object().set("files", std::move(files)));
  }
  write_file(path_in(folder_), Json::object().set("data", std::move(entries)).text(2) + "\n");
}

}  // namespace heed
