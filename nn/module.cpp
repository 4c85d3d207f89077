// Defines nn/module.h.
#include "nn/module.h"

#include <cstdlib>
#include <cxxabi.h>
#include <mutex>
#include <set>
#include <typeinfo>

namespace heed::inline HEED_REAL {
namespace {

// The modules that are not part of another.
struct Roots {
  std::mutex mutex;
  std::set<const Module*> modules;
};
Roots& roots() {
  static Roots* const all = new Roots;  // outlives every module
  return *all;
}

// Without namespaces.
std::string type_name(const Module& module) {
  const char* const mangled = typeid(module).name();
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), std::free);
  const std::string text = name ? name.get() : mangled;
  const size_t scope_end = text.rfind("::", text.find('<'));
  return scope_end == text.npos ? text : text.substr(scope_end + 2);
}

}  // namespace

Module::Module() {
  const std::lock_guard lock(roots().mutex);
  roots().modules.insert(this);
}

Module::~Module() {
  const std::lock_guard lock(roots().mutex);
  roots().modules.erase(this);
}

void Module::add(std::string name, const Tensor& parameter) {
  members_.push_back({std::move(name), parameter, nullptr});
}

void Module::add(std::string name, const Module& child) {
  members_.push_back({std::move(name), {}, &child});
  const std::lock_guard lock(roots().mutex);
  roots().modules.erase(&child);
}

void Module::check_members() const {
  const std::lock_guard lock(roots().mutex);
  const auto next = roots().modules.upper_bound(this);
  if (next == roots().modules.end() || !std::less<const void*>()(*next, end_)) return;
  throw Error(fmt::format(
      "module: a {0} inside {1} is not a Part, so nothing would train it; declare it as Part<{0}> "
      "(nn/module.h)",
      type_name(**next), type_name(*this)));
}

void Module::collect(const std::string& prefix, std::vector<NamedParameter>& into,
                     std::unordered_set<const TensorBody*>& known) const {
  check_members();
  for (const Member& member : members_) {
    const std::string name = prefix + member.name;
    if (member.child)
      member.child->collect(name + ".", into, known);
    else if (member.parameter && known.insert(&member.parameter.body()).second)
      into.push_back({name, member.parameter});
  }
}

std::vector<NamedParameter> Module::parameters() const {
  std::vector<NamedParameter> all;
  std::unordered_set<const TensorBody*> known;
  collect("", all, known);
  return all;
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const NamedParameter& parameter : parameters()) count += parameter.tensor.size();
  return count;
}

}  // namespace heed::inline HEED_REAL
