// heed attend: the picture is well-formed XML and matches the CSV and the tensors. Errors leave no
// files.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <sys/stat.h>

#include "apps/inference/attention_picture.h"
#include "apps/support/canvas.h"
#include "apps/support/json.h"
#include "core/safetensors.h"
#include "program.h"

using namespace heed;

namespace {

// Checks the XML that heed writes: tags are nested and closed, there is one root, attributes are
// quoted, and each & starts a known entity. Returns the first error, or "".
std::string xml_mistake(const std::string& text) {
  std::vector<std::string> open;
  int roots = 0;
  size_t at = 0;
  if (text.starts_with("<?xml ")) at = text.find("?>") + 2;
  while (at < text.size()) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "a control character";
    if (c == '>') return "a > outside of a tag";
    if (c == '&') {
      const std::string entity = text.substr(at, text.find(';', at) - at + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;")
        return "unknown entity: " + entity.substr(0, 10);
    }
    if (c != '<') {
      if (open.empty() && c != '\n') return "text outside of the root";
      ++at;
      continue;
    }
    const size_t end = text.find('>', at);
    if (end == text.npos) return "a tag without >";
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1))
        return "an end tag of no open element: " + tag;
      open.pop_back();
      continue;
    }
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0 || tag.find('<') != tag.npos)
      return "a wrong tag: " + tag;
    roots += open.empty();
    if (!tag.ends_with("/")) open.push_back(tag.substr(0, tag.find_first_of(" \n")));
  }
  if (!open.empty()) return "never closed: " + open.back();
  return roots == 1 ? "" : "more or less than one root";
}

