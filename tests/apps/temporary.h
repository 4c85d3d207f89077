// Helpers of the tests of apps: temporary folders, error messages.
#pragma once

#include <doctest/doctest.h>

#include <stdlib.h>
#include <string>

#include "apps/support/files.h"
#include "checks.h"
#include "core/check.h"

// Creates an empty folder under /tmp. The destructor removes it with its contents.
struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    char name[] = "/tmp/heed-test-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path = name;
  }
  ~TemporaryFolder() { heed::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path + "/" + name; }
};

// Returns the message of the E that f throws, or "". Checks that the message is one line.
template <class E, class F>
std::string thrown(F&& f) {
  try {
    f();
    return "";
  } catch (const E& error) {
    std::string text = error.what();
    CHECK_MESSAGE(text.find('\n') == text.npos, text);
    return text;
  }
}
