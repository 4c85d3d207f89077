// SHA-256 (FIPS 180-4) and base64 (RFC 4648), by OpenSSL.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// Returns the SHA-256 as 64 hexadecimal digits.
std::string sha256(std::string_view text);
std::string sha256_of_file(const std::string& path);

// Returns bytes as text.
std::string base64(std::string_view bytes);
// Throws InputError for a text that is not base64.
std::string bytes_of_base64(std::string_view text);

}  // namespace heed
