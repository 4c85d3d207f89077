#include "course/tutor/formulas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "core/text.h"

namespace heed {
namespace {

using Symbols = std::map<std::string_view, std::string_view>;

const Symbols symbols{
    {"alpha", "α"},     {"beta", "β"},       {"gamma", "γ"},    {"delta", "δ"},
    {"epsilon", "ε"},   {"varepsilon", "ε"}, {"eta", "η"},      {"theta", "θ"},
    {"lambda", "λ"},    {"mu", "μ"},         {"nu", "ν"},       {"pi", "π"},
    {"rho", "ρ"},       {"sigma", "σ"},      {"tau", "τ"},      {"phi", "φ"},
    {"omega", "ω"},     {"Delta", "Δ"},      {"Sigma", "Σ"},    {"Omega", "Ω"},
    {"cdot", "·"},      {"cdots", "⋯"},      {"times", "×"},    {"partial", "∂"},
    {"nabla", "∇"},     {"infty", "∞"},      {"sum", "Σ"},      {"prod", "Π"},
    {"int", "∫"},       {"le", "≤"},         {"leq", "≤"},      {"ge", "≥"},
    {"geq", "≥"},       {"ne", "≠"},         {"neq", "≠"},      {"approx", "≈"},
    {"sim", "~"},       {"propto", "∝"},     {"in", "∈"},       {"pm", "±"},
    {"ldots", "…"},     {"dots", "…"},       {"to", "→"},       {"rightarrow", "→"},
    {"leftarrow", "←"}, {"mapsto", "↦"},     {"odot", "⊙"},     {"otimes", "⊗"},
    {"circ", "∘"},      {"ell", "ℓ"},        {"top", "ᵀ"},      {"lVert", "‖"},
    {"rVert", "‖"},     {"lfloor", "⌊"},     {"rfloor", "⌋"},   {"mid", "|"},
    {"mathbb", ""},     {"mathcal", ""},     {"mathbf", ""},    {"mathrm", ""},
    {"mathit", ""},     {"text", ""},        {"textbf", ""},    {"operatorname", ""},
    {"mathop", ""},     {"mathrel", ""},     {"textstyle", ""}, {"displaystyle", ""},
    {"limits", ""},     {"left", ""},        {"right", ""},     {"big", ""},
    {"Big", ""},        {"bigl", ""},        {"bigr", ""},      {"Bigl", ""},
    {"Bigr", ""},       {"quad", "  "},      {",", " "},        {";", " "},
    {":", " "},         {"!", ""},           {" ", " "},        {"{", "{"},
    {"}", "}"},         {"|", "‖"},          {"%", "%"},        {"_", "_"},
    {"#", "#"},         {"&", "&"},          {"$", "$"}};
const Symbols accents{{"bar", "\u0304"},    {"hat", "\u0302"},      {"tilde", "\u0303"},
                      {"dot", "\u0307"},    {"overline", "\u0305"}, {"vec", "\u20d7"},
                      {"widehat", "\u0302"}};
const Symbols below{{"0", "₀"}, {"1", "₁"}, {"2", "₂"}, {"3", "₃"}, {"4", "₄"}, {"5", "₅"},
                    {"6", "₆"}, {"7", "₇"}, {"8", "₈"}, {"9", "₉"}, {"+", "₊"}, {"-", "₋"},
                    {"=", "₌"}, {"a", "ₐ"}, {"e", "ₑ"}, {"h", "ₕ"}, {"i", "ᵢ"}, {"j", "ⱼ"},
                    {"k", "ₖ"}, {"l", "ₗ"}, {"m", "ₘ"}, {"n", "ₙ"}, {"o", "ₒ"}, {"p", "ₚ"},
                    {"r", "ᵣ"}, {"s", "ₛ"}, {"t", "ₜ"}, {"u", "ᵤ"}, {"v", "ᵥ"}, {"x", "ₓ"}};
const Symbols above{{"0", "⁰"}, {"1", "¹"}, {"2", "²"}, {"3", "³"}, {"4", "⁴"},
                    {"5", "⁵"}, {"6", "⁶"}, {"7", "⁷"}, {"8", "⁸"}, {"9", "⁹"},
                    {"+", "⁺"}, {"-", "⁻"}, {"i", "ⁱ"}, {"j", "ʲ"}, {"k", "ᵏ"},
                    {"n", "ⁿ"}, {"t", "ᵗ"}, {"x", "ˣ"}, {"ᵀ", "ᵀ"}};

// Returns the character, of one or more bytes, at this byte.
std::string_view character_at(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
  return text.substr(at, end - at);
}

// Returns whether the text needs no parentheses beside an operator: a number, a name with its
// index, or one call f(x).
bool is_one_term(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (depth == 0 && std::string_view(" +-/=·").find(c) != std::string_view::npos) return false;
  }
  return true;
}

std::string in_parentheses(const std::string& text) {
  return is_one_term(text) ? text : "(" + text + ")";
}

// "x", or "x" with its index
bool is_one_name(std::string_view text) {
  for (size_t at = 0; at < text.size(); at += character_at(text, at).size())
    if (at > 0 && std::ranges::none_of(below, [=](const auto& entry) {
          return entry.second == character_at(text, at);
        }))
      return false;
  return true;
}

// "ij" → "ᵢⱼ"; what has no such characters becomes _T, or _(j > i).
std::string raised(const std::string& text, const Symbols& characters, char sign) {
  std::string small;
  for (size_t at = 0; at < text.size(); at += character_at(text, at).size()) {
    const auto found = characters.find(character_at(text, at));
    if (found == characters.end())
      return is_one_name(text) ? sign + text : fmt::format("{}({})", sign, text);
    small += found->second;
  }
  return small;
}

// Reads one formula.
class Formula {
 public:
  Formula(std::string_view tex, std::string_view gap) : tex_(tex), gap_(gap) {}

