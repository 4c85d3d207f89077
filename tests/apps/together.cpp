// What ranks share beside gradients.
#include "apps/support/together.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "thread_ranks.h"

using namespace heed;

TEST_CASE("ranks: texts and numbers of all, the text of the first, whether any says yes") {
  for (const int count : {1, 2, 4}) {
    std::vector<std::string> texts, found(static_cast<size_t>(count));
    std::vector<int> numbers;
    for (int r = 0; r < count; ++r) {
      texts.insert(texts.end(), {"", std::string(static_cast<size_t>(r + 1), 'x'), "y"});
      numbers.insert(numbers.end(), static_cast<size_t>(r), r);
    }
    std::vector<char> equal(static_cast<size_t>(count));
    on_ranks(count, [&] {
      const size_t r = static_cast<size_t>(rank());
      equal[r] =
          concatenated(std::vector<std::string>{"", std::string(r + 1, 'x'), "y"}) == texts &&
          concatenated(std::vector<int>(r, rank())) == numbers;
      found[r] = from_first_rank("from " + std::to_string(rank()));
      equal[r] = equal[r] && on_any_rank(rank() == count - 1) && !on_any_rank(false);
    });
    CAPTURE(count);
    CHECK(std::count(equal.begin(), equal.end(), 1) == count);
    CHECK(std::count(found.begin(), found.end(), "from 0") == count);
  }
}