int64_t count_of(const std::string& text, const std::string& part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Trains a small model of each kind, each in its own run folder.
struct AttentionRuns : Workspace {
  AttentionRuns() {
    std::string lines, pairs;
    for (const char* word : {"ab", "a<b", "&&a", "b a", "\"c\"", "a,b", "ba", "<>", "cab", "abc"})
      for (const char* end : {"", "a", "b", "c", "ca"}) {
        lines += std::string(word) + end + "\n";
        pairs += std::string(word) + end + "\t" + word + "\n";
      }
    write("lines.txt", lines);
    write("pairs.tsv", pairs);
    train("lines", "kind = 'language_model'", "kind = 'lines'\npath = 'lines.txt'");
    train("bytes", "kind = 'language_model'", "kind = 'lines'\npath = 'lines.txt'\nlevel = 'byte'");
    train("sort", "kind = 'language_model'\n[model.positional]\nkind = 'learned'\nmax_length = 7",
          "kind = 'sort'\nsymbols = 3\nlengths = [4, 4]");
    train("pairs", "kind = 'seq2seq'\nlayers = 2", "kind = 'pairs'\npath = 'pairs.tsv'");
    train("set", "kind = 'classifier'\npool = 'learned'\npool_queries = 3",
          "kind = 'set'\nlengths = [2, 6]");
    train("shapes", "kind = 'classifier'\nlayers = 2\n[model.attention]\naxes = [1]",
          "kind = 'shapes'\nsize = 6");
    train("graph", "kind = 'classifier'\n[model.block]\nmixing = 'graph_attention'",
          "kind = 'graph'\nlengths = [3, 8]");
    train("convolution", "kind = 'language_model'\n[model.block]\nmixing = 'convolution'",
          "kind = 'lines'\npath = 'lines.txt'");
  }
  void train(const std::string& name, const std::string& model, const std::string& data) const {
    const std::string layers = model.find("layers") == model.npos ? "layers = 1\n" : "";
    Workspace::train(name, "[train]\nsteps = 4\nbatch_size = 4\nsamples = 0\n[data]\n" + data +
                               "\n[model]\ndim = 8\nheads = 2\n" + layers + model + "\n");
  }
};

const AttentionRuns& trained() {
  static const AttentionRuns all;
  return all;
}

// Runs heed attend in a new folder and reads the files that it writes.
struct Attended {
  TemporaryFolder folder;
  ProgramOutput output;
  std::string picture;
  std::vector<std::vector<std::string>> rows;  // of the CSV, without the header and quotes

  explicit Attended(const std::string& run, const std::vector<std::string>& options,
                    const std::string& input = "") {
    std::vector<std::string> arguments = {"attend", trained() / run, "--csv",
                                          "w.csv",  "--safetensors", "w.safetensors"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    output = succeeded(heed_in(folder.path, arguments, input));
    CHECK(names_in_folder(folder.path) ==
          std::vector<std::string>{"attention.svg", "w.csv", "w.safetensors"});
    picture = read_file(folder / "attention.svg", "picture");
    CHECK(xml_mistake(picture) == "");
    std::istringstream csv(read_file(folder / "w.csv", "csv"));
    std::string line;
    std::getline(csv, line);
    CHECK(line == "name,head,query,key,query_token,key_token,weight");
    while (std::getline(csv, line)) {
      rows.emplace_back(1);
      bool quoted = false;
      for (const char c : line)
        if (c == '"')
          quoted = !quoted;
        else if (c == ',' && !quoted)
          rows.back().emplace_back();
        else
          rows.back().back() += c;
      REQUIRE(rows.back().size() == 7);
    }
    // The picture has one cell for each CSV row.
    CHECK(count_of(picture, ") attends to ") == static_cast<int64_t>(rows.size()));
  }
  std::string shape(const std::string& name) const {
    const SafetensorsFile file(folder / "w.safetensors");
    const NamedArray* array = file.find(name);
    if (!array) return "none";
    std::string text;
    for (const int64_t length : array->dims)
      text += (text.empty() ? "" : " ") + std::to_string(length);
    return text;
  }
  // Checks that the weights of each query sum to 1.
  void check_rows_sum_to_one() const {
    std::map<std::string, double> sums;
    for (const auto& row : rows) sums[row[0] + row[1] + "/" + row[2]] += std::stod(row[6]);
    for (const auto& [query, total] : sums) CHECK(total == doctest::Approx(1));
  }
};

std::vector<std::string> names_of(const Attended& attended) {
  std::vector<std::string> names;
  for (const auto& row : attended.rows)
    if (names.empty() || names.back() != row[0]) names.push_back(row[0]);
  return names;
}

}  // namespace

TEST_CASE("attend: the XML checker accepts XML and rejects mistakes") {
  CHECK(xml_mistake("<?xml version=\"1.0\"?>\n<a b=\"c\">&lt;<d/><e>x</e></a>\n") == "");
  for (const char* wrong : {"<a>", "<a></b>", "<a>&</a>", "<a>&x;</a>", "<a b=\"c></a>", "<a/><b/>",
                            "<a><b></a></b>", "x", "<a>\x01</a>", "<a", "<a>b></a>"})
    CHECK_MESSAGE(xml_mistake(wrong) != "", wrong);
}

TEST_CASE("attend: a language model attends to its prompt, and to the target of a task") {
  const Attended lines("lines", {"--text", "a<b&\" c,"});
  CHECK(names_of(lines) == std::vector<std::string>{"decoder.layers.0.attention"});
  lines.check_rows_sum_to_one();
  REQUIRE(lines.rows.size() == 2 * 9 * 9);  // <bos> and eight characters
  CHECK(lines.rows[0] == std::vector<std::string>{"decoder.layers.0.attention", "0", "0", "0",
                                                  "<bos>", "<bos>", "1"});
  CHECK(lines.rows[1][6] == "0");  // masked: a later key
  CHECK(lines.rows[9][4] == "a");
  CHECK(lines.rows[6][5] == "␣");
  CHECK(lines.rows[8][5] == ",");
  CHECK(lines.shape("decoder.layers.0.attention") == "1 2 9 9");
  CHECK_CONTAINS(lines.picture, "&lt;bos&gt; (0) attends to &lt;bos&gt; (0): 1</title>");
  CHECK_CONTAINS(lines.picture, ">Decoder</text>");
  CHECK_CONTAINS(lines.picture, ">head 1, up to 1</text>");
  CHECK_CONTAINS(lines.output.out,
                 "lines, step 4: a<b&\" c,\nw.safetensors\nw.csv\nattention.svg\n");

  // Four tokens and a target of four, whose last token is not read.
  CHECK(Attended("sort", {"--text", "2 0 1 0"}).rows.size() == 2 * 7 * 7);
  const Attended with_target("sort", {"--text", "2 0 1 0", "--target", "0 0 1 2"});
  CHECK(with_target.rows.size() == 2 * 7 * 7);
  CHECK(with_target.rows[6][5] == "1");
  CHECK(Attended("sort", {"--example", "0", "--split", "val"}).rows.size() == 2 * 7 * 7);
  CHECK(Attended("bytes", {"--text", "a<"}).rows.back()[5] == "<");
}

TEST_CASE("attend: an encoder-decoder has encoder, decoder and cross-attention") {
  const Attended pairs("pairs", {"--text", "a<b", "--target", "cab,"});
  CHECK(names_of(pairs) ==
        std::vector<std::string>{"encoder.layers.0.attention", "encoder.layers.1.attention",
                                 "decoder.layers.0.attention", "decoder.layers.0.cross_attention",
                                 "decoder.layers.1.attention", "decoder.layers.1.cross_attention"});
  pairs.check_rows_sum_to_one();
  CHECK(pairs.shape("encoder.layers.1.attention") == "1 2 3 3");
  CHECK(pairs.shape("decoder.layers.0.attention") == "1 2 5 5");
  CHECK(pairs.shape("decoder.layers.0.cross_attention") == "1 2 5 3");
  CHECK(pairs.rows.back() == std::vector<std::string>{"decoder.layers.1.cross_attention", "1", "4",
                                                      "2", ",", "b", pairs.rows.back()[6]});
  const size_t encoder = pairs.picture.find(">Encoder<"), decoder = pairs.picture.find(">Decoder<"),
               cross = pairs.picture.find(">Cross-attention");
  CHECK(encoder < decoder);
  CHECK(decoder < cross);
  CHECK(cross != pairs.picture.npos);
  CHECK(Attended("pairs", {"--input", "-"}, "a<b\r\n").shape("encoder.layers.0.attention") ==
        "1 2 3 3");
  Attended one("pairs", {"--example", "1", "--split", "train", "--only", "*cross*"});
  CHECK(names_of(one) == std::vector<std::string>{"decoder.layers.0.cross_attention",
                                                  "decoder.layers.1.cross_attention"});
  write_file(trained() / "in.txt",
             "\xEF\xBB\xBF"
             "cab\n");
  CHECK(Attended("pairs", {"--input", trained() / "in.txt"}).shape("encoder.layers.0.attention") ==
        "1 2 3 3");
}

TEST_CASE("attend: classifiers with learned queries, along an axis of a grid, on a graph") {
  const Attended set("set", {"--example", "2"});
  CHECK(names_of(set).back() == "pool.attention");
  CHECK(set.rows.back()[4] == "query 2");
  CHECK_CONTAINS(set.picture, ">Pool: learned queries attend to the encoder</text>");
  set.check_rows_sum_to_one();

  const Attended shapes("shapes", {"--example", "0"});
  CHECK(shapes.shape("encoder.layers.0.attention") == "6 2 6 6");  // one line per row of the image
  REQUIRE(shapes.rows.size() == 2 * 6 * 2 * 6 * 6);
  shapes.check_rows_sum_to_one();
  for (const auto& row : shapes.rows) {  // both positions are in one row of the image
    CHECK(std::stol(row[2]) / 6 == std::stol(row[3]) / 6);
    CHECK(row[4] ==
          std::to_string(std::stol(row[2]) / 6) + "," + std::to_string(std::stol(row[2]) % 6));
  }
  const SafetensorsFile tensors(shapes.folder / "w.safetensors");
  CHECK(tensors.metadata().at("encoder.layers.1.attention") == "axes [1] of [6, 6]");
  std::vector<float> weights(6 * 2 * 6 * 6);  // the CSV and the tensor are equal
  tensors.read(*tensors.find("encoder.layers.0.attention"), weights.data());
  for (size_t i = 0; i < weights.size(); ++i) CHECK(std::stof(shapes.rows[i][6]) == weights[i]);

  CHECK(names_of(Attended("graph", {"--example", "5"})) ==
        std::vector<std::string>{"encoder.layers.0.graph_attention"});
}

TEST_CASE("attend: the help text has examples") {
  const ProgramOutput help = succeeded(heed_in("/", {"attend", "--help"}));
  CHECK_CONTAINS(help.out, "Examples:\n  heed attend runs/latest\n  heed attend runs/sort --text");
}

TEST_CASE("attend: the path of a run need not be UTF-8") {
  const TemporaryFolder folder;
  point_link(folder / "run\xff", trained() / "graph");
  succeeded(heed_in(folder.path, {"attend", folder / "run\xff", "--example", "5", "--safetensors",
                                  "w.safetensors"}));
  CHECK_CONTAINS(SafetensorsFile(folder / "w.safetensors").metadata().at("title"),
                 "run\\xff, step");
}

TEST_CASE("attend: outputs follow links and replace only plain files") {
  const TemporaryFolder folder;
  make_folders(folder / "there");
  write_file(folder / "there/old", "old");
  point_link(folder / "picture", "there/old");
  point_link(folder / "csv", "there/new.csv");
  point_link(folder / "tensors", folder / "there/w.safetensors");
  const auto attend = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"attend", trained() / "lines", "--text", "a"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return heed_in(folder.path, arguments);
  };
  succeeded(attend({"--output", "picture", "--csv", "csv", "--safetensors", "tensors"}));
  CHECK(names_in_folder(folder.path) ==
        std::vector<std::string>{"csv", "picture", "tensors", "there"});
  for (const char* link : {"csv", "picture", "tensors"})
    CHECK(kind_of(folder / link) == FileKind::link);
  CHECK(read_file(folder / "there/old", "picture").starts_with("<"));
  CHECK(read_file(folder / "there/new.csv", "csv").starts_with("name,head,"));
  CHECK(!SafetensorsFile(folder / "there/w.safetensors").arrays().empty());

  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  point_link(folder / "same", "there/old");
  for (const char* option : {"--output", "--csv", "--safetensors"}) {
    check_rejected(attend({option, "fifo"}), 2, {"fifo: expected a plain file"});
    check_rejected(attend({option, "there"}), 2, {"there: expected the name of a file"});
  }
  check_rejected(attend({"--output", "picture.png"}), 2, {"expected a name that ends in .svg"});
  check_rejected(attend({"--output", "picture", "--csv", "same"}), 2, {"different files"});
  CHECK(kind_of(folder / "fifo") == FileKind::other);
  const ProgramOutput to_output = shell_in(
      folder.path, "$HEED attend " + (trained() / "lines") + " --text a --csv /dev/stdout >out");
  CHECK(to_output.code == 2);
  CHECK_CONTAINS(to_output.err,
                 "/dev/stdout: expected another file than that of a standard stream");
}

