#include "apps/cost/data_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "apps/inference/attention_map.h"
#include "apps/support/numbers.h"
#include "core/joined.h"
#include "core/standard_ops.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr int64_t max_read = 20'000;  // examples of a split
constexpr size_t shown_bytes = 160, shown_labels = 20;

// One side of an example: what a model reads or generates.
struct Side {
  const char* name;
  const TextCodec* codec;        // null: features
  std::span<const int32_t> ids;  // without special tokens
  int64_t length;                // tokens or vectors
};

// Returns the sides of an example, without the label of a classifier.
std::vector<Side> sides_of(const Corpus& corpus, const Example& example) {
  const bool features = corpus.format.features > 0, two = corpus.framing == ModelKind::seq2seq;
  std::vector<Side> sides = {{features || two || example.prompt > 0 ? "source" : "text",
                              features ? nullptr : corpus.source.get(), source_of(corpus, example),
                              source_length(corpus, example)}};
  if (corpus.format.two_sources)
    sides.push_back({"text", corpus.source.get(), example.source, std::ssize(example.source)});
  if (!two && example.prompt == 0) return sides;
  auto ids = std::span<const int32_t>(example.target)
                 .subspan(static_cast<size_t>(std::max(example.prompt - 1, 0)));
  if (!ids.empty() && ids.back() == corpus.target->vocabulary().end())
    ids = ids.first(ids.size() - 1);
  sides.push_back({"target", corpus.target.get(), ids, std::ssize(ids)});
  return sides;
}

// The lengths and the tokens of one side in a split.
struct Statistics {
  std::map<int64_t, int64_t> lengths;  // number of examples of each length
  int64_t tokens = 0, unknown = 0;
  bool has_unknown = false;  // in the vocabulary

  void add(const Side& side) {
    ++lengths[side.length];
    tokens += side.length;
    if (!side.codec) return;
    const int32_t id = side.codec->vocabulary().unknown();
    has_unknown = id != Vocabulary::none;
    if (has_unknown) unknown += std::count(side.ids.begin(), side.ids.end(), id);
  }
};

// Returns a percentage with two significant digits.
std::string percent(int64_t part, int64_t whole) {
  const double share =
      100.0 * static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, whole));
  return share < 10 ? fmt::format("{:.2g} %", share) : fmt::format("{:.0f} %", share);
}

// Returns "1 ▂▅█▃ 9, median 5": a bar for each length, or for up to 16 ranges of lengths.
std::string histogram(const std::map<int64_t, int64_t>& lengths) {
  static constexpr const char* bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr int64_t max_bars = 16;
  const int64_t shortest = lengths.begin()->first, longest = lengths.rbegin()->first;
  std::array<int64_t, max_bars> counts{};
  const int64_t width = (longest - shortest) / max_bars + 1;
  int64_t total = 0, median = shortest, before = 0;
  for (const auto& [length, count] : lengths) {
    counts[static_cast<size_t>((length - shortest) / width)] += count;
    total += count;
  }
  for (const auto& [length, count] : lengths) {
    if (2 * before < total) median = length;
    before += count;
  }
  if (shortest == longest) return fmt::format("{}", shortest);
  std::string text = fmt::format("{} ", shortest);
  const int64_t highest = *std::max_element(counts.begin(), counts.end());
  for (int64_t i = 0; i <= (longest - shortest) / width; ++i) {
    const int64_t count = counts[static_cast<size_t>(i)];
    text += count == 0 ? " " : bars[(8 * count - 1) / highest];
  }
  return text + fmt::format(" {}, median {}", longest, median);
}

// Returns a label as it is shown: in quotes if it has white space at an end.
std::string label_text(const std::string& label) {
  constexpr size_t max_bytes = 20;
  const bool has_blank =
      label.find_first_of(white_space) == 0 || label.find_last_of(white_space) == label.size() - 1;
  return has_blank ? in_quotes(label, '"', max_bytes) : shortened(label, max_bytes);
}

std::string tokens_text(const Side& side) {
  if (!side.codec) return fmt::format("[{} vectors]", side.length);
  std::string text;
  for (const int32_t id : side.ids) {
    text += (text.empty() ? "" : " ") + token_label(*side.codec, id);
    if (text.size() > shown_bytes) break;
  }
  return shortened(text, shown_bytes);
}

class Report {
 public:
  explicit Report(const Corpus& corpus) : corpus_(corpus), labels_(corpus.labels.size()) {
    for (const char* split : {"train", "val", "test", "test_longer"})
      if (const auto found = corpus.splits.find(split); found != corpus.splits.end())
        read(split, found->second);
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines = corpus_.notes;
    if (!labels_.empty()) lines.push_back("labels: " + label_shares());
    if (!numbers_.empty()) lines.push_back("targets: " + number_range());
    for (const auto& [name, splits] : sides_)
      if (splits[0].second.has_unknown)
        lines.push_back(fmt::format("unknown tokens of {}: {}", name, unknown_shares(splits)));
    for (const auto& [name, splits] : sides_)
      lines.push_back(fmt::format("length of {}: {}", name, histogram(splits[0].second.lengths)));
    lines.insert(lines.end(), examples_.begin(), examples_.end());
    return lines;
  }