  std::string text() {
    std::string all;
    while (at_ < tex_.size()) all += terms(), at_ += at_ < tex_.size();  // a lonely } is left out
    return all;
  }

 private:
  // Returns the terms up to the brace that closes them.
  std::string terms() {
    std::string all;
    while (at_ < tex_.size() && tex_[at_] != '}') {
      const char c = tex_[at_];
      if (c == '_' || c == '^') {
        ++at_;
        const std::string index = argument();
        all += c == '_' ? raised(index, below, '_') : raised(index, above, '^');
      } else if (c == ' ' || c == '\n') {
        ++at_;
        if (!all.empty() && all.back() != ' ' && all.back() != '(') all += ' ';
      } else {
        const bool closes = tex_.substr(at_).starts_with("\\rVert");
        while (closes && all.ends_with(' ')) all.pop_back();
        append(all, one());
      }
    }
    while (all.ends_with(' ')) all.pop_back();
    return all;
  }

  static void append(std::string& all, const std::string& part) {
    if (part == ")" || part == "]" || part == "," || part.starts_with('\n'))
      while (all.ends_with(' ')) all.pop_back();
    all += part.starts_with(' ') && all.ends_with(' ') ? part.substr(1) : part;
  }

  // Returns the next character, command or group.
  std::string one() {
    if (tex_[at_] == '{') {
      ++at_;
      std::string inside = terms();
      at_ += at_ < tex_.size();
      return inside;
    }
    if (tex_[at_] == '\\') return command();
    const std::string_view character = character_at(tex_, at_);
    at_ += character.size();
    return character == "~" ? " " : std::string(character);
  }

  std::string argument() {
    skip_spaces();
    return at_ < tex_.size() && tex_[at_] != '}' ? one() : "";
  }

  void skip_spaces() {
    while (at_ < tex_.size() && std::isspace(static_cast<unsigned char>(tex_[at_]))) ++at_;
  }