TEST_CASE("attend: without an input it shows example 0 of the test split, or of val") {
  const auto csv = [](const std::vector<std::string>& options) {
    const TemporaryFolder folder;
    std::vector<std::string> arguments = {"attend", trained() / "lines", "--csv", "w.csv"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const std::string output = heed_ok(folder.path, arguments);
    return output + read_file(folder / "w.csv", "csv");
  };
  CHECK(csv({}) == csv({"--example", "0", "--split", "test"}));
  CHECK(csv({"--split", "val"}) == csv({"--example", "0", "--split", "val"}));
  CHECK(csv({}) != csv({"--example", "1"}));
}

TEST_CASE("attend: several examples, or those that are wrong, have a file each") {
  const TemporaryFolder folder;
  const auto attend = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"attend", trained() / "pairs"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const std::string output = heed_ok(folder.path, arguments);
    return output;
  };
  const std::string both = attend({"--examples", "0,2", "-o", "w.svg", "--csv", "w"});
  CHECK(attend({"--example", "0", "-o", "w-0.svg", "--csv", "w-0"}) ==
        both.substr(0, both.find("w-0.svg\n") + 8));
  CHECK(names_in_folder(folder.path).size() == 4);
  attend({"--example", "2", "-o", "two.svg", "--csv", "two"});
  CHECK(read_file(folder / "w-2.svg", "picture") == read_file(folder / "two.svg", "picture"));
  CHECK(read_file(folder / "w-2", "csv") == read_file(folder / "two", "csv"));
  const std::string two = read_file(folder / "two.svg", "picture");
  const size_t label = two.find("attention weight, one scale for all heads");
  REQUIRE(label != two.npos);
  // Right of the bar of 200 by 10.
  CHECK(std::stod(two.substr(two.rfind(" x=\"", label) + 4)) == 214);
  CHECK(std::stod(two.substr(two.rfind(" y=\"", label) + 4)) == 9);
  attend({"--example", "2", "--scale", "head", "-o", "head.svg"});
  CHECK_CONTAINS(read_file(folder / "head.svg", "picture"), "fraction of the head's maximum");
  // The wrong ones are those of the predictions.
  heed_ok(folder.path, {"evaluate", trained() / "pairs", "--predictions", "p.jsonl"});
  std::istringstream lines(read_file(folder / "p.jsonl", "predictions"));
  std::vector<int64_t> wrong;
  for (std::string line; std::getline(lines, line);)
    if (const Json row = Json::parse(line, "line"); !row.at("correct").flag())
      wrong.push_back(row.at("index").integer());
  REQUIRE(wrong.size() >= 2);
  const std::string printed = attend({"--wrong", "2", "-o", "x.svg"});
  for (size_t i = 0; i < 2; ++i) CHECK_CONTAINS(printed, fmt::format("x-{}.svg\n", wrong[i]));
}

