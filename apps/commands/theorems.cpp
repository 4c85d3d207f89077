// heed theorems: what the documents claim, measured; and which of it a model has.
#include <fmt/format.h>

#include "apps/commands.h"
#include "apps/theorems/theorem.h"
#include "core/check.h"

namespace heed::commands {

namespace t = heed::theorems;

int theorems(const TheoremsArguments& arguments) {
  const std::vector<t::Section> sections =
      t::measure_all(static_cast<uint64_t>(arguments.seed), arguments.only);
  fmt::print("{}", arguments.json ? t::json(sections) : t::table(sections));
  return t::all_hold(sections) ? exit_done : exit_failed;
}

}  // namespace heed::commands
