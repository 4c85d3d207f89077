#include "nn/module.h"

#include <algorithm>

#include "core/joined.h"

namespace heed::inline HEED_REAL {

void Module::collect(const std::string& prefix, std::vector<NamedParameter>& into,
                     std::unordered_set<const TensorBody*>& known) const {
  for (const Member& member : members_) {
    const std::string name = prefix + member.name;
    if (member.child)
      member.child->collect(name + ".", into, known);
    else if (*member.parameter && known.insert(&member.parameter->body()).second)
      into.push_back({name, *member.parameter});
  }
}

std::vector<NamedParameter> Module::parameters() const {
  std::vector<NamedParameter> all;
  std::unordered_set<const TensorBody*> known;
  collect("", all, known);
  return all;
}

std::unordered_map<const Module*, std::string> Module::part_names() const {
  std::unordered_map<const Module*, std::string> names{{this, ""}};
  for (const Member& member : members_) {
    if (!member.child) continue;
    for (const auto& [part, name] : member.child->part_names())
      names[part] = member.name + (name.empty() ? "" : ".") + name;
  }
  return names;
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const NamedParameter& parameter : parameters()) count += parameter.tensor.size();
  return count;
}

Tensor Module::parameter(std::string_view name) const {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  std::vector<std::string> similar;
  for (const NamedParameter& p : parameters()) {
    if (p.name == name) return p.tensor;
    if (p.name.ends_with(last)) similar.push_back(p.name);
  }
  throw Error(fmt::format("module: there is no parameter \"{}\"; similar names: {}", name,
                          similar.empty() ? "none" : joined(similar)));
}

void Module::load(const std::map<std::string, Tensor>& values) {
  const std::vector<NamedParameter> all = parameters();
  std::vector<std::string> missing, unknown;
  for (const NamedParameter& p : all) {
    const auto value = values.find(p.name);
    if (value == values.end())
      missing.push_back(p.name);
    else
      check(value->second.shape() == p.tensor.shape(),
            "module: parameter \"{}\" has shape {}, its value {}", p.name, p.tensor.shape(),
            value->second.shape());
  }
  for (const auto& [name, value] : values)
    if (std::none_of(all.begin(), all.end(),
                     [&known = name](const auto& p) { return p.name == known; }))
      unknown.push_back(name);
  check(missing.empty(), "module: no value for the parameters {}", joined(missing));
  check(unknown.empty(), "module: there are no parameters {}", joined(unknown));
  for (const NamedParameter& p : all) {
    const Tensor& value = values.at(p.name);
    std::copy_n(value.data(), value.size(), Tensor(p.tensor).mutable_data());
  }
}

}  // namespace heed::inline HEED_REAL