TEST_CASE("attend: invalid arguments give one error line and exit code 2, and leave no files") {
  const auto rejects = [](const std::string& run, const std::vector<std::string>& options,
                          const std::string& part, const std::string& input = "") {
    const TemporaryFolder folder;
    std::vector<std::string> arguments = {"attend", trained() / run};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramOutput output = heed_in(folder.path, arguments, input);
    CHECK_MESSAGE(output.code == 2, output.err);
    CHECK(output.out == "");
    CHECK_CONTAINS(output.err, part);
    CHECK(std::count(output.err.begin(), output.err.end(), '\n') == 1);
    CHECK(names_in_folder(folder.path).empty());
  };
  rejects("none", {"--text", "a"}, "no such run");
  rejects("lines", {"--text", "a", "--example", "1"},
          "--text, --input, --example, --examples and --wrong exclude each other: choose one");
  rejects("lines", {"--examples", "0,1", "--example", "1"}, "exclude each other: choose one");
  rejects("lines", {"--examples", "0,1", "--wrong", "1"}, "exclude each other: choose one");
  rejects("lines", {"--examples", "0,x"}, "--examples \"x\": expected numbers of examples");
  rejects("lines", {"--wrong", "2"}, "--wrong: the examples have no expected output");
  rejects("lines", {"--text", "a", "--split", "val"}, "--split goes with --example");
  rejects("lines", {"--text", ""}, "--text: the text is empty");
  rejects("lines", {"--text", "aQ"}, "--text: the character \"Q\"");
  rejects("lines", {"--text", "a", "--target", "Q"}, "--target: the character \"Q\"");
  rejects("lines", {"--example", "0", "--target", "a"}, "already has a target");
  rejects("lines", {"--text", std::string(5000, 'a')}, "more than the 4096");
  rejects("lines", {"--example", "100000"}, "counted from 0");
  rejects("lines", {"--example", "-1"}, "--example");
  rejects("lines", {"--example", "0", "--split", "x"},
          "no split 'x'; the splits are test, train, val");
  rejects("lines", {"--text", "a", "--only", "encoder*"},
          "the layers with attention are decoder.layers.0");
  rejects("lines", {"--text", "a", "--output", "w", "--csv", "w"}, "different files");
  rejects("lines", {"--text", "a", "--scale", "x"}, "--scale: expected all or head, found 'x'");
  rejects("lines", {"--text", "a", "--output", "."}, ".: expected the name of a file");
  rejects("lines", {"--text", "a", "--output", "no/w.svg"}, "no/");
  rejects("lines", {"--text", "a", "--output", "no/w.svg", "--safetensors", "no/w"}, "no/");
  rejects("lines", {"--text", "a", "--output", "/dev/null"}, "/dev/null: expected a plain file");
  rejects("lines", {"--text", "a", "--csv", "/dev/null"}, "/dev/null: expected a plain file");
  CHECK(std::filesystem::is_character_file("/dev/null"));
  rejects("sort", {"--text", "2 0 1"}, "a prompt of this task has 4 tokens, not 3");
  rejects("sort", {"--text", "2 0 1 0", "--target", "0 0 1 2 2"}, "--target: 9 tokens");
  rejects("pairs", {"--text", "a\nb"}, "more than one line");
  rejects("pairs", {"--input", "-"}, "--input: the text is empty");
  rejects("pairs", {"--input", "-"}, "--input: more than one line", "a\nb\n");
  rejects("pairs", {"--input", "a"}, "--input: there is no file \"a\"; --text takes a text");
  rejects("pairs", {"--input", "-", "--text", "a"}, "exclude each other");
  rejects("pairs", {"--input", "-", "--split", "val"}, "--split goes with --example");
  rejects("pairs", {"--input", "-"}, "standard input: more than", std::string(1 << 20, 'a'));
  rejects("set", {"--example", "0", "--target", "a"}, "this run is a classifier");
  rejects("shapes", {"--text", "a"}, "not text; choose an example");
  rejects("convolution", {"--text", "a"}, "no attention");
}

