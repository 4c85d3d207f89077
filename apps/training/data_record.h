// data.json in the folder of a sweep: the data that the sweep began with.
//
//   {"data": [{"files": [{"path": "/home/you/d.tsv", "fingerprint": "0f1e2d3c4b5a6978"}, …]}, …]}
//
// The fingerprint at a file is that of all files up to it. There are several entries if the paths
// of the data vary. Generated tasks have no files: the config defines their data.
#pragma once

#include <string>
#include <vector>

#include "data/corpus.h"

namespace heed {

// The data files of a run.
struct DataFiles {
  std::vector<std::string> paths;         // in the order in which they are read
  std::vector<std::string> fingerprints;  // by path

  static DataFiles of(const Corpus& corpus);
  bool operator==(const DataFiles&) const = default;
};

class DataRecord {
 public:
  static constexpr const char* file = "data.json";  // in the folder of a sweep
  // Reads the file in the folder of a sweep. Empty if there is none. Throws InputError if it is
  // damaged.
  static DataRecord read(const std::string& folder);

  // Throws InputError if a file of the run has changed, with its name, or if the run has other
  // files with other contents. The latter is allowed if `varies`: a path of the data is an axis.
  void check(const DataFiles& run, bool varies) const;
  // Adds the data of a run, unless they are here or have no files.
  void add(const DataFiles& run);
  // Writes the file, unless there is nothing to write.
  void write() const;

 private:
  explicit DataRecord(std::string folder) : folder_(std::move(folder)) {}
  bool has(const DataFiles& run) const;

  std::string folder_;
  std::vector<DataFiles> entries_;
};

}  // namespace heed
