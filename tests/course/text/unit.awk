# For compare.awk and drawing.awk.

# Half a unit of the last digit shown.
function unit(shown,    parts, exponent) {
  if (split(shown, parts, /[eE]/) == 2) exponent = parts[2]
  if (!(parts[1] ~ /\./)) return 0
  sub(/^.*\./, "", parts[1])
  return 0.500001 * 10 ^ (exponent - length(parts[1]))
}
