// The mistakes that the grader of the exercise checkpoint names.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "course/grader/disk.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

namespace {

enum class DiskStep { write, write_once, sync, close, rename, remove, sync_folder };

// Creates a file aside, and takes these steps. Closes it if a step throws, if `careful`.
template <bool careful, DiskStep... steps>
void steps_of(Disk& disk, const std::string& folder, const std::string& name,
              std::string_view checkpoint) {
  const std::string path = folder + "/" + name, aside = path + ".tmp";
  const int file = disk.create(aside);
  bool open = true;
  const auto take = [&](DiskStep step) {
    switch (step) {
      case DiskStep::write:
        for (std::string_view rest = checkpoint; !rest.empty();)
          rest.remove_prefix(disk.write(file, rest));
        break;
      case DiskStep::write_once:
        disk.write(file, checkpoint);
        break;
      case DiskStep::sync:
        disk.sync(file);
        break;
      case DiskStep::close:
        disk.close(file);
        open = false;
        break;
      case DiskStep::rename:
        disk.rename(aside, path);
        break;
      case DiskStep::remove:
        try {
          disk.remove(path);
        } catch (const Error&) {  // there is none yet
        }
        break;
      case DiskStep::sync_folder:
        disk.sync_folder(folder);
        break;
    }
  };
  try {
    (take(steps), ...);
  } catch (...) {
    if (careful && open) disk.close(file);
    throw;
  }
}
template <DiskStep... steps>
constexpr auto* with_steps = steps_of<true, steps...>;

void in_place(Disk& disk, const std::string& folder, const std::string& name,
              std::string_view checkpoint) {
  const int file = disk.create(folder + "/" + name);
  while (!checkpoint.empty()) checkpoint.remove_prefix(disk.write(file, checkpoint));
  disk.sync(file);
  disk.close(file);
  disk.sync_folder(folder);
}

void in_another_folder(Disk& disk, const std::string&, const std::string& name, std::string_view) {
  disk.close(disk.create("/tmp/" + name));
}

using enum DiskStep;
constexpr auto* right = with_steps<write, sync, close, rename, sync_folder>;

void without_a_word(Disk& disk, const std::string& folder, const std::string& name,
                    std::string_view checkpoint) {
  try {
    right(disk, folder, name, checkpoint);
  } catch (const Error&) {
  }
}

TEST_CASE("exercise checkpoint: the solution passes") {
  CHECK(verdict("checkpoint", right) == "");
  CHECK(verdict("checkpoint", with_steps<write, sync, rename, close, sync_folder>) == "");
}

TEST_CASE("exercise checkpoint: the stub and mistakes are named") {
  CHECK_SAYS("overwritten in place", "checkpoint", in_place);
  CHECK_SAYS("another file system", "checkpoint", in_another_folder);
  CHECK_SAYS("write() may write fewer bytes", "checkpoint",
             with_steps<write_once, sync, close, rename, sync_folder>);
  CHECK_SAYS("renamed before it is synced", "checkpoint",
             with_steps<write, close, rename, sync_folder>);
  CHECK_SAYS("renamed before it is synced", "checkpoint",
             with_steps<write, rename, sync, close, sync_folder>);
  CHECK_SAYS("renamed before it is synced", "checkpoint",
             with_steps<sync, write, close, rename, sync_folder>);
  CHECK_SAYS("renamed before it is written", "checkpoint",
             with_steps<rename, write, sync, close, sync_folder>);
  CHECK_SAYS("The new name is not on the disk yet", "checkpoint",
             with_steps<write, sync, close, rename>);
  CHECK_SAYS("The new name is not on the disk yet", "checkpoint",
             with_steps<write, sync, close, sync_folder, rename>);
  CHECK_SAYS("Between remove and rename", "checkpoint",
             with_steps<write, sync, close, DiskStep::remove, rename, sync_folder>);
  CHECK_SAYS("leaves a descriptor open", "checkpoint",
             with_steps<write, sync, rename, sync_folder>);
  CHECK_SAYS("leaves a descriptor open", "checkpoint",
             steps_of<false, write, sync, close, rename, sync_folder>);
  CHECK_SAYS("believes that the checkpoint is saved", "checkpoint", without_a_word);
}

}  // namespace
}  // namespace heed::course