 private:
  using SplitStatistics = std::vector<std::pair<const char*, Statistics>>;  // "train" first

  // Reads at most max_read examples, spread over the split. Of a stream over its first examples.
  void read(const char* split, const Dataset& dataset) {
    const int64_t size = dataset.at_hand > 0 ? dataset.at_hand : dataset.size;
    const int64_t stride = (size - 1) / max_read + 1;
    const bool is_train = std::string_view(split) == "train";
    Example example;
    for (int64_t i = 0; i < size; i += stride) {
      dataset.get(i, example);
      const std::vector<Side> sides = sides_of(corpus_, example);
      sides_.resize(sides.size());
      for (size_t k = 0; k < sides.size(); ++k) {
        sides_[k].first = sides[k].name;
        if (i == 0) sides_[k].second.emplace_back(split, Statistics());
        sides_[k].second.back().second.add(sides[k]);
      }
      if (!is_train) continue;
      for (const int32_t id : example.target)
        if (id != ignored && !labels_.empty()) ++labels_[static_cast<size_t>(id)];
      for (const float number : example.values)
        if (!std::isnan(number)) numbers_.push_back(number);
    }
    if (!is_train) return;
    const int64_t last = size - 1;
    for (const int64_t i : std::set{int64_t{0}, last / 2, last}) {
      dataset.get(i, example);
      std::vector<std::string> texts;
      for (const Side& side : sides_of(corpus_, example)) texts.push_back(tokens_text(side));
      if (corpus_.format.two_sources) {
        texts[0] += ", " + texts[1];
        texts.erase(texts.begin() + 1);
      }
      if (!labels_.empty() || (corpus_.format.at_positions && corpus_.target))
        texts.push_back(labels_text(example));
      if (corpus_.format.numbers) texts.push_back(numbers_text(example));
      examples_.push_back(fmt::format("example {}: {}", i + 1, joined(texts, " → ")));
    }
  }

  std::string labels_text(const Example& example) const {
    std::vector<std::string> labels;
    for (const int32_t id : example.target)
      labels.push_back(id == ignored     ? "·"
                       : labels_.empty() ? token_label(*corpus_.target, id)
                                         : label_text(corpus_.labels[static_cast<size_t>(id)]));
    return shortened(joined(labels, " "), shown_bytes);
  }

  static std::string numbers_text(const Example& example) {
    std::vector<std::string> numbers;
    for (const float number : example.values)
      numbers.push_back(std::isnan(number) ? "·" : four_digits(number));
    return shortened(joined(numbers, " "), shown_bytes);
  }

  // Of the targets of the training split.
  std::string number_range() const {
    const auto [least, most] = std::ranges::minmax(numbers_);
    const auto count = static_cast<double>(numbers_.size());
    const double mean = std::accumulate(numbers_.begin(), numbers_.end(), 0.0) / count;
    double squares = 0;
    for (const double number : numbers_) squares += (number - mean) * (number - mean);
    return fmt::format("mean {}, standard deviation {}, {} to {}", four_digits(mean),
                       four_digits(std::sqrt(squares / count)), four_digits(least),
                       four_digits(most));
  }

  std::string label_shares() const {
    const int64_t total = std::accumulate(labels_.begin(), labels_.end(), int64_t{0});
    std::vector<std::string> shares;
    for (size_t i = 0; i < std::min(labels_.size(), shown_labels); ++i)
      shares.push_back(
          fmt::format("{} {}", label_text(corpus_.labels[i]), percent(labels_[i], total)));
    if (labels_.size() > shown_labels)
      shares.push_back(fmt::format("and {} more", labels_.size() - shown_labels));
    return joined(shares);
  }

  static std::string unknown_shares(const SplitStatistics& splits) {
    std::vector<std::string> shares;
    for (const auto& [split, statistics] : splits)
      shares.push_back(fmt::format("{} {}", split, percent(statistics.unknown, statistics.tokens)));
    return joined(shares);
  }

  const Corpus& corpus_;
  std::vector<int64_t> labels_;                                 // training targets of each label
  std::vector<double> numbers_;                                 // training targets
  std::vector<std::pair<const char*, SplitStatistics>> sides_;  // by name
  std::vector<std::string> examples_;
};

}  // namespace

std::vector<std::string> data_report(const Corpus& corpus) { return Report(corpus).lines(); }

}  // namespace heed
