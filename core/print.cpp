#include "core/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

namespace heed::inline HEED_REAL {
namespace {

constexpr int64_t max_elements = 1000;  // that are printed in full
constexpr int64_t edge = 3;             // elements at each end of an axis that is abbreviated

template <class T>
class Printer {
 public:
  Printer(const char* name, const Shape& shape, const T* data)
      : shape_(shape), data_(data), abbreviates_(shape.size() > max_elements) {
    indent_ = std::char_traits<char>::length(name) + 1;
    visit(0, 0, [&](int64_t i) { width_ = std::max(width_, text(i).size()); });
    text_ = fmt::format("{}(", name);
    print(0, 0);
    if (abbreviates_ || shape.size() == 0) text_ += fmt::format(", shape={}", shape);
    text_ += ')';
  }
  std::string result() const { return text_; }

 private:
  std::string text(int64_t i) const {
    if constexpr (std::is_integral_v<T>)
      return std::to_string(data_[i]);
    else
      return fmt::format("{:.4g}", data_[i]);
  }

  // The indices of an axis that are shown, in order; -1 stands for those left out.
  template <class Use>
  void for_shown(int axis, Use use) const {
    const int64_t length = shape_[axis];
    const bool shortened = abbreviates_ && length > 2 * edge;
    for (int64_t i = 0; i < length; ++i) {
      use(shortened && i == edge ? -1 : i);
      if (shortened && i == edge) i = length - edge - 1;
    }
  }

  template <class Use>
  void visit(int axis, int64_t offset, Use use) const {
    if (axis == shape_.rank()) return use(offset);
    for_shown(axis, [&](int64_t i) {
      if (i >= 0) visit(axis + 1, offset * shape_[axis] + i, use);
    });
  }

  void print(int axis, int64_t offset) {
    if (axis == shape_.rank()) {
      text_ += fmt::format("{:>{}}", text(offset), width_);
      return;
    }
    text_ += '[';
    bool first = true;
    for_shown(axis, [&](int64_t i) {
      if (!first) text_ += separator(axis);
      first = false;
      if (i < 0)
        text_ += "...";
      else
        print(axis + 1, offset * shape_[axis] + i);
    });
    text_ += ']';
  }

  // Rows start on new lines, matrices after an empty line.
  std::string separator(int axis) const {
    const int inner = shape_.rank() - axis - 1;
    if (inner == 0) return ", ";
    return ',' + std::string(static_cast<size_t>(inner), '\n') +
           std::string(indent_ + static_cast<size_t>(axis) + 1, ' ');
  }

  const Shape& shape_;
  const T* data_;
  bool abbreviates_;
  size_t indent_, width_ = 0;
  std::string text_;
};

}  // namespace

std::string to_string(const Tensor& x) {
  return x ? Printer("tensor", x.shape(), x.data()).result() : "tensor()";
}

std::string to_string(const Ids& x) {
  return x ? Printer("ids", x.shape(), x.data()).result() : "ids()";
}

}  // namespace heed::inline HEED_REAL
