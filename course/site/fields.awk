# Prints what the fields() of sources say of each member: struct, member and text, separated by tabs.
#
#   awk -f fields.awk SOURCE…
match($0, /^void [A-Za-z]+::fields\(/) { struct = substr($0, 6, RLENGTH - 14) }
match($0, /^void [a-z_]+\([A-Za-z]+& o, Fields& f\)/) {
  struct = substr($0, index($0, "(") + 1)
  sub(/&.*/, "", struct)
}
/^}/ { struct = "" }
struct && /^  f\.[a-z]+\(/ { statement = "" }
struct { sub(/^ */, " "); statement = statement $0 }
struct && /;$/ {
  # f.kind("name", member, …, "text"[ "text"…][, effect]);
  if (match(statement, /f\.[a-z]+\("[a-z_]+", (o\.)?[a-z_0-9]+, /)) {
    member = substr(statement, RSTART, RLENGTH - 2)
    sub(/.*[ .]/, "", member)
    rest = substr(statement, RSTART + RLENGTH)
    gsub(/" +"/, "", rest)
    if (match(rest, /"[^"]+"(, *Field::Effect::[a-z]+)?\);/)) {
      text = substr(rest, RSTART + 1)
      sub(/"(, *Field::Effect::[a-z]+)?\);.*/, "", text)
      print struct "\t" member "\t" text
    }
  }
  statement = ""
}
