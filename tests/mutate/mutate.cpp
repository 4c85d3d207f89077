// Adds small faults (mutants) to C++ sources. Each is selected at run time, so one build contains
// all of them.
//
//   mutate SOURCE TARGET SEED COUNT DROPPED FILE…
//
// Reads SOURCE/FILE, selects COUNT mutants from all files by SEED, writes the mutated TARGET/FILE,
// and prints one line for each mutant: number, key, first line, last line, separated by tabs. The
// key is "file | text of the line | change". Selection and numbers depend only on the keys, not on
// line numbers. Mutants whose keys are in the file DROPPED are excluded.
//
// An expression becomes (mutant ? changed : original), a statement { if (!mutant) statement }.
// Constant expressions are not changed where the tokens show them. Other mutants of constant
// expressions do not compile, and the caller drops them.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "tokens.h"

namespace {

using Range = std::pair<size_t, size_t>;  // first and last token

struct Mutant {
  std::string key{};
  uint64_t rank = 0;
  Range range{};
  size_t changed = 0;         // the token that is replaced
  std::string replacement{};  // of that token
  enum { replace, negate, drop } kind = replace;
  int number() const { return static_cast<int>(rank >> 33) + 1; }
};

struct File {
  std::string name, text;
  Tokens tokens;
  std::vector<Mutant> mutants{};
};

// Returns whether a bracket closes the header of an if, for, while or switch.
bool ends_head(const Tokens& t, size_t i) {
  return t[i].text == ")" && t[i].partner > 0 &&
         t[t[i].partner - 1].is({"if", "for", "while", "switch", "constexpr"});
}

// Returns the expression around token i, up to a comma, assignment, bracket, … on either side. If i
// is an assignment, returns all of it. Returns nothing for a template argument.
std::optional<Range> expression(const Tokens& t, size_t i) {
  const bool assigns = t[i].is({"+=", "-=", "*=", "/="});
  const auto boundary = [&](const Token& token) {
    if (token.is({";", ",", "?", ":", "else", "do"})) return true;
    return !assigns && token.is({"=", "return", "throw", "case", "new", "delete",
                                 "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="});
  };
  size_t first = i, last = i;
  int angles = 0;  // template arguments have no space inside their brackets
  for (; first > 1; --first) {
    const Token& before = t[first - 1];
    if ((boundary(before) && angles == 0) || before.opens()) break;
    if ((before.text == "}" && before.block) || ends_head(t, first - 1)) break;
    if (before.closes()) first = before.partner + 1;
    if (before.is({">", ">>"}) && !before.space) angles += static_cast<int>(before.text.size());
    if (before.text == "<" && !before.space && --angles < 0) return std::nullopt;
  }
  angles = 0;
  for (; last + 2 < t.size(); ++last) {
    const Token& after = t[last + 1];
    if ((boundary(after) && angles == 0) || after.closes()) break;
    if (after.text == "{" && after.block) break;
    if (after.opens()) last = after.partner - 1;
    if (after.text == "<" && !after.space) ++angles;
    if (after.is({">", ">>"}) && !after.space) angles -= static_cast<int>(after.text.size());
    if (angles < 0) return std::nullopt;
  }
  return Range(first, last);
}

// Returns the replacements of a token, or an empty list.
std::string replacement(const Tokens& t, size_t i) {
  static const std::map<std::string, std::string> swaps = {
      {"+", "-"},   {"-", "+"},   {"*", "/"},   {"/", "*"},   {"<", "<="},    {"<=", "<"},
      {">", ">="},  {">=", ">"},  {"==", "!="}, {"!=", "=="}, {"&&", "||"},   {"||", "&&"},
      {"+=", "-="}, {"-=", "+="}, {"*=", "/="}, {"/=", "*="}, {"min", "max"}, {"max", "min"}};
  if (t[i].number())
    return t[i].text == "0" ? "1" : t[i].text == "1" ? "0" : "(" + t[i].text + " + 1)";
  const auto found = swaps.find(t[i].text);
  if (found == swaps.end()) return "";
  const Token &before = t[i - 1], &after = t[i + 1];
  if (t[i].word()) return before.text == "::" && after.is({"(", "<"}) ? found->second : "";
  // A binary operator has spaces on both sides and follows an operand.
  const bool operand = before.word() || before.number() || before.closes() || before.text == ">" ||
                       before.text[0] == '\'';
  const bool binary = t[i].space && after.space && operand && !before.is({"return", "operator"});
  return binary ? found->second : "";
}

// Returns the statement that begins at token i if it can be dropped: a call, an assignment, a jump.
std::optional<Range> droppable(const Tokens& t, size_t i) {
  const Token& before = t[i - 1];
  const bool begins = before.is({";", "else"}) || (before.is({"{", "}"}) && before.block);
  if (!begins && !ends_head(t, i - 1)) return std::nullopt;
  if (t[i].is({"break", "continue", "return"}) && t[i + 1].text == ";") return Range(i, i + 1);
  if (t[i].is({"if", "for", "while", "switch", "catch", "return", "throw", "auto", "operator"}))
    return std::nullopt;
  if (!t[i].word() && !t[i].is({"*", "++", "--", "("})) return std::nullopt;
  size_t next = i + 1;
  while (t[i].word() && (t[next].text == "::" || t[next - 1].text == "::")) ++next;
  if (t[i].word() &&
      !t[next].is({"(", ".", "->", "[", "=", "+=", "-=", "*=", "/=", "|=", "^=", "&=", "++", "--"}))
    return std::nullopt;  // a declaration
  size_t end = i;
  for (; t[end].text != ";"; ++end) {
    if (t[end].closes()) return std::nullopt;
    if (t[end].opens()) end = t[end].partner;
  }
  size_t open = i - 1;  // of the enclosing block
  while (open > 0 && !t[open].opens()) open = (t[open].closes() ? t[open].partner : open) - 1;
  const bool in_function =
      open > 0 && t[open - 1].is({")", "else", "do", "const", "override", "mutable", "noexcept"});
  return in_function ? std::optional(Range(i, end)) : std::nullopt;
}

uint64_t hash(const std::string& text, uint64_t seed) {
  uint64_t h = 0xCBF29CE484222325 ^ seed * 0x9E3779B97F4A7C15;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9;
  return h ^ (h >> 27);
}

void find_mutants(File& file, uint64_t seed) {
  const Tokens& t = file.tokens;
  std::map<std::string, int> repeated;
  const auto add = [&](Mutant mutant, size_t at, const std::string& change) {
    const size_t line = file.text.rfind('\n', t[at].offset) + 1;
    const size_t start = file.text.find_first_not_of(' ', line);
    const std::string text = file.text.substr(start, file.text.find('\n', start) - start);
    mutant.key = file.name + " | " + text + " | " + change;
    if (const int n = ++repeated[mutant.key]; n > 1) mutant.key += " #" + std::to_string(n);
    mutant.rank = hash(mutant.key, seed);
    file.mutants.push_back(std::move(mutant));
  };
  for (size_t i = 1; i + 1 < t.size(); ++i) {
    if (t[i].fixed) continue;
    if (const std::string other = replacement(t, i); !other.empty())
      if (const auto range = expression(t, i))
        add({.range = *range, .changed = i, .replacement = other}, i, t[i].text + " to " + other);
    if (t[i].is({"if", "while"}) && t[i + 1].text == "(") {
      const Range range(i + 2, t[i + 1].partner - 1);
      if (std::none_of(&t[range.first], &t[range.second], [](const Token& token) {
            return token.is({";", "const", "auto", "="});  // a declaration
          }))
        add({.range = range, .kind = Mutant::negate}, i, "negate the condition");
    }
    if (const auto range = droppable(t, i))
      add({.range = *range, .kind = Mutant::drop}, i, "drop the statement");
  }
}

// Returns the text of the file with the selected mutants, which must be in order.
std::string mutated(const File& file, const std::vector<const Mutant*>& chosen) {
  std::string text = file.text;
  for (auto it = chosen.rbegin(); it != chosen.rend(); ++it) {  // from the end: keeps offsets valid
    const Mutant& m = **it;
    const auto [first, last] = m.range;
    const Tokens& t = file.tokens;
    const size_t from = t[first].offset, size = t[last].offset + t[last].text.size() - from;
    const std::string own = file.text.substr(from, size);
    std::string changed;  // on one line: keeps line numbers
    for (size_t i = first; i <= last; ++i) {
      if (t[i].space && i > first) changed += ' ';
      changed += m.kind == Mutant::replace && i == m.changed ? m.replacement : t[i].text;
    }
    const char* const as_it_was = m.kind == Mutant::negate ? ") : !!(" : ") : (";
    if (m.kind == Mutant::negate) changed = "!(" + changed + ")";
    const std::string test = "HEED_MUTANT(" + std::to_string(m.number()) + ")";
    text.replace(from, size,
                 m.kind == Mutant::drop ? "{ if (!" + test + ") " + own + " }"
                                        : "(" + test + " ? (" + changed + as_it_was + own + "))");
  }
  return "#include \"tests/mutate/switch.h\"\n#line 1 \"" + file.name + "\"\n" + text;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool overlap(const Range& a, const Range& b) { return a.first <= b.second && b.first <= a.second; }

}  // namespace

int main(int count, char** arguments) {
  if (count < 7) {
    std::cerr << "usage: mutate SOURCE TARGET SEED COUNT DROPPED FILE…\n";
    return 2;
  }
  const std::string source = arguments[1], target = arguments[2];
  std::set<std::string> dropped;
  std::istringstream lines(read(arguments[5]));
  for (std::string line; std::getline(lines, line);) dropped.insert(line);

  std::vector<File> files;
  for (int i = 6; i < count; ++i) {
    const std::string text = read(source + "/" + arguments[i]);
    files.push_back({arguments[i], text, tokens_of(text)});
    find_mutants(files.back(), std::stoull(arguments[3]));
  }
  std::vector<std::pair<const Mutant*, const File*>> all;
  for (const File& file : files)
    for (const Mutant& mutant : file.mutants) all.emplace_back(&mutant, &file);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.first->rank < b.first->rank; });

  std::map<const File*, std::vector<const Mutant*>> chosen;
  std::set<int> numbers;
  for (const auto& [mutant, file] : all) {
    if (numbers.size() == std::stoull(arguments[4])) break;
    std::vector<const Mutant*>& own = chosen[file];
    const Range& range = mutant->range;
    if (std::none_of(own.begin(), own.end(),
                     [&](const Mutant* other) { return overlap(other->range, range); }) &&
        numbers.insert(mutant->number()).second)
      own.push_back(mutant);
  }
  for (const File& file : files) {
    std::vector<const Mutant*>& own = chosen[&file];
    std::erase_if(own, [&](const Mutant* m) { return dropped.contains(m->key); });
    std::sort(own.begin(), own.end(),
              [](const Mutant* a, const Mutant* b) { return a->range < b->range; });
    for (const Mutant* m : own)
      std::cout << m->number() << '\t' << m->key << '\t' << file.tokens[m->range.first].line << '\t'
                << file.tokens[m->range.second].line << '\n';
    const std::string text = own.empty() ? file.text : mutated(file, own);
    if (const std::string path = target + "/" + file.name; text != read(path))
      std::ofstream(path, std::ios::binary) << text;
  }
}
