# Marks the comments of a header for Doxygen, which reads only /// and ///<. The headers themselves use plain //.
#
#   awk [-v fields=FILE] -f comments.awk HEADER    FILE has what fields.awk prints
#
# The comment above `#pragma once` describes the file. A comment behind code describes that code; a line that only
# continues such a comment, far to the right, belongs to it. `// ---- title` separates groups and describes nothing.
BEGIN {
  while (fields && (getline line < fields) > 0) {
    split(line, part, "\t")
    text_of[part[1], part[2]] = as_text(part[3])
  }
}

# What Doxygen would take for a command or a tag is text.
function as_text(comment) {
  gsub(/[\\<>@&$%#]/, "\\\\&", comment)
  return comment
}

# Prints a line with a comment behind it when its last line is known: Doxygen would swap the lines of two comments.
function flush() {
  if (held == "") return
  print held
  for (; continued; --continued) print ""
  held = ""
}

# Splits `int a = 1, b = 2` into type and declarators; returns their number.
function declarators(code, n, i, c, depth, first) {
  n = 1
  declarator[1] = ""
  for (i = 1; i <= length(code); ++i) {
    c = substr(code, i, 1)
    if (index("<{[(", c)) ++depth
    if (index(">}])", c)) --depth
    if (c == "," && !depth) declarator[++n] = ""
    else declarator[n] = declarator[n] c
  }
  first = declarator[1]
  sub(/ = .*/, "", first)
  match(first, /[*&]?[A-Za-z_0-9]+(\[[^]]*\])?$/)
  type = substr(first, 1, RSTART - 1)
  declarator[1] = substr(declarator[1], RSTART)
  for (i = 2; i <= n; ++i) sub(/^ +/, "", declarator[i])
  return n
}

match($0, /(^|[ ;,{})])\/\/ /) {
  $0 = substr($0, 1, RSTART - 1) as_text(substr($0, RSTART))
}
{ sub(/^namespace heed::inline HEED_REAL/, "namespace heed") }
/^ *\/\/ clang-format o(n|ff)/ { print started ? "" : "///"; next }
# An indented line of a comment is a formula or code: marked, as Doxygen joins the lines of a paragraph.
match($0, /^ *\/\/   +[^ ]/) {
  at = index($0, "//") + 2
  text = substr($0, at)
  gsub(/ /, "\302\240", text)
  $0 = substr($0, 1, at - 1) " ⟦" text "⟧"
}
!started && /^\/\// {
  print "///" substr($0, 3)
  next
}
# In place of #pragma once, so that no line has another number.
/^#pragma once/ { started = 1; print "/// @file"; next }
held && /^         +\/\/ / {
  held = held substr($0, index($0, "// ") + 2)
  ++continued
  next
}
{ flush() }
/^ *\/\/ ----/ { print ""; above = ""; next }
/^ *\/\// {
  sub(/\/\//, "///")
  above = above substr($0, index($0, "///") + 3)
  print
  next
}
match($0, /^(struct|class) [A-Z][A-Za-z]*/) { struct = substr($0, 1, RLENGTH); sub(/.* /, "", struct) }
# Variables: each of several has the comment of the line or that above, and a member without one what fields() says of it.
/^ *[A-Za-z][A-Za-z_:0-9<>, *]*[ *][a-z_0-9]+( = [^;()]*|\[\])?(, [^;()]*)?;( +\/\/ .*)?$/ && !/^ *(return|using|namespace|class|struct|enum|friend) / {
  at = index($0, ";")
  comment = substr($0, at + 1)
  sub(/^ +\/\/ /, "", comment)
  n = declarators(substr($0, 1, at - 1))
  line = ""
  for (i = 1; i <= n; ++i) {
    name = declarator[i]
    sub(/ = .*/, "", name)
    text = comment
    if (!text && i > 1) text = above
    if (!text && !above) text = text_of[struct, name]
    line = line type declarator[i] ";"
    if (text) line = line (i < n ? " /**< " text " */ " : " ///< " text)
  }
  above = ""
  if (comment) held = line
  else print line
  next
}
# A comment behind the brace of a class, or behind an enumeration, describes it.
/^ *(class|struct|enum class) .*[;{] +\/\/ / {
  at = index($0, "//")
  print "/** " substr($0, at + 3) " */ " substr($0, 1, at - 1)
  above = ""
  next
}
/([;,{)]|[^ ] *[}]) +\/\/ / && !/^ *\/\// && !/https?:\/\// {
  sub(/ +\/\/ /, " ///< ")
  held = $0
  above = ""
  next
}
{ print; above = "" }
END { flush() }