namespace {

// Returns an attention map whose name and query labels are `label`.
AttentionMap map_of(const std::string& label, const Tensor& weights) {
  AttentionMap map{label, AttentionPart::encoder, weights, {}, {}, {}, {}};
  for (int64_t i = 0; i < weights.dim(2); ++i)
    map.queries.push_back(label), map.query_positions.push_back(i);
  for (int64_t j = 0; j < weights.dim(3); ++j)
    map.keys.push_back("the same long word once and once more"), map.key_positions.push_back(j);
  return map;
}

}  // namespace

TEST_CASE("attend: picture size is bounded, and any label gives well-formed XML") {
  const std::string hostile = "\x01\xFF]]></title><b>&\"'\xEF\xBF\xBF";
  const std::string picture =
      attention_picture({map_of(hostile, Tensor::full({1, 1, 400, 500}, real{-0.5}))}, hostile);
  CHECK(xml_mistake(picture) == "");
  CHECK(picture.find('\x01') == picture.npos);
  CHECK(picture.find("\xEF\xBF\xBF") == picture.npos);
  CHECK(picture.size() < 45'000'000);
  CHECK(count_of(picture, ") attends to ") == 400 * 500);
  CHECK(count_of(picture, "the same long…") > 0);
  CHECK(xml_escaped("<a&b>\"") == "&lt;a&amp;b&gt;&quot;");
}

