// Runs the C++ blocks of a page of the course.
//   course_pages 01_tensors            prints what they print
//   course_pages 01_tensors FOLDER     writes what the block of line N prints to the file FOLDER/N
// With a checksum after FOLDER, fails unless the blocks have it: those of the page may be newer.
#include <cstdio>

#include "tests/course/text/page.h"

int main(int argc, char** argv) {
  const auto found = argc > 1 ? course::pages().find(argv[1]) : course::pages().end();
  if (found == course::pages().end()) {
    fmt::print(stderr, "usage: course_pages PAGE [FOLDER]; the pages are\n");
    for (const auto& [name, page] : course::pages()) fmt::print(stderr, "  {}\n", name);
    return 2;
  }
  if (argc > 3 && argv[3] != std::to_string(found->second.checksum)) {
    fmt::print(stderr,
               "{}: its C++ blocks have changed since course_pages was built: build it again\n",
               found->second.path);
    return 1;
  }
  static const char* folder = argv[2];
  static int line;
  try {
    found->second.blocks([](int at) {
      line = at;
      const std::string output = fmt::format("{}/{}", folder ? folder : "", at);
      check(!folder || std::freopen(output.c_str(), "w", stdout), "cannot write {}", output);
    });
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}:{}: this block fails: {}\n", found->second.path, line, error.what());
    return 1;
  }
}
