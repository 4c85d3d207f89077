// apps/support/files: atomic writes, links, and errors that name the file.
#include "apps/support/files.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/support/digest.h"
#include "core/check.h"
#include "disk_limits.h"
#include "temporary.h"

using namespace heed;

TEST_CASE("files: SHA-256 matches the examples of FIPS 180-4") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const TemporaryFolder folder;
  write_file(folder / "million", std::string(1'000'000, 'a'));
  write_file(folder / "empty", "");
  CHECK(sha256_of_file(folder / "million") ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(sha256_of_file(folder / "empty") == sha256(""));
  CHECK_CONTAINS(thrown<InputError>([&] { sha256_of_file(folder / "none"); }), "none: cannot read");
  CHECK_CONTAINS(thrown<InputError>([&] { sha256_of_file(folder.path); }),
                 "expected a plain file, found a folder");
}

TEST_CASE("files: write_file and read_file round trip") {
  const TemporaryFolder folder;
  std::string contents("a\0b\n", 4);
  contents.resize(200'004, 'x');
  write_file(folder / "file", contents);
  CHECK(read_file(folder / "file", "text") == contents);
  write_file(folder / "file", "new");
  CHECK(read_file(folder / "file", "text", 3) == "new");
  CHECK_CONTAINS(thrown<InputError>([&] { read_file(folder / "file", "text", 2); }),
                 "expected a text, found more than 2 bytes");
  CHECK(names_in_folder(folder.path) == std::vector<std::string>{"file"});
}

TEST_CASE("files: new files have permissions 0666 without the umask") {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  write_file(folder / "file", "x");
  AppendedFile(folder / "appended").write("x");
  ::umask(before);
  for (const char* name : {"file", "appended"}) {
    struct stat status {};
    REQUIRE(::stat((folder / name).c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0666);
  }
}

TEST_CASE("files: read errors name the path and the cause") {
  const TemporaryFolder folder;
  CHECK_CONTAINS(thrown<InputError>([&] { read_file(folder / "none", "config"); }),
                 "none: cannot read: No such file or directory");
  CHECK_CONTAINS(thrown<InputError>([&] { read_file(folder.path, "config"); }),
                 "expected a config, found a folder");
  write_file(folder / "long", std::string(1001, 'x'));
  CHECK_CONTAINS(thrown<InputError>([&] { read_file(folder / "long", "config", 1000); }),
                 "long: expected a config, found more than 1000 bytes");
}

TEST_CASE("files: FIFOs and devices are rejected without blocking") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  const auto error_of = [](const std::string& path) {
    return thrown<InputError>([&] { read_file(path, "config"); });
  };
  CHECK_CONTAINS(error_of(folder / "fifo"), "fifo: expected a config, found a FIFO or a device");
  CHECK_CONTAINS(error_of("/dev/zero"), "/dev/zero: expected a config, found a FIFO or a device");
  const int writer = ::open((folder / "fifo").c_str(), O_RDWR);  // never writes
  CHECK_CONTAINS(error_of(folder / "fifo"), "fifo: expected a config, found a FIFO");
  ::close(writer);
}

TEST_CASE("files: output_path follows links to a plain file") {
  const TemporaryFolder folder;
  make_folders(folder / "there");
  write_file(folder / "there/old", "old");
  point_link(folder / "one", "there/old");
  point_link(folder / "two", "one");
  point_link(folder / "dangling", folder / "there/new");
  CHECK(output_path(folder / "two") == folder / "there/old");
  CHECK(output_path(folder / "dangling") == folder / "there/new");
  CHECK(output_path(folder / "plain") == folder / "plain");
  write_file(output_path(folder / "two"), "changed");
  CHECK(read_file(folder / "there/old", "text") == "changed");
  CHECK(link_target(folder / "two") == "one");
  CHECK(names_in_folder(folder.path) ==
        std::vector<std::string>{"dangling", "one", "there", "two"});
  CHECK(names_in_folder(folder / "there") == std::vector<std::string>{"old"});

  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  point_link(folder / "to-fifo", "fifo");
  point_link(folder / "loop", "loop");
  const auto error_of = [](const std::string& path) {
    return thrown<InputError>([&] { output_path(path); });
  };
  CHECK_CONTAINS(error_of(folder / "fifo"), "fifo: expected a plain file");
  CHECK_CONTAINS(error_of(folder / "to-fifo"), "to-fifo: expected a plain file");
  CHECK_CONTAINS(error_of("/dev/null"), "/dev/null: expected a plain file");
  CHECK_CONTAINS(error_of(folder / "there"), "there: expected the name of a file");
  CHECK_CONTAINS(error_of(folder / "loop"), "loop: cannot write: Too many levels");
  CHECK_CONTAINS(error_of(folder / "none/file"), "none/file: cannot write: No such file");
}

TEST_CASE("files: writes do not follow symbolic or hard links") {
  const TemporaryFolder folder;
  write_file(folder / "other", "other");
  point_link(folder / ".tmp-file", "other");  // left by another user
  point_link(folder / "file", "other");
  write_file(folder / "file", "mine");
  CHECK(read_file(folder / "other", "text") == "other");
  CHECK(kind_of(folder / "file") == FileKind::plain);
  CHECK(names_in_folder(folder.path) == std::vector<std::string>{"file", "other"});

  point_link(folder / "log", "other");
  CHECK_CONTAINS(thrown<Error>([&] { AppendedFile(folder / "log").write("x"); }),
                 "log: expected a plain file");
  REQUIRE(::link((folder / "other").c_str(), (folder / "copy").c_str()) == 0);
  AppendedFile(folder / "copy").write(" and more");
  CHECK(read_file(folder / "copy", "text") == "other and more");
  CHECK(read_file(folder / "other", "text") == "other");
}

TEST_CASE("files: make_new_folder succeeds only once for a path") {
  const TemporaryFolder folder;
  CHECK(make_new_folder(folder / "a/b"));
  CHECK(!make_new_folder(folder / "a/b"));
  make_folders(folder / "a/b");
  write_file(folder / "file", "");
  CHECK(!make_new_folder(folder / "file"));
  CHECK_CONTAINS(thrown<Error>([&] { make_folders(folder / "file"); }), "cannot create the folder");
}

TEST_CASE("files: point_link replaces the target of a link") {
  const TemporaryFolder folder;
  write_file(folder / "one", "1");
  write_file(folder / "two", "2");
  point_link(folder / "link", "one");
  CHECK(read_file(folder / "link", "text") == "1");
  point_link(folder / "link", "two");
  CHECK(read_file(folder / "link", "text") == "2");
  CHECK(names_in_folder(folder.path) == std::vector<std::string>{"link", "one", "two"});
}

TEST_CASE("files: AtomicFolder appears only at commit") {
  const TemporaryFolder folder;
  {
    AtomicFolder dropped(folder / "set");
    write_file(in_folder(dropped.aside(), "a"), "1");
    CHECK(name_of(dropped.aside()).starts_with(Aside::prefix));
    CHECK(names_in_folder(folder / "set").empty());
  }
  CHECK(names_in_folder(folder.path).empty());
  make_folders(folder / ".tmp-set/left/over");
  AtomicFolder kept(folder / "set");
  CHECK(names_in_folder(kept.aside()).empty());
  write_file(in_folder(kept.aside(), "a"), "1");
  kept.commit();
  CHECK(read_file(folder / "set/a", "text") == "1");
  CHECK(names_in_folder(folder.path) == std::vector<std::string>{"set"});
}

TEST_CASE("files: a failed write leaves the previous file intact") {
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  {
    const FileSizeLimit limit(1000);
    CHECK_CONTAINS(thrown<Error>([&] { write_file(folder / "file", std::string(5000, 'x')); }),
                   "make room on the disk");
  }
  CHECK(read_file(folder / "file", "text") == "old");
  CHECK(names_in_folder(folder.path) == std::vector<std::string>{"file"});
}

TEST_CASE("files: writing to a read-only folder is an error with a remedy") {
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  REQUIRE(::chmod(folder.path.c_str(), 0555) == 0);
  const int result = as_nobody([&] {
    const std::string text = thrown<Error>([&] { write_file(folder / "file", "new"); });
    return text.find("file: cannot write: Permission denied; allow writing") != text.npos ? 1 : 2;
  });
  if (result == -1) MESSAGE("SKIPPED: this process may not change its user");
  if (result != -1) CHECK(result == 1);
  REQUIRE(::chmod(folder.path.c_str(), 0755) == 0);  // allows its removal
  CHECK(read_file(folder / "file", "text") == "old");
}

TEST_CASE("files: folder, name and absolute path") {
  CHECK(folder_of("a/b/c") == "a/b");
  CHECK(folder_of("c") == ".");
  CHECK(name_of("a/b/c") == "c");
  CHECK(name_of("a/b/") == "b");
  CHECK(name_of("a/b/../c/.") == "c");
  CHECK(absolute_path("../x", "/a/b") == "/a/x");
  CHECK(absolute_path("/x", "/a/b") == "/x");
}
