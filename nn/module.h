// A named tree of parameters, and nothing else: what a layer computes is an ordinary member
// function.
//
//   class Linear : public Module {
//     Tensor weight, bias;
//     Linear(…) { add("weight", weight); add("bias", bias); }
//   };
//
// The names are what a checkpoint holds: "encoder.layers.0.attention.query.weight".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/parameter.h"

namespace heed::inline HEED_REAL {

class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;  // members are registered by address
  Module& operator=(const Module&) = delete;

  // Every parameter with its full name, in the order they were added. A tensor that is tied to
  // several places appears once, under the first name; a bias that a layer does not have, not at
  // all.
  std::vector<NamedParameter> parameters() const;
  int64_t parameter_count() const;
  // The name of a part of this module, or of its parts, as it is in the names of its parameters:
  // "encoder.layers.0.attention". Of the module itself: "". None for what is no part of it.
  std::optional<std::string> name_of(const Module& part) const;

 protected:
  // The member must live as long as this module. An empty handle is no parameter.
  void add(std::string name, Tensor& parameter) {
    members_.push_back({std::move(name), &parameter, nullptr});
  }
  void add(std::string name, Module& child) {
    members_.push_back({std::move(name), nullptr, &child});
  }

 private:
  struct Member {
    std::string name;
    Tensor* parameter;
    Module* child;
  };
  void collect(const std::string& prefix, std::vector<NamedParameter>& into) const;

  std::vector<Member> members_;
};

}  // namespace heed::inline HEED_REAL
