// Registries: entries that a config names, each defined in a file of its own, listed by one line.
//
//   // nn/forms/similarity.h: one line registers a similarity.
//   #define HEED_SIMILARITIES(entry) entry(dot) entry(cosine)
//   HEED_REGISTRY(similarities, SimilarityRule, HEED_SIMILARITIES)
//
//   // nn/forms/similarity.cpp, or a file of its own
//   const SimilarityRule similarities::cosine = {.name = "cosine", …};
//
// HEED_REGISTRY declares every entry and the array similarities::all of pointers to them, from
// which Fields::choice reads a config's word. It is a macro because C++ has no other way to declare
// and to list a name in one line. (A constructor that registers itself is dropped by the linker
// when the entry lives in a static library.)
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/real.h"

#define HEED_REGISTRY_DECLARE(name) extern const Entry name;
#define HEED_REGISTRY_ADDRESS(name) &name,
#define HEED_REGISTRY(registry, Type, ENTRIES)                            \
  namespace registry {                                                    \
  using Entry = Type;                                                     \
  ENTRIES(HEED_REGISTRY_DECLARE)                                          \
  inline constexpr const Entry* all[] = {ENTRIES(HEED_REGISTRY_ADDRESS)}; \
  }

namespace heed::inline HEED_REAL {

// The names of the entries that have a property, "a, b, c", for messages.
template <class Entry, size_t n, class Property>
std::string names_where(const Entry* const (&entries)[n], const Property& property) {
  std::string names;
  for (const Entry* entry : entries)
    if (std::invoke(property, *entry))
      names += (names.empty() ? "" : ", ") + std::string(entry->name);
  return names;
}

}  // namespace heed::inline HEED_REAL
