#include "optim/arena.h"

#include <exception>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/autograd.h"
#include "core/bind.h"
#include "core/pool.h"

namespace heed::inline HEED_REAL {
namespace {

int64_t padded(int64_t size) { return (size + Arena::line - 1) / Arena::line * Arena::line; }

void clear(int64_t size, real* to) {
  parallel_for(size, chunk_elements,
               [=](int64_t first, int64_t last) { std::fill(to + first, to + last, real{0}); });
}

// Returns the parameters that require a gradient, each tensor once, ordered by name.
std::vector<NamedParameter> trained(std::vector<NamedParameter> parameters) {
  std::vector<NamedParameter> chosen;
  std::unordered_map<const Slot*, size_t> known;  // where they are in `chosen`
  for (NamedParameter& parameter : parameters) {
    if (!parameter.tensor.requires_grad()) continue;
    const auto [tied, is_new] = known.try_emplace(parameter.tensor.slot().get(), chosen.size());
    if (is_new) {
      chosen.push_back(std::move(parameter));
    } else {
      const NamedParameter& first = chosen[tied->second];
      check(first.tensor.same_as(parameter.tensor),
            "optimizer: {} and {} share a gradient but are not the same tensor", first.name,
            parameter.name);
    }
  }
  const auto by_name = [](const NamedParameter& a, const NamedParameter& b) {
    return a.name < b.name;
  };
  std::sort(chosen.begin(), chosen.end(), by_name);
  for (size_t i = 1; i < chosen.size(); ++i)
    check(chosen[i - 1].name != chosen[i].name, "optimizer: two parameters are named {}",
          chosen[i].name);
  return chosen;
}

}  // namespace

Handle<Storage> Arena::zeros(int64_t size) {
  Handle<Storage> storage = Storage::allocate(size);
  clear(size, storage->data);
  return storage;
}

int64_t Arena::arrange(std::vector<NamedParameter> parameters) {
  int64_t size = 0;
  for (NamedParameter& parameter : trained(std::move(parameters))) {
    const Shape shape = parameter.tensor.shape();
    placed_.push_back({std::move(parameter), size});
    size += padded(shape.size());
    const bool matrix = shape.rank() >= 2;
    if (stretches_.empty() || stretches_.back().matrix != matrix)
      stretches_.push_back({size, matrix});
    stretches_.back().end = size;
  }
  return size;
}

void Arena::bind() {
  for (Placed& placed : placed_) {
    Tensor& tensor = placed.parameter.tensor;
    bind_leaf(tensor, part_of(parameters_, placed.first, tensor.size()),
              part_of(gradients_, placed.first, tensor.size()));
  }
  pool_trim();  // activations cannot use the former memory of the parameters
}

Arena::Arena(std::vector<NamedParameter> parameters) {
  const int64_t size = arrange(std::move(parameters));
  parameters_ = zeros(size);
  gradients_ = zeros(size);
  slices_ = RankSlices(size, chunk);
  bind();
}

Arena::Arena(const Arena& first, std::vector<NamedParameter> parameters) {
  const int64_t size = arrange(std::move(parameters));
  const auto same = [](const Placed& a, const Placed& b) {
    return a.parameter.name == b.parameter.name && a.first == b.first;
  };
  check(size == first.size() && std::equal(placed_.begin(), placed_.end(), first.placed_.begin(),
                                           first.placed_.end(), same),
        "arena: the second model has other parameters than the first");
  parameters_ = borrow(first.parameters(), size);
  gradients_ = zeros(size);
  for (Placed& placed : placed_) {
    Tensor& tensor = placed.parameter.tensor;
    tensor.body().storage = part_of(parameters_, placed.first, tensor.size());
  }
  bind();
}

void Arena::zero_grad() {
  for (Placed& placed : placed_) placed.parameter.tensor.clear_grad();
}

void Arena::complete_gradients() {
  for (const auto& [parameter, first] : placed_) {
    const Tensor& tensor = parameter.tensor;
    const bool here =
        tensor.slot() && tensor.slot()->bound && tensor.data() == parameters() + first;
    check(here, "optimizer: {} was frozen, or passed to another optimizer, after this one was made",
          parameter.name);
    const Slot& slot = *tensor.slot();
    if (!slot.written) clear(slot.size, slot.gradient->data);
  }
}

// Finds out which gradients are final. Backward adds to the gradient of a parameter as often as
// operations read it. A node of the graph refers to the slots of its inputs until it has run, so a
// gradient is final when nothing but its parameter refers to its slot.
class Arena::FinalGradients final : public Observer {
 public:
  explicit FinalGradients(Arena& arena) : arena_(arena) {}

  void backward_finished(const Node& node, const Slot&) noexcept override {
    if (error) return;
    try {
      Slot** const end = node.inputs + node.input_count;
      for (Slot** input = node.inputs; input < end; ++input) {
        const Slot* const slot = *input;
        if (!slot || !slot->bound || !slot->written || std::find(node.inputs, input, slot) != input)
          continue;
        // The references of the node are released after this.
        const auto of_node = static_cast<uint32_t>(std::count(input, end, slot));
        if (slot->references() == of_node + 1) mark_final(*slot);
      }
      arena_.slices_.advance(arena_.gradients());
    } catch (...) {
      error = std::current_exception();
    }
  }

  std::exception_ptr error;

 private:
  void mark_final(const Slot& slot) {
    const int64_t first = slot.gradient->data - arena_.gradients();
    arena_.slices_.mark_final(arena_.gradients(), {first, first + padded(slot.size)});
  }

  Arena& arena_;
};

void Arena::last_backward(const Tensor& loss) {
  if (rank_count() == 1 || ObserverScope::exists()) return backward(loss);
  FinalGradients gradients(*this);
  {
    const ObserverScope here(gradients);
    backward(loss);
  }
  if (gradients.error) std::rethrow_exception(gradients.error);
}

void Arena::count_change() {
  for (const Placed& placed : placed_) count_modification(placed.parameter.tensor);
}

std::vector<NamedParameter> Arena::tensors(const std::string& prefix,
                                           const Handle<Storage>& array) const {
  std::vector<NamedParameter> views;
  for (const auto& [parameter, first] : placed_) {
    Tensor view = Tensor::empty(parameter.tensor.shape());
    view.body().storage = part_of(array, first, view.size());
    views.push_back({prefix + "." + parameter.name, std::move(view)});
  }
  return views;
}

double Arena::sum_of_squared_gradients() {
  if (scope().shapes_only) return 0;
  chunk_sums_.resize(static_cast<size_t>((size() + chunk - 1) / chunk));
  const ElementRange range = own();
  parallel_for(range.size(), chunk, [&](int64_t begin, int64_t end) {
    const int64_t first = range.first + begin, last = range.first + end;
    double sums[line] = {};  // one for each element of a line
    for (const real* g = gradients() + first; g < gradients() + last; g += line) {
      fetch_ahead(g);
#pragma omp simd
      for (int64_t i = 0; i < line; ++i) sums[i] += static_cast<double>(g[i]) * g[i];
    }
    chunk_sums_[static_cast<size_t>(first / chunk)] =
        std::accumulate(std::begin(sums), std::end(sums), 0.0);
  });
  slices_.gather_by_grain(chunk_sums_.data());
  return std::accumulate(chunk_sums_.begin(), chunk_sums_.end(), 0.0);
}

}  // namespace heed::inline HEED_REAL
