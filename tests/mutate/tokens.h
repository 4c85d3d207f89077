// Splits C++ source into tokens. There is no grammar: properties follow from neighbouring tokens.
#pragma once

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct Token {
  std::string text;
  size_t offset = 0;  // in the file
  int line = 1;
  bool space = false;  // white space precedes it
  size_t partner = 0;  // for a bracket: index of the matching one
  bool block = false;  // for a brace: contains statements or declarations, not values
  bool fixed = false;  // part of a constant expression
  bool number() const { return std::isdigit(static_cast<unsigned char>(text[0])) != 0; }
  bool word() const { return std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_'; }
  bool is(std::initializer_list<const char*> list) const {
    return std::find(list.begin(), list.end(), text) != list.end();
  }
  bool opens() const { return is({"(", "[", "{"}); }
  bool closes() const { return is({")", "]", "}"}); }
};
using Tokens = std::vector<Token>;

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Returns the end of the white space, comment or directive that begins at i, or i if there is none.
inline size_t skipped(const std::string& s, size_t i, bool line_start) {
  if (std::isspace(static_cast<unsigned char>(s[i]))) return i + 1;
  if (s.compare(i, 2, "//") == 0) return std::min(s.find('\n', i), s.size());
  if (s.compare(i, 2, "/*") == 0) return s.find("*/", i) + 2;
  if (s[i] != '#' || !line_start) return i;
  while (i < s.size() && s[i] != '\n') i += s[i] == '\\' ? 2 : 1;
  return i;
}

// Returns the end of the token that begins at i.
inline size_t token_end(const std::string& s, size_t i) {
  size_t end = i;
  if (s.compare(i, 2, "R\"") == 0) {
    const size_t open = s.find('(', i);
    const std::string close = ")" + s.substr(i + 2, open - i - 2) + "\"";
    return s.find(close, open) + close.size();
  }
  if (s[i] == '"' || s[i] == '\'') {
    for (++end; s[end] != s[i]; ++end) end += s[end] == '\\';
    return end + 1;
  }
  const bool number = std::isdigit(static_cast<unsigned char>(s[i]));
  const std::string_view exponents = s.compare(i, 2, "0x") == 0 ? "pP" : "eE";
  while (is_word(s[end]) || (number && (s[end] == '.' || s[end] == '\'')) ||
         (number && end > i && (s[end] == '-' || s[end] == '+') &&
          exponents.find(s[end - 1]) != exponents.npos))
    ++end;
  if (end > i) return end;
  for (const std::string_view op :
       {"<=>", "<<=", ">>=", "...", "->", "::", "<<", "<=", ">=", "==", "!=", "&&",
        "||",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "++", "--"})
    if (s.compare(i, op.size(), op) == 0) return i + op.size();
  return i + 1;
}

// Marks constant expressions: from a keyword such as constexpr to the end of its declaration.
inline void mark_fixed(Tokens& t) {
  for (size_t i = 0; i < t.size(); ++i) {
    if (!t[i].is({"constexpr", "consteval", "static_assert", "template", "using", "enum", "case"}))
      continue;
    const bool condition = i > 0 && t[i - 1].text == "if";
    size_t end = i + 1;
    while (end < t.size() && t[end].text != ";") {
      if (t[i].text == "case" && t[end].text == ":") break;
      if (t[i].text == "template" && t[end].text == "(") break;  // only its header
      const bool body = t[end].text == "{" && t[end].block;
      if (t[end].opens()) end = t[end].partner;
      if (body || condition) break;
      ++end;
    }
    for (size_t k = i; k <= end && k < t.size(); ++k) t[k].fixed = true;
  }
}

inline Tokens tokens_of(const std::string& s) {
  Tokens tokens;
  std::vector<size_t> open;
  int line = 1;
  bool line_start = true, space = true;
  for (size_t i = 0, end; i < s.size(); i = end) {
    if ((end = skipped(s, i, line_start)) != i) {
      space = true;
      line_start = line_start || s[i] == '\n';
    } else {
      end = token_end(s, i);
      tokens.push_back({.text = s.substr(i, end - i), .offset = i, .line = line, .space = space});
      Token& token = tokens.back();
      if (token.opens()) {
        token.block = token.text == "{" && space && tokens.size() > 1 &&
                      !tokens[tokens.size() - 2].is({"=", ",", "(", "{", "return"});
        open.push_back(tokens.size() - 1);
      } else if (token.closes()) {
        token.partner = open.back();
        token.block = tokens[open.back()].block;
        tokens[open.back()].partner = tokens.size() - 1;
        open.pop_back();
      }
      space = line_start = false;
    }
    line += static_cast<int>(std::count(&s[i], &s[end], '\n'));
  }
  mark_fixed(tokens);
  return tokens;
}
