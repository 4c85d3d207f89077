// heed claims: table, JSON, and properties of a model. tests/lab/claims checks that every claim
// holds.
#include <doctest/doctest.h>

#include <map>
#include <sstream>

#include "apps/support/json.h"
#include "core/text.h"
#include "program.h"

using namespace heed;
using namespace std::string_literals;

namespace {

Json parsed(const ProgramOutput& output) {
  CHECK_MESSAGE(output.err == "", output.err);
  return Json::parse(output.out, "standard output");
}

// Returns whether the model has each property, by id. All rows of an id must pass.
std::map<std::string, bool> properties_of(const std::string& folder,
                                          std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"claims", "--json", "--model"});
  const ProgramOutput output = succeeded(heed_in(folder, arguments));
  std::map<std::string, bool> properties;
  const Json rows = parsed(output);
  for (const Json& row : rows.elements()) {
    auto [at, is_new] = properties.emplace(row.at("id").string(), row.at("pass").flag());
    at->second = at->second && row.at("pass").flag();
  }
  return properties;
}

std::string classifier_config(const std::string& more) {
  return "[train]\nsteps = 5\nbatch_size = 8\n[model]\nkind = 'classifier'\nlayers = 2\ndim = 8\n"
         "heads = 2\n[model.positional]\nkind = 'none'\n" +
         more + "[data]\nkind = 'set'\nlengths = [4, 8]\nval_size = 20\ntest_size = 20\n";
}

}  // namespace

TEST_CASE("claims --json: every claim has seven members and passes") {
  const TemporaryFolder folder;
  const ProgramOutput output = succeeded(heed_in(folder.path, {"claims", "--json"}));
  const Json rows = parsed(output);
  CHECK(rows.elements().size() >= 169);
  std::map<std::string, int64_t> counts;
  for (const Json& row : rows.elements()) {
    const std::string claim = row.at("claim").string();
    CAPTURE(claim);
    CHECK(row.members().size() == 7);
    ++counts[row.at("evidence").string()];
    CHECK(!row.at("id").string().empty());
    CHECK(!row.at("source").string().empty());
    CHECK(row.at("measured").is_number());
    CHECK(row.at("threshold").is_number());
    CHECK(row.at("pass").flag());
  }
  CHECK(counts.size() == 3);
  CHECK(counts["construction"] == 36);
  CHECK(counts["trained"] == 2);
}

TEST_CASE("claims: the table has its sources, a section, its rows, its notes and a total") {
  const TemporaryFolder folder;
  const ProgramOutput output =
      succeeded(heed_in(folder.path, {"claims", "--only", "A39,Q4", "--seed", "5"}));
  CHECK(output.out.starts_with("  S0  Ji, Xie & Gao, "));
  CHECK_CONTAINS(output.out, "\n  S4  Pitié, ");
  CHECK_CONTAINS(output.out, "\nThe first number is what was measured: ");
  std::istringstream lines(output.out);
  for (std::string line; std::getline(lines, line);)
    CHECK_MESSAGE(character_count(line) <= 100, line);
  CHECK_CONTAINS(output.out, "Costs\n  A39= attention has 2 d dₖ + d dᵥ parameters");
  CHECK_CONTAINS(output.out, "convolution              432 by formula     432 counted");
  CHECK_CONTAINS(output.out, "Mistakes of S0 and S3\n  Q4   printed: ");
  CHECK_CONTAINS(output.out,
                 "\n7 of 7 claims hold, 7 by construction\n"
                 "1 of 1 mistakes of the documents are confirmed\n");
}

TEST_CASE("claims: properties of untrained models follow from the config") {
  const TemporaryFolder folder;
  const auto measured = [&](const std::string& more) {
    write_file(folder / "c.toml", classifier_config(more));
    return properties_of(folder.path, {"c.toml"});
  };
  using Properties = std::map<std::string, bool>;
  CHECK(measured("") == Properties{{"A16", true},
                                   {"A17", true},
                                   {"A20", true},
                                   {"A46", true},
                                   {"A44", false},
                                   {"A5", true},
                                   {"Q18", true},
                                   {"A23", true},
                                   {"Q9", true}});
  CHECK(measured("[model.block]\nmixing = 'convolution'\n") == Properties{{"A16", false},
                                                                          {"A17", false},
                                                                          {"A20", false},
                                                                          {"A46", false},
                                                                          {"A44", false},
                                                                          {"A5", false},
                                                                          {"Q18", true}});
  CHECK(measured("[model.block]\nmixing = 'convolution'\npadding = 'circular'\n").at("A20"));
  CHECK(measured("[model.block]\nmixing = 'convolution'\nkernel_size = 1\n").at("A16"));
  CHECK(measured("[model.block]\nmixing = 'gru'\n").at("A44"));
  CHECK(measured("[model.attention]\ncausal = true\n").at("A44"));
  CHECK(!measured("[model.attention]\nwindow = 2\n").at("A5"));
  write_file(folder / "c.toml", classifier_config(""));
  CHECK(properties_of(folder.path, {"c.toml", "--set", "model.pool=first"}).at("A17"));
  const Properties by_count = measured("[model.attention]\nnormaliser = 'count'\n");
  CHECK(!by_count.at("A23"));
  CHECK(!by_count.at("Q9"));
  CHECK(!properties_of(folder.path, {"c.toml", "--set", "model.positional.kind=sinusoidal"})
             .at("A16"));
}

