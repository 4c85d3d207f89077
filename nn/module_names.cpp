// Defines the members of Module that find a part by its name, or the name of a part: for
// checkpoints and those who look inside a model.
#include <algorithm>

#include "core/joined.h"
#include "core/suggest.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

Tensor Module::parameter(std::string_view name) const {
  std::vector<std::string> names, same_end;
  for (const NamedParameter& p : parameters()) {
    if (p.name == name) return p.tensor;
    names.push_back(p.name);
    if (p.name.ends_with(last_component(name))) same_end.push_back(p.name);
  }
  throw Error(fmt::format(
      "module: there is no parameter \"{}\"{}", name,
      same_end.empty() ? did_you_mean(name, names) : "; similar names: " + joined(same_end)));
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

std::unordered_map<const Module*, std::string> Module::part_names() const {
  std::unordered_map<const Module*, std::string> names{{this, ""}};
  for (const Member& member : members_) {
    if (!member.child) continue;
    for (const auto& [part, name] : member.child->part_names())
      names[part] = member.name + (name.empty() ? "" : ".") + name;
  }
  return names;
}

}  // namespace heed::inline HEED_REAL
