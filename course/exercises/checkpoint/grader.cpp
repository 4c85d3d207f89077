#include "course/grader/grader.h"

#include <algorithm>
#include <map>
#include <set>

#include "course/grader/disk.h"

namespace heed::course {

[[gnu::weak]] void save_checkpoint(Disk& disk, const std::string& folder, const std::string& name,
                                   std::string_view checkpoint);

namespace {

struct DiskFile {
  std::string now, synced;  // what it holds, and what it held at its last sync
};
using DiskNames = std::map<std::string, size_t>;  // a file's index by its name
using DiskChange = std::function<void(DiskNames& names)>;

// What is on a disk.
struct DiskState {
  std::vector<DiskFile> files;
  DiskNames names, synced_names;    // now, and at the last sync of the folder
  std::vector<DiskChange> changes;  // of names, since then

  // The names that a power cut may leave: with some of the changes, in their order.
  std::vector<DiskNames> possible_names() const {
    std::vector<DiskNames> all{synced_names};
    for (const DiskChange& change : changes) {
      all.push_back(all.back());
      change(all.back());
    }
    return all;
  }
};

// A disk in memory. After each call it looks at what a kill or a power cut would leave.
class FailingDisk final : public Disk {
 public:
  FailingDisk(std::string folder, std::string name)
      : folder_(std::move(folder)), path_(folder_ + "/" + name) {}

  size_t most = 1;        // bytes that one write takes
  size_t room = 1 << 20;  // bytes until the disk is full
  DiskState state;
  std::set<std::string> complete;  // checkpoints that may be there

  // Begins a save of this checkpoint. Until it returns the earlier ones are allowed, too.
  void begin(const std::string& checkpoint) {
    had_one_ = !complete.empty();
    expected_ = checkpoint;
    complete.insert(checkpoint);
    history_.clear();
    finding_ = {};
  }
  // What is wrong so far.
  const std::optional<Finding>& finding() const { return finding_; }
  // What was on the disk after each call.
  const std::vector<DiskState>& history() const { return history_; }

  // What is wrong after the save has returned.
  std::optional<Finding> returned() const {
    if (finding_) return finding_;
    if (!holds(state.names, expected_))
      return Finding{"after the return nothing has been saved",
                     "Create a file, write it, rename it: nothing is saved yet."};
    for (const DiskNames& names : state.possible_names())
      if (!holds(names, expected_))
        return Finding{"after the return a power cut brings back what was there before",
                       "The new name is not on the disk yet: sync_folder(folder) comes last."};
    return left_open();
  }
  std::optional<Finding> left_open() const {
    if (open_.empty()) return {};
    return Finding{"a file is still open at the end",
                   "Each save that leaves a descriptor open uses one up, until the process has "
                   "none left. Close it, even if a call throws."};
  }

  int create(const std::string& path) override {
    check_folder(path);
    const size_t file = state.files.size();
    state.files.emplace_back();
    change([=](DiskNames& names) { names[path] = file; });
    open_[++last_] = file;
    after(fmt::format("create(\"{}\")", path),
          "The old checkpoint is overwritten in place: it is gone before the new one is complete. "
          "Write a file of another name, and rename it.");
    return last_;
  }
  size_t write(int file, std::string_view bytes) override {
    const size_t taken = std::min({bytes.size(), most, room});
    heed::check(taken > 0 || bytes.empty(), "no space left on device");
    room -= taken;
    opened(file).now += bytes.substr(0, taken);
    after("write", "");
    return taken;
  }
  void sync(int file) override {
    opened(file).synced = opened(file).now;
    after("sync", "");
  }
  void close(int file) override {
    opened(file);
    open_.erase(file);
  }
  void rename(const std::string& from, const std::string& to) override {
    check_folder(to);
    heed::check(state.names.contains(from), "rename: there is no file \"{}\"", from);
    const std::string& contents = state.files[state.names.at(from)].now;
    const char* const sentence =
        contents == expected_
            ? "The file is renamed before it is synced: after a power cut the name is new, and "
              "the contents are not there."
        : !contents.empty() && expected_.starts_with(contents)
            ? "write() may write fewer bytes than you give it: call it again with the rest, "
              "until nothing is left. Only then rename."
            : "The file is renamed before it is written.";
    change([=](DiskNames& names) {
      names[to] = names.at(from);
      names.erase(from);
    });
    after(fmt::format("rename(\"{}\", \"{}\")", from, to), sentence);
  }
  void remove(const std::string& path) override {
    heed::check(state.names.contains(path), "remove: there is no file \"{}\"", path);
    change([=](DiskNames& names) { names.erase(path); });
    after(fmt::format("remove(\"{}\")", path),
          "Between remove and rename there is no checkpoint. rename replaces the old file in one "
          "step.");
  }
  void sync_folder(const std::string& folder) override {
    if (folder == folder_) state.synced_names = state.names, state.changes.clear();
    after("sync_folder", "");
  }

