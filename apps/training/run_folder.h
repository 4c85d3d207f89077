// The folder of a run. Generation needs nothing outside of it, evaluation at most the data.
//
//   config.toml      every value of the experiment
//   vocabulary.json  the tokens that the model reads and generates
//   metrics.jsonl    losses and scores by step, one JSON object a line
//   train.log        the log
//   checkpoints/     apps/training/checkpoint.h
//   snapshots/       apps/training/snapshots.h
//   result.json      the scores of the best checkpoint, at the end
//   run.json         apps/training/run_record.h
//   error.txt        the error that ended the last training in it, if one did
//   data/            copies of the data files, with data.keep = true
#pragma once

#include <string>
#include <vector>

#include "apps/config/named_run.h"
#include "apps/support/files.h"
#include "data/options.h"

namespace heed {

class RunFolder {
 public:
  // Creates the folder. Throws InputError if it is not empty.
  static RunFolder create(const std::string& path);
  // Creates the first of <parent>/<config>, <parent>/<config>-2, … that does not exist; see
  // first_name(). Processes that start at the same moment get different folders.
  static RunFolder create_in(const std::string& parent, const std::string& config_path);
  // Opens a run. Throws InputError if the folder holds none, with the names that may have been
  // meant, if its format is unknown (run_record.h), or if a file of the run is a link or not a
  // plain file: nothing outside of the folder is read or written.
  static RunFolder open(const std::string& path);

  // Throws InputError if something is in the folder already, apart from hidden files and the
  // run.json of a training that was killed before it wrote a config.
  void check_empty() const;
  // Undoes create() if training could not start.
  void discard() const;
  // The files that heed writes directly in the folder, without the lock.
  std::vector<std::string> files() const {
    return {config(), vocabulary(), metrics(), log(), result(), record(), error()};
  }
  // Removes what a killed process left in the folder, unless a process trains in it.
  void clean_up() const;
  // Opens the file that a training process locks (run_writer.h), and creates it if it is missing.
  // Returns its descriptor.
  int open_lock() const;

  const std::string& path() const { return path_; }
  std::string config() const { return in_folder(path_, run_files::config); }
  std::string vocabulary() const { return in_folder(path_, run_files::vocabulary); }
  std::string metrics() const { return in_folder(path_, run_files::metrics); }
  std::string log() const { return in_folder(path_, run_files::log); }
  std::string checkpoints() const { return in_folder(path_, run_files::checkpoints); }
  std::string snapshots() const { return in_folder(path_, run_files::snapshots); }
  std::string data() const { return in_folder(path_, run_files::data); }
  std::string result() const { return in_folder(path_, run_files::result); }
  std::string record() const { return in_folder(path_, run_files::record); }
  std::string error() const { return in_folder(path_, run_files::error); }
  std::string lock() const { return in_folder(path_, run_files::lock); }

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Returns whether a process trains in the run in this folder. Does not get in the way of one that
// starts.
bool is_locked(const std::string& path);

}  // namespace heed
