// Tables of names and values: the words of a config, and the values of an enum.
#pragma once

#include <cstddef>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// A name and the value it stands for. A table is an array of these, in any order.
template <class Value>
struct Named {
  const char* name;  // the word in a config
  Value value;       // the value with that name
};

// An entry of a table, and one of a registry (core/registry.h), whose value is its address.
template <class Value>
constexpr Named<Value> named(const Named<Value>& entry) {
  return entry;
}
template <class Entry>
constexpr Named<const Entry*> named(const Entry* entry) {
  return {entry->name, entry};
}

// Returns the name of a value in the table, or "" if it is not there.
template <class Value, size_t n>
constexpr const char* name_of(const Named<Value> (&table)[n], const Value& value) {
  for (const Named<Value>& entry : table)
    if (entry.value == value) return entry.name;
  return "";
}

}  // namespace heed::inline HEED_REAL