 private:
  bool holds(const DiskNames& names, const std::string& checkpoint) const {
    return names.contains(path_) && state.files[names.at(path_)].now == checkpoint;
  }
  void check_folder(const std::string& path) {
    if (path.starts_with(folder_ + "/") && path.rfind('/') == folder_.size()) return;
    finding_ = {fmt::format("\"{}\" is not in the folder \"{}\"", path, folder_),
                "A file of another folder may be on another file system: it cannot be renamed, "
                "only copied, and a copy is not one step. Use a name in the same folder."};
    throw Error("another file system");
  }
  DiskFile& opened(int file) {
    heed::check(open_.contains(file), "descriptor {}: no such open file", file);
    return state.files[open_.at(file)];
  }
  void change(const DiskChange& change) {
    change(state.names);
    state.changes.push_back(change);
  }

  // Keeps the first finding; `sentence` says what this call means if it is one.
  void after(const std::string& call, const char* sentence) {
    history_.push_back(state);
    if (finding_) return;
    if (const std::string bad = left_by_kill(); !bad.empty())
      finding_ = {fmt::format("killed after {}: {}", call, bad), sentence};
    else if (const std::string left = left_by_power_cut(); !left.empty())
      finding_ = {fmt::format("power cut after {}: {}", call, left), sentence};
  }
  std::string left_by_kill() const {
    if (!state.names.contains(path_)) return missing();
    return damaged(state.files[state.names.at(path_)].now);
  }
  std::string left_by_power_cut() const {
    std::string bad;
    for (const DiskNames& names : state.possible_names()) {
      if (!names.contains(path_)) {
        bad += bad.empty() ? missing() : "";
        continue;
      }
      const DiskFile& file = state.files[names.at(path_)];
      if (bad.empty()) bad = damaged(file.now);
      if (bad.empty()) bad = damaged(file.synced);
    }
    return bad;
  }
  std::string missing() const { return had_one_ ? fmt::format("there is no \"{}\"", path_) : ""; }
  std::string damaged(const std::string& contents) const {
    if (complete.contains(contents)) return "";
    return fmt::format(
        "\"{}\" may have {} bytes that are neither the old checkpoint nor the new "
        "one of {} bytes",
        path_, contents.size(), expected_.size());
  }

  std::string folder_, path_, expected_;
  bool had_one_ = false;
  std::map<int, size_t> open_;
  int last_ = 2;  // descriptor
  std::vector<DiskState> history_;
  std::optional<Finding> finding_;
};

}  // namespace

void grade_checkpoint(Grader& g, void (*save_checkpoint)(Disk& disk, const std::string& folder,
                                                         const std::string& name,
                                                         std::string_view checkpoint)) {
  const std::string folder = fmt::format("runs/{}", g.size(10, 99)), name = "weights";
  const auto fresh = [&] {
    std::string bytes;  // also zeros
    for (int64_t i = g.size(20, 40); i > 0; --i) bytes += static_cast<char>(g.size(0, 127));
    return bytes;
  };
  const auto expect_nothing = [&](const std::optional<Finding>& found, const char* when) {
    if (found) g.expect(false, fmt::format("{} ({})", found->problem, when), found->sentence);
  };
  const auto save = [&](FailingDisk& disk, const char* when) {
    const std::string checkpoint = fresh();
    disk.begin(checkpoint);
    try {
      save_checkpoint(disk, folder, name, checkpoint);
    } catch (const std::exception& error) {
      expect_nothing(disk.finding(), when);
      g.expect(false, fmt::format("throws '{}' ({})", error.what(), when));
    }
    expect_nothing(disk.returned(), when);
  };

  FailingDisk disk(folder, name);
  disk.most = static_cast<size_t>(g.size(4, 9));
  save(disk, "the first checkpoint");
  if (g.passed()) save(disk, "over an old checkpoint");
  const std::vector<DiskState> killed = disk.history();
  for (size_t i = 0; i < killed.size() && g.passed(); ++i) {
    FailingDisk again(folder, name);
    again.most = disk.most;
    again.state = killed[i];
    again.complete = disk.complete;
    save(again, "after a kill in the save before");
  }
  if (!g.passed()) return;

  const std::string checkpoint = fresh();
  disk.begin(checkpoint);
  disk.room = static_cast<size_t>(g.size(0, 19));
  bool thrown = false;
  try {
    save_checkpoint(disk, folder, name, checkpoint);
  } catch (const std::exception&) {
    thrown = true;
  }
  expect_nothing(disk.finding(), "on a full disk");
  g.expect(thrown, "the disk is full, and nothing is thrown",
           "The caller believes that the checkpoint is saved.");
  expect_nothing(disk.left_open(), "on a full disk");
}
HEED_GRADE(checkpoint, save_checkpoint);

}  // namespace heed::course
