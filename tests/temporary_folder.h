// A folder for the files of one test.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <string>
#include <string_view>

// Creates an empty folder under /tmp. The destructor removes it with its contents.
struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    char name[] = "/tmp/heed-test-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path + "/" + name; }
  // Writes a file, with the folders of its name, and returns its path.
  std::string write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::remove(file);  // to truncate a file may wait for the disk
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
};
