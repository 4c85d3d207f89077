// Tasks that draw whole examples: a reader that knows only the encoding finds every label.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "drawn_options.h"

namespace heed {

// Checks that the labels of `count` training examples are those that `reader` computes, and that
// all labels are equally frequent.
template <class Reader>
static void check_labels(const Corpus& corpus, int count, Reader reader) {
  std::map<int32_t, int> counts;
  Example example;
  for (int64_t i = 0; i < count; ++i) {
    split(corpus, "train").get(i, example);
    REQUIRE(example.target.size() == 1);
    REQUIRE(example.target[0] == reader(example));
    ++counts[example.target[0]];
  }
  const double expected = count / static_cast<double>(corpus.labels.size());
  CHECK(counts.size() == corpus.labels.size());
  for (const auto& [label, found] : counts)  // within five standard deviations
    CHECK(std::abs(found - expected) < 5 * std::sqrt(expected));
}

struct Picture {
  int64_t size;
  const float* pixels;  // (size, size, 3)
  bool lit(int64_t row, int64_t column) const {
    const float* pixel = pixels + ((row + size) % size * size + (column + size) % size) * 3;
    return pixel[0] + pixel[1] + pixel[2] > 0;
  }
};

// Recognises the figure by the corners of its square that are lit.
static int32_t figure_in(const Picture& picture) {
  int64_t top = picture.size, left = picture.size, bottom = -1, right = -1, lit = 0;
  for (int64_t row = 0; row < picture.size; ++row)
    for (int64_t column = 0; column < picture.size; ++column) {
      if (!picture.lit(row, column)) continue;
      top = std::min(top, row), bottom = std::max(bottom, row);
      left = std::min(left, column), right = std::max(right, column);
      ++lit;
    }
  const int64_t side = bottom - top + 1;
  REQUIRE(side >= 3);
  REQUIRE(side % 2 == 1);
  REQUIRE(right - left + 1 == side);
  REQUIRE(lit == 2 * side - 1);  // whatever the figure
  const auto corner = [&](int64_t row, int64_t column) {
    return picture.lit(row, column) ? '#' : '.';
  };
  const std::string corners = {corner(top, left), corner(top, right), corner(bottom, left),
                               corner(bottom, right)};
  const std::vector<std::string> figures = {"....", "####", "#.##", ".###", "##..", "..##"};
  return static_cast<int32_t>(std::find(figures.begin(), figures.end(), corners) - figures.begin());
}

TEST_CASE("shapes: a picture has one figure of one colour, and the label names it") {
  const Corpus corpus = drawn(drawn_options(&data_kinds::shapes));
  CHECK(corpus.format.features == 3);
  CHECK(corpus.grid == std::vector<int64_t>{8, 8});
  CHECK(corpus.labels == std::vector<std::string>{"+", "x", "L", "J", "T", "⊥"});
  CHECK(corpus.longest_input == 64);
  CHECK_FALSE(corpus.format.has_edges);
  CHECK(corpus.source == nullptr);
  CHECK(corpus.target == nullptr);
  check_labels(corpus, 6000, [](const Example& example) {
    REQUIRE(example.features.size() == 192);
    std::set<std::array<float, 3>> colours;
    for (size_t i = 0; i < 192; i += 3)
      colours.insert({example.features[i], example.features[i + 1], example.features[i + 2]});
    REQUIRE(colours.size() == 2);
    REQUIRE(colours.contains({0, 0, 0}));
    return figure_in({8, example.features.data()});
  });
}

TEST_CASE("video: every frame is the previous frame, shifted by a pixel in one direction") {
  const DataOptions options = drawn_options(&data_kinds::video);
  const Corpus corpus = drawn(options);
  CHECK(corpus.format.features == 3);
  CHECK(corpus.grid == std::vector<int64_t>{4, 5, 5});
  CHECK(corpus.longest_input == 100);
  constexpr int moves[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};  // up, down, left, right
  check_labels(corpus, 4000, [&](const Example& example) {
    Ints fitting;
    for (int32_t direction = 0; direction < 4; ++direction) {
      bool fits = true;
      for (int64_t frame = 0; frame + 1 < 4; ++frame) {
        const Picture now{5, example.features.data() + frame * 75}, next{5, now.pixels + 75};
        for (int64_t row = 0; row < 5; ++row)
          for (int64_t column = 0; column < 5; ++column)
            fits = fits && now.lit(row, column) ==
                               next.lit(row + moves[direction][0], column + moves[direction][1]);
      }
      if (fits) fitting.push_back(direction);
    }
    REQUIRE(fitting.size() == 1);
    return fitting[0];
  });
}

// The colour of the one marked node at distance two, found by all shortest paths (Floyd and
// Warshall). Checks everything that the encoding promises.
static int32_t colour_two_steps_away(const Example& example, size_t colours, size_t kinds) {
  const size_t width = colours + 1, nodes = example.features.size() / width;
  const size_t edges = example.sender.size();
  REQUIRE(nodes * width == example.features.size());
  REQUIRE(example.receiver.size() == edges);
  REQUIRE(example.edge_features.size() == edges * kinds);

  std::map<std::pair<int32_t, int32_t>, int32_t> kind_of;  // by receiver, sender
  for (size_t e = 0; e < edges; ++e) {
    const float* one_hot = example.edge_features.data() + e * kinds;
    const auto kind = static_cast<int32_t>(std::find(one_hot, one_hot + kinds, 1.0F) - one_hot);
    const bool is_own = example.sender[e] == example.receiver[e];
    if (kinds > 0) REQUIRE(std::accumulate(one_hot, one_hot + kinds, 0.0F) == (is_own ? 0 : 1));
    const std::pair ends(example.receiver[e], example.sender[e]);
    if (!kind_of.empty()) REQUIRE(kind_of.rbegin()->first < ends);  // in order, none twice
    kind_of[ends] = kinds > 0 ? kind : 0;
  }
  std::vector<std::vector<size_t>> distance(nodes, std::vector<size_t>(nodes, 1000));
  for (const auto& [ends, kind] : kind_of) {
    REQUIRE(kind_of.at({ends.second, ends.first}) == kind);
    if (kind == 0 && ends.first != ends.second)
      distance[static_cast<size_t>(ends.first)][static_cast<size_t>(ends.second)] = 1;
  }
  for (size_t node = 0; node < nodes; ++node) {
    REQUIRE(kind_of.contains({static_cast<int32_t>(node), static_cast<int32_t>(node)}));
    distance[node][node] = 0;
  }
  for (size_t via = 0; via < nodes; ++via)
    for (size_t a = 0; a < nodes; ++a)
      for (size_t b = 0; b < nodes; ++b)
        distance[a][b] = std::min(distance[a][b], distance[a][via] + distance[via][b]);

  Ints found;
  for (size_t node = 0; node < nodes; ++node) {
    const float* one_hot = example.features.data() + node * width;
    REQUIRE(std::accumulate(one_hot, one_hot + colours, 0.0F) == 1);
    const bool is_marked = one_hot[colours] == 1;
    REQUIRE(distance[0][node] < nodes);  // connected
    if (distance[0][node] < 2) REQUIRE_FALSE(is_marked);
    if (distance[0][node] > 2) REQUIRE(is_marked);
    if (distance[0][node] == 2 && is_marked)
      found.push_back(static_cast<int32_t>(std::find(one_hot, one_hot + colours, 1.0F) - one_hot));
  }
  REQUIRE(found.size() == 1);
  return found[0];
}

TEST_CASE("graph: the label is the colour of the marked node two steps from node 0") {
  for (const int64_t kinds : {0, 1, 3}) {
    CAPTURE(kinds);
    DataOptions options = drawn_options(&data_kinds::graph);
    options.edge_kinds = kinds;
    const Corpus corpus = drawn(options);
    CHECK(corpus.format.features == 5);
    CHECK(corpus.format.has_edges);
    CHECK(corpus.format.edge_features == kinds);
    CHECK(corpus.grid.empty());
    CHECK(corpus.longest_input == 16);
    std::set<size_t> sizes;
    size_t max_edges = 0;
    check_labels(corpus, 2000, [&](const Example& example) {
      sizes.insert(example.features.size() / 5);
      max_edges = std::max(max_edges, example.sender.size());
      return colour_two_steps_away(example, 4, static_cast<size_t>(kinds));
    });
    CHECK(sizes.size() == 9);
    CHECK(*sizes.begin() == 8);
    CHECK(static_cast<int64_t>(max_edges) == corpus.max_edges);
  }
}

TEST_CASE("graph: node numbers and colours of neighbours do not reveal the label") {
  const Corpus corpus = drawn(drawn_options(&data_kinds::graph));
  Example example;
  int as_own = 0, as_neighbour = 0, as_marked = 0;
  constexpr int count = 4000;
  for (int64_t i = 0; i < count; ++i) {
    split(corpus, "train").get(i, example);
    const auto colour = static_cast<size_t>(example.target[0]);
    as_own += example.features[colour] == 1;
    as_neighbour += example.features[static_cast<size_t>(example.sender[1]) * 5 + colour] == 1;
    for (size_t node = 1; node < 8; ++node)
      if (example.features[node * 5 + 4] == 1) {  // the first that is marked
        as_marked += example.features[node * 5 + colour] == 1;
        break;
      }
  }
  CHECK(as_own == doctest::Approx(count / 4.0).epsilon(0.12));
  CHECK(as_neighbour == doctest::Approx(count / 4.0).epsilon(0.12));
  CHECK(as_marked < 0.45 * count);
}

TEST_CASE("streams: the tones give the keys, which are held for random times") {
  const Corpus corpus = drawn(drawn_options(&data_kinds::streams));
  CHECK(corpus.format.features == 3 + 4);  // 12 keys in rows of 4
  CHECK(corpus.source == nullptr);
  CHECK(corpus.target->vocabulary().size() == 14);
  CHECK(corpus.longest_source == 4 * 6 + 3 * 3 + 6);
  CHECK(corpus.longest_input == 5);
  std::map<int64_t, int> held, between;
  int64_t longest = 0;
  Example example;
  for (int64_t i = 0; i < 20'000; ++i) {
    split(corpus, "train").get(i, example);
    const auto frames = static_cast<int64_t>(example.features.size()) / 7;
    longest = std::max(longest, frames);
    Ints keys = {12};  // <bos>
    int64_t run = 0, silence = 0;
    for (int64_t t = 0; t <= frames; ++t) {
      const float* frame = example.features.data() + 7 * t;
      const float loudest = t < frames ? *std::max_element(frame, frame + 7) : 0;
      if (loudest > 0) {
        REQUIRE(std::count(frame, frame + 3, 1.0F) == 1);
        REQUIRE(std::count(frame + 3, frame + 7, 1.0F) == 1);
        const auto row = std::find(frame, frame + 3, 1.0F) - frame;
        const auto column = std::find(frame + 3, frame + 7, 1.0F) - (frame + 3);
        if (run++ == 0) {
          if (keys.size() > 1) ++between[silence];
          if (keys.size() == 1) REQUIRE(silence <= 3);
          keys.push_back(static_cast<int32_t>(4 * row + column));
        }
        REQUIRE(keys.back() == 4 * row + column);
        silence = 0;
      } else {
        if (run > 0) ++held[run];
        run = 0;
        silence += t < frames;
      }
    }
    REQUIRE(silence <= 3);
    REQUIRE(example.input == keys);
    keys.erase(keys.begin());
    keys.push_back(13);  // <eos>
    REQUIRE(example.target == keys);
    REQUIRE(example.source.empty());
  }
  CHECK(held.size() == 5);
  CHECK(held.begin()->first == 2);
  CHECK(between.size() == 3);
  CHECK(between.begin()->first == 1);
  CHECK(longest <= corpus.longest_source);
  CHECK(longest >= corpus.longest_source - 4);
}

TEST_CASE("set: the label is the number of different tokens, at any length and order") {
  const Corpus corpus = drawn(drawn_options(&data_kinds::set));
  CHECK(corpus.labels == std::vector<std::string>{"1", "2", "3", "4", "5"});
  CHECK(corpus.source->vocabulary().size() == 7);
  CHECK(corpus.longest_input == 9);
  std::map<std::pair<size_t, int32_t>, int> by_length;
  int sorted = 0;
  check_labels(corpus, 5000, [&](const Example& example) {
    const std::set<int32_t> different(example.input.begin(), example.input.end());
    REQUIRE(*different.rbegin() < 7);
    ++by_length[{example.input.size(), example.target[0]}];
    sorted += std::is_sorted(example.input.begin(), example.input.end());
    return static_cast<int32_t>(different.size()) - 1;
  });
  CHECK(by_length.size() == 25);
  for (const auto& [key, count] : by_length) CHECK(std::abs(count - 200) < 75);
  CHECK(sorted < 1300);  // those of one token, and few others
}

TEST_CASE("subject: the label is the noun in the case that the verb governs") {
  const Corpus corpus = drawn(drawn_options(&data_kinds::subject));
  CHECK(corpus.labels == std::vector<std::string>{"n0", "n1", "n2", "n3", "n4"});
  CHECK(corpus.source->encode("n3c2 v0 f0 f7") == Ints{2 * 5 + 3, 25, 30, 37});
  CHECK(corpus.source->vocabulary().size() == 38);
  std::map<std::ptrdiff_t, int> distances;
  std::map<size_t, int> verb_positions;
  check_labels(corpus, 5000, [&](const Example& example) {
    const Ints& words = example.input;
    REQUIRE(words.size() >= 9);
    REQUIRE(words.size() <= 12);
    Ints verbs, nouns, subjects;  // positions
    std::set<int32_t> cases;
    for (size_t t = 0; t < words.size(); ++t) {
      if (words[t] >= 25 && words[t] < 30) verbs.push_back(static_cast<int32_t>(t));
      if (words[t] < 25) nouns.push_back(static_cast<int32_t>(t)), cases.insert(words[t] / 5);
    }
    REQUIRE(verbs.size() == 1);
    REQUIRE(nouns.size() == 4);
    REQUIRE(cases.size() == 4);  // each its own
    const int32_t governed = words[static_cast<size_t>(verbs[0])] - 25;
    for (const int32_t position : nouns)
      if (words[static_cast<size_t>(position)] / 5 == governed) subjects.push_back(position);
    REQUIRE(subjects.size() == 1);
    ++distances[subjects[0] - verbs[0]];
    ++verb_positions[static_cast<size_t>(verbs[0])];
    return words[static_cast<size_t>(subjects[0])] % 5;
  });
  CHECK(distances.size() == 22);  // -11 … 11 but 0
  CHECK(distances[1] < 600);
  CHECK(verb_positions.size() == 12);
  CHECK(verb_positions[0] < 700);
}

TEST_CASE("recall: the target is the value that follows the last key in the pairs") {
  const Corpus corpus = drawn(drawn_options(&data_kinds::recall));
  CHECK(corpus.source->encode("k0 k5 v0 v5") == Ints{0, 5, 6, 11});
  CHECK(corpus.source->vocabulary().size() == 12);
  CHECK(corpus.longest_input == 9);
  std::map<size_t, int> positions;
  std::map<int32_t, int> values;
  for (int64_t i = 0; i < 6000; ++i) {
    const Example example = example_of(split(corpus, "train"), i);
    const Ints& prompt = example.input;
    REQUIRE(prompt.size() % 2 == 1);
    REQUIRE(example.prompt == static_cast<int32_t>(prompt.size()));
    std::map<int32_t, int32_t> value_of;
    for (size_t t = 0; t + 1 < prompt.size(); t += 2) {
      REQUIRE(prompt[t] < 6);
      REQUIRE(prompt[t + 1] >= 6);
      REQUIRE(value_of.emplace(prompt[t], prompt[t + 1]).second);  // no key twice
      if (prompt[t] == prompt.back()) ++positions[prompt.size() / 2 * 10 + t / 2];
    }
    REQUIRE(example.target.back() == value_of.at(prompt.back()));
    REQUIRE(std::count(example.target.begin(), example.target.end(), -1) ==
            static_cast<std::ptrdiff_t>(prompt.size()) - 1);
    ++values[example.target.back()];
  }
  CHECK(positions.size() == 2 + 3 + 4);
  for (const auto& [position, count] : positions)
    CHECK(count == doctest::Approx(2000.0 / static_cast<double>(position / 10)).epsilon(0.15));
  CHECK(values.size() == 6);
  for (const auto& [value, count] : values) CHECK(count == doctest::Approx(1000).epsilon(0.15));
}

}  // namespace heed
