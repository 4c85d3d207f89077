// Files that are written aside and renamed.
#include "core/atomic_file.h"

#include <doctest/doctest.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "temporary_folder.h"

namespace heed::inline HEED_REAL {

TEST_CASE("atomic file: the end of one that is in place leaves the next of the same name alone") {
  const TemporaryFolder folder;
  const std::string path = folder.path + "/a";
  std::optional<AtomicFile> first(std::in_place, path);
  first->write("1");
  first->commit();
  AtomicFile second(path);
  second.write("2");
  first.reset();
  second.commit();
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  CHECK(text.str() == "2");
}

}  // namespace heed::inline HEED_REAL
