# Marks the comments of a header for Doxygen, which reads only /// and ///<. The headers themselves use plain //.
#
#   awk -f comments.awk HEADER
#
# The comment above `#pragma once` describes the file. A comment behind code describes that code; a line that only
# continues such a comment, far to the right, belongs to it. `// ---- title` separates groups and describes nothing.
# In a comment, what Doxygen would take for a command or a tag is text.
match($0, /(^|[ ;,{)])\/\/ /) {
  comment = substr($0, RSTART)
  gsub(/[\\<>@&$%#]/, "\\\\&", comment)
  $0 = substr($0, 1, RSTART - 1) comment
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
  print (NR == 1 ? "/// @file\n" : "") "///" substr($0, 3)
  next
}
/^#pragma once/ { started = 1 }
/^ *\/\/ ----/ { print ""; behind = 0; next }
/^ *\/\// {
  match($0, / *\/\//)
  if (behind && RLENGTH > 10) sub(/\/\//, "///<")
  else { sub(/\/\//, "///"); behind = 0 }
  print
  next
}
/[;,{)] +\/\/ / && !/^ *\/\// && !/https?:\/\// {
  sub(/ +\/\/ /, " ///< ")
  print
  behind = 1
  next
}
{ print; behind = 0 }