TEST_CASE("claims: pictures are rotated, mirrored and shifted along both axes") {
  const TemporaryFolder folder;
  write_file(folder / "shapes.toml",
             "[model]\nkind = 'classifier'\ndim = 8\nheads = 2\nlayers = 2\n"
             "positional.kind = 'none'\n[data]\nkind = 'shapes'\nsize = 5\n");
  const auto measured = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> arguments = {"shapes.toml"};
    for (const std::string& setting : settings)
      arguments.insert(arguments.end(), {"--set", "model.block." + setting});
    return properties_of(folder.path, arguments);
  };
  for (const char* id : {"A16", "A17", "A20"}) {
    CHECK(measured({}).at(id));
    CHECK(!measured({"mixing=convolution"}).at(id));
    CHECK(measured({"mixing=convolution", "padding=circular"}).at(id) == (id == "A20"s));
    CHECK(measured({"mixing=convolution", "padding=circular", "circular_axes=[0]"}).at(id) ==
          (id == "A20"s));
  }
  const ProgramOutput output = heed_in(folder.path, {"claims", "--model", "shapes.toml"});
  CHECK_CONTAINS(output.out, "equivariant: the states of a rotated or mirrored");
  CHECK_CONTAINS(output.out, "invariant: a rotation or reflection of the");
}

TEST_CASE("claims: properties of trained models") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", classifier_config(""));
  write_file(folder / "pairs.toml", tiny_config());
  for (const std::string name : {"c", "pairs"})
    heed_ok(folder.path, {"train", name + ".toml", "--run", name});
  const auto set = properties_of(folder.path, {"c"});
  CHECK(set.at("A17"));
  CHECK(!set.at("A44"));
  const auto pairs = properties_of(folder.path, {"pairs"});
  CHECK(!pairs.at("A16"));
  CHECK(pairs.at("A19"));
  const ProgramOutput output = heed_in(folder.path, {"claims", "--model", "pairs"});
  CHECK_CONTAINS(output.out, "pairs, step 30\n");
  CHECK_CONTAINS(output.out, "its decoder is causal");
  CHECK_CONTAINS(output.out, "5 of 5 that its config promises hold; of 6 others it has ");
}

TEST_CASE("claims: a model without a guaranteed property fails") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", classifier_config("[model.init]\nkind = 'normal'\nstd = 3e38\n"));
  const ProgramOutput output = heed_in(folder.path, {"claims", "--model", "c.toml"});  // NaN
  CHECK_MESSAGE(output.code == 1, output.err);
  CHECK_CONTAINS(output.out, "FAIL\n");
  const ProgramOutput one = heed_in(folder.path, {"claims", "--model", "c.toml", "--only", "A17"});
  CHECK_CONTAINS(one.out, "0 of 1 hold");
  const ProgramOutput json =
      heed_in(folder.path, {"claims", "--model", "c.toml", "--only", "A17", "--json"});
  CHECK(json.code == 1);
  CHECK(!Json::parse(json.out, "standard output").elements().at(0).at("pass").flag());
}

TEST_CASE("claims: rejects invalid arguments") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", classifier_config(""));
  const auto rejects = [&](const std::vector<std::string>& more,
                           const std::vector<std::string>& parts) {
    std::vector<std::string> arguments = {"claims"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    check_rejected(heed_in(folder.path, arguments), 2, parts);
  };
  rejects({"--only", "A61"}, {"--only A61: there is no such row", "did you mean 'A1'?"});
  rejects({"--only", "A1", "--model", "c.toml"}, {"the rows are A16, A17"});
  rejects({"--set", "model.dim=4"}, {"--model"});
  rejects({"--model", "nothing.toml"}, {"nothing.toml"});
  rejects({"--model", "."}, {"no config.toml"});
  rejects({"--model", "c.toml", "--set", "model.dmi=4"}, {"model.dim"});
  rejects({"--seed", "-1"}, {"--seed"});
  rejects({"--model", "c.toml", "--set", "model.positional.kind=learned", "--set",
           "data.lengths=[2,2]", "--set", "model.positional.max_length=2"},
          {"too few"});
}
