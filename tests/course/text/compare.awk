# Compares the output that a page shows with the one that was printed, token by token.
#
#   awk -v page=PAGE -v first=N -f unit.awk -f compare.awk SHOWN PRINTED
#   awk -v page=PAGE -v first=1 -v tolerance=0.01 -f unit.awk -f compare.awk DRAWN_BEFORE DRAWN_NOW
#
# A number agrees if it is the shown one to the digits shown; whole numbers are equal. … stands for any tokens of a
# line, a line … for any lines. Before … a fraction may also be cut off: 0.1… agrees with 0.19. A mean with its
# interval over seeds, m [low, high], agrees with another such mean inside the shown interval or at most a quarter of
# its width, and 0.01, outside of it: results of training differ between processors. One of the two may have no
# interval, as the mean of equal numbers. With a tolerance every number t may be off by tolerance (1 + |t|): figures,
# whose last pixels depend on the processor.
function is_number(token) { return token ~ /^[-+]?[0-9]/ }

# Splits a line into tokens[1 … n]: numbers, words, and all else by character. Returns n.
function tokenise(line, tokens,    n, before) {
  n = 0
  before = " "
  while (line != "") {
    if (match(line, /^[ \t]+/)) {
      before = " "
      line = substr(line, RLENGTH + 1)
      continue
    }
    if (substr(line, 1, 3) == "…") RLENGTH = 3
    else if (before !~ /[0-9A-Za-z_)]/ && match(line, /^[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/)) {}
    else if (match(line, /^[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/) && before !~ /[A-Za-z_]/) {}
    else if (!match(line, /^[0-9A-Za-z_]+/)) RLENGTH = 1
    tokens[++n] = substr(line, 1, RLENGTH)
    before = substr(line, RLENGTH, 1)
    line = substr(line, RLENGTH + 1)
  }
  return n
}

function agrees(shown, printed,    difference, allowed) {
  if (shown == printed) return 1
  if (!is_number(shown) || !is_number(printed)) return 0
  difference = printed - shown
  if (difference < 0) difference = -difference
  allowed = unit(shown)
  if (tolerance) allowed = tolerance * (1 + (shown < 0 ? -shown : shown))
  return difference <= allowed
}

# Whether the tokens t[i …] of n are m [low, high].
function has_interval(t, i, n) {
  return i + 5 <= n && is_number(t[i]) && t[i + 1] == "[" && is_number(t[i + 2]) && t[i + 3] == "," && is_number(t[i + 4]) && t[i + 5] == "]"
}
function inside(mean, low, high,    room) {
  room = (high - low) / 4 + 0.01
  return mean >= low - room && mean <= high + room
}

# Whether tokens s[i …] of a shown line stand for tokens p[j …] of a printed one.
function tokens_agree(s, i, n, p, j, m) {
  for (; i <= n; ++i) {
    if (s[i] == "…") {
      for (; j <= m + 1; ++j)
        if (tokens_agree(s, i + 1, n, p, j, m)) return 1
      return 0
    }
    if (has_interval(s, i, n) && is_number(p[j])) {
      if (!inside(p[j], s[i + 2], s[i + 4])) return 0
      j += has_interval(p, j, m) ? 6 : 1
      i += 5
      continue
    }
    if (has_interval(p, j, m) && is_number(s[i])) {
      if (!inside(s[i], p[j + 2], p[j + 4])) return 0
      j += 6
      continue
    }
    if (j > m || !(agrees(s[i], p[j]) || (s[i + 1] == "…" && s[i] ~ /^[-+]?[0-9]+\./ && index(p[j], s[i]) == 1))) return 0
    ++j
  }
  return j > m
}

function line_agrees(i, j,    s, p, n, m) {
  n = tokenise(shown[i], s)
  m = tokenise(printed[j], p)
  return tokens_agree(s, 1, n, p, 1, m)
}

# Whether shown lines i … stand for printed lines j …. Remembers the farthest line that does not.
function agree(i, j) {
  for (; i <= shown_count; ++i) {
    if (shown[i] == "…") {
      for (; j <= printed_count + 1; ++j)
        if (agree(i + 1, j)) return 1
      return 0
    }
    if (j > printed_count || !line_agrees(i, j)) {
      if (i >= bad_shown) { bad_shown = i; bad_printed = j }
      return 0
    }
    ++j
  }
  if (j > printed_count) return 1
  bad_shown = i
  bad_printed = j
  return 0
}

FILENAME == ARGV[1] { shown[++shown_count] = $0; next }
{ printed[++printed_count] = $0 }
END {
  while (printed_count && printed[printed_count] ~ /^[ \t]*$/) --printed_count
  while (shown_count && shown[shown_count] ~ /^[ \t]*$/) --shown_count
  if (agree(1, 1)) exit
  printf "%s:%d: shown:   %s\n", page, first + bad_shown - 1, (bad_shown > shown_count ? "(the end)" : shown[bad_shown])
  printf "%s:%d: printed: %s\n", page, first + bad_shown - 1, (bad_printed > printed_count ? "(the end)" : printed[bad_printed])
  exit 1
}