  std::string command() {
    size_t end = ++at_;
    while (end < tex_.size() && std::isalpha(static_cast<unsigned char>(tex_[end]))) ++end;
    if (end == at_) end = std::min(end + 1, tex_.size());
    const std::string_view name = tex_.substr(at_, end - at_);
    at_ = end;
    if (name == "frac" || name == "tfrac" || name == "dfrac") {
      const std::string numerator = argument();
      return in_parentheses(numerator) + "/" + in_parentheses(argument());
    }
    if (name == "sqrt") return "√" + in_parentheses(argument());
    if (name == "qquad") return std::string(gap_);
    if (name == "begin") return matrix();
    if (const auto accent = accents.find(name); accent != accents.end()) return accented(*accent);
    if (const auto found = symbols.find(name); found != symbols.end()) {
      if (found->second.empty() || found->second == " " || name == "lVert") skip_spaces();
      return std::string(found->second);
    }
    // A function, such as log.
    const bool letter = at_ < tex_.size() &&
                        (std::isalnum(static_cast<unsigned char>(tex_[at_])) || tex_[at_] == '\\');
    return std::string(name) + (letter ? " " : "");
  }

  std::string accented(const Symbols::value_type& accent) {
    const std::string under = argument();
    std::string all;
    for (size_t at = 0; at < under.size();) {
      const std::string_view character = character_at(under, at);
      at += character.size();
      all += character;
      if (accent.first == "overline" || at == character.size()) all += accent.second;
    }
    return all;
  }

  // \begin{pmatrix} 1 & 0 \\ 0 & 4 \end{pmatrix} → ((1, 0), (0, 4))
  std::string matrix() {
    argument();
    size_t end = tex_.find("\\end", at_);
    if (end == std::string_view::npos) end = tex_.size();
    std::string rows;
    const std::string_view inside = tex_.substr(at_, end - at_);
    for (size_t first = 0; first < inside.size();) {
      const size_t last = std::min(inside.find("\\\\", first), inside.size());
      std::string row;
      for (size_t cell = first; cell < last;) {
        const size_t stop = std::min(inside.find('&', cell), last);
        row += (row.empty() ? "" : ", ") + Formula(inside.substr(cell, stop - cell), gap_).text();
        cell = stop + 1;
      }
      if (!row.empty()) rows += fmt::format("{}({})", rows.empty() ? "" : ", ", row);
      first = last + 2;
    }
    at_ = std::min(end + 4, tex_.size());
    argument();
    return "(" + rows + ")";
  }

  const std::string_view tex_, gap_;  // gap_: for \qquad
  size_t at_ = 0;
};

}  // namespace

std::string formulas_as_text(const std::string& markdown) {
  std::string text;
  for (size_t at = 0; at < markdown.size();) {
    const std::string_view rest = std::string_view(markdown).substr(at);
    // Code between as many backquotes, and formulas, end within a paragraph; blocks of code do not.
    const std::string_view paragraph = rest.substr(0, rest.find("\n\n"));
    const char sign = rest[0];
    const size_t count = std::min(rest.find_first_not_of(sign), rest.size());
    const bool is_block = sign == '`' && count >= 3;
    const size_t end = (is_block ? rest : paragraph).find(std::string(count, sign), count);
    const bool is_formula = sign == '$' && count <= 2;
    if ((sign != '`' && !is_formula) || end == std::string_view::npos) {
      const size_t length = sign == '`' || sign == '$' ? count : 1;
      text += rest.substr(0, length);
      at += length;
      continue;
    }
    const std::string_view inside = rest.substr(count, end - count);
    if (!is_formula)
      text += rest.substr(0, end + count);
    else if (count == 1)
      text += Formula(inside, "  ").text();
    else
      text += "    " + Formula(inside, "\n    ").text();
    at += end + count;
  }
  return text;
}

}  // namespace heed
