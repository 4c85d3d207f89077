# Splits a page of the course into what text.sh executes and compares.
#
#   awk -v folder=FOLDER -f blocks.awk PAGE
#
# Writes the lines of each block to FOLDER/N, where N is the page's line at which they begin, and prints, with tabs between:
#   cpp|sh|nightly N M      a block to run; M is the block of its output, 0 if none is shown
#   excerpt N FILE          lines of a file, which the last link before them names
#   name N NAME FILE        a link whose text is a name in the file
#   page N FILE             a link to a page or a part of one
#   figure N FILE BLOCK     a picture, and the last block that names its file
#   drawing N FILE          a picture in drawings/
function fail(message) {
  printf "%s:%d: %s\n", FILENAME, FNR, message >"/dev/stderr"
  bad = 1
}

# Reports the block that awaits the text of its output.
function finish(output) {
  if (waiting) print waiting "\t" output
  waiting = ""
}

function begin_block(tag) {
  start = FNR + 1
  kind = tag
  if (tag == "text") {
    if (!waiting) fail("a block of output needs the block that prints it right before it")
    finish(start)
  } else {
    finish(0)
    if (tag == "cpp" || tag == "sh") waiting = tag "\t" start
    else if (tag == "sh nightly") waiting = "nightly\t" start
    else if (tag ~ / excerpt$/) {
      if (file == "") fail("an excerpt needs a link to its file before it")
      print "excerpt\t" start "\t" file
    } else if (tag != "" && tag != "math") fail("unknown tag of a block: " tag)
  }
  printf "" >(folder "/" start)
}

function block_line(line) {
  if (kind == "cpp" || kind ~ /^sh/)
    for (rest = line; match(rest, /figures\/[a-z0-9_-]+\.svg/); rest = substr(rest, RSTART + RLENGTH))
      drawn_by[substr(rest, RSTART, RLENGTH)] = start
  print line >(folder "/" start)
}

function links(line,    text, target) {
  while (match(line, /!?\[[^][]*\]\([^() ]+\)/)) {
    text = substr(line, RSTART, RLENGTH)
    line = substr(line, RSTART + RLENGTH)
    target = text
    sub(/^.*\]\(/, "", target)
    sub(/\)$/, "", target)
    sub(/\]\([^()]*\)$/, "", text)
    if (target ~ /^https?:/) continue
    if (text ~ /^!/ && target ~ /^drawings\//) print "drawing\t" FNR "\t" target
    else if (text ~ /^!/) figures[++figure_count] = FNR "\t" target
    else if (text ~ /^\[`.*`$/ && target !~ /#/) {
      print "name\t" FNR "\t" substr(text, 3, length(text) - 3) "\t" target
      file = target
    } else {
      print "page\t" FNR "\t" target
      if (target !~ /#|\/$/) file = target
    }
  }
}

/^[ \t]+```/ { fail("a block must not be indented") }
/^```/ && kind != "none" { close(folder "/" start); kind = "none"; next }
/^```/ { begin_block(substr($0, 4)); next }
kind != "none" { block_line($0); next }
/[^ \t]/ { finish(0); links($0) }
BEGIN { kind = "none" }
END {
  finish(0)
  if (kind != "none") fail("a block does not end")
  for (i = 1; i <= figure_count; ++i) {
    split(figures[i], figure, "\t")
    if (!(figure[2] in drawn_by)) {
      printf "%s:%d: no block draws %s\n", FILENAME, figure[1], figure[2] >"/dev/stderr"
      bad = 1
    } else print "figure\t" figures[i] "\t" drawn_by[figure[2]]
  }
  exit bad
}
