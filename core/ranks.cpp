#include "core/ranks.h"

#include <algorithm>
#include <optional>

namespace heed::inline HEED_REAL {

void Ranks::exchange(int partner, std::span<const std::byte> to, std::span<std::byte> from) {
  while (!to.empty() || !from.empty()) {
    const auto out = to.first(std::min(largest_message, to.size()));
    const auto in = from.first(std::min(largest_message, from.size()));
    std::optional<Message> received, sent;
    if (!in.empty()) received = receive(partner, 0, in);
    if (!out.empty()) sent = send(partner, 0, out);
    if (received) wait(*received);
    if (sent) wait(*sent);
    to = to.subspan(out.size());
    from = from.subspan(in.size());
  }
}

}  // namespace heed::inline HEED_REAL
