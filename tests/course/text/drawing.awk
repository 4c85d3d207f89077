# Checks the description of a drawing against a page: every number in it must appear in an output block.
#
#   awk -v page=PAGE:LINE -f unit.awk -f drawing.awk DRAWING OUTPUT…
#
# A number agrees with a printed one that rounds to it. The numbers of words ("two", "four") are not checked.

# Collects each number of a line into `numbers`.
function collect(line, numbers,    n) {
  gsub(/−/, "-", line)
  while (match(line, /[-+]?[0-9]+(\.[0-9]+)?([eE][-+][0-9]+)?/)) {
    n = substr(line, RSTART, RLENGTH)
    # Not the digits of a name (x1) and not the minus of a range (2-3).
    if (RSTART == 1 || substr(line, RSTART - 1, 1) !~ /[A-Za-z_]/) numbers[n]
    line = substr(line, RSTART + RLENGTH)
  }
}

FILENAME == ARGV[1] {
  if (match($0, /<desc[^>]*>.*<\/desc>/)) {
    line = substr($0, RSTART, RLENGTH)
    gsub(/<[^>]*>/, "", line)
    described = 1
    collect(line, shown)
  }
  next
}
{ collect($0, printed) }
END {
  if (!described) {
    printf "%s: %s has no <desc> on one line\n", page, ARGV[1]
    exit 1
  }
  for (n in shown) {
    found = n in printed
    for (m in printed)
      if (!found && n ~ /\./) found = m - n <= unit(n) && n - m <= unit(n)
    if (!found) {
      printf "%s: no output of the page has the number %s of %s\n", page, n, ARGV[1]
      bad = 1
    }
  }
  exit bad
}
