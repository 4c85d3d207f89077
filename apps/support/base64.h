// Base64 (RFC 4648): bytes as text.
#pragma once

#include <string>
#include <string_view>

namespace heed {

std::string base64(std::string_view bytes);
// Throws InputError for a text that is not base64.
std::string bytes_of_base64(std::string_view text);

}  // namespace heed