TEST_CASE("attend: one scale for all heads, or one for each, and a colour bar") {
  // Head 0 attends uniformly, with weights of 1/4; head 1 to one key.
  Tensor weights = Tensor::full({1, 2, 4, 4}, real{0.25});
  for (int64_t i = 0; i < 16; ++i) weights.mutable_data()[16 + i] = i % 5 == 0 ? 1 : 0;
  const auto darkest_cells = [&](PictureScale scale) {
    const std::string picture = attention_picture({map_of("w", weights)}, "", scale);
    CHECK(xml_mistake(picture) == "");
    CHECK_CONTAINS(picture, "url(#weights)");
    CHECK_CONTAINS(picture, scale == PictureScale::head ? "fraction of the head's maximum"
                                                        : "one scale for all heads");
    return count_of(picture, "fill-opacity=\"1\"");
  };
  CHECK(darkest_cells(PictureScale::picture) == 4);
  CHECK(darkest_cells(PictureScale::head) == 16 + 4);
  CHECK_CONTAINS(attention_picture({map_of("w", weights)}, ""), "fill-opacity=\"0.5\"");
  CHECK(largest_weight(map_of("w", weights)) == 1);
  CHECK(largest_weight(map_of("w", Tensor::full({1, 1, 2, 2}, real{-0.5}))) == 0.5);
}

TEST_CASE("attend: cells of large pictures are means of blocks of weights") {
  Tensor weights = Tensor::zeros({1, 2, 401, 500});
  // Head 0: all weights of cell (0, 0), one weight of cell (0, 1), one query of the last cell.
  for (const int64_t at : {0, 1, 500, 501, 2, 400 * 500 + 499}) weights.mutable_data()[at] = 0.5;
  const std::string picture = attention_picture({map_of("w", weights)}, "");
  CHECK(xml_mistake(picture) == "");
  CHECK(count_of(picture, ") attends to ") == 2 * 201 * 250);
  CHECK_CONTAINS(picture, "A cell is the mean of 2 queries and 2 keys.");
  CHECK_CONTAINS(picture, "w (0…1) attends to the same long… (0…1): 0.5</title>");
  CHECK_CONTAINS(picture, "w (0…1) attends to the same long… (2…3): 0.125</title>");
  CHECK_CONTAINS(picture, "w (400) attends to the same long… (498…499): 0.25</title>");
}
