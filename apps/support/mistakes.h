// Several mistakes of the user in one input, such as a config.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/check.h"

namespace heed {

// Its text is that of the first mistake, and the number of the others. The program prints each.
class Mistakes : public InputError {
 public:
  // Takes at least one, as lines of text.
  explicit Mistakes(std::vector<std::string> each)
      : InputError(each.size() == 1 ? each[0]
                                    : fmt::format("{} (and {} more)", each[0], each.size() - 1)),
        each_(std::move(each)) {}

  const std::vector<std::string>& each() const { return each_; }  // all of them

 private:
  std::vector<std::string> each_;
};

}  // namespace heed
