# Passes CTest's output on and puts the ten slowest steps before its summary: those of `steps`, a "SECONDS NAME" a line, and
# the tests.
function add(seconds, name) {
  taken[++count] = seconds
  named[count] = name
}
function print_slowest(    rank, i, best) {
  print "\nThe slowest steps, in seconds:"
  for (rank = 1; rank <= 10 && rank <= count; ++rank) {
    best = 0
    for (i = 1; i <= count; ++i) {
      if (taken[i] >= 0 && (best == 0 || taken[i] > taken[best])) best = i
    }
    printf "%8.1f  %s\n", taken[best], named[best]
    taken[best] = -1
  }
}
BEGIN {
  lines = split(steps, line, "\n")
  for (i = 1; i <= lines; ++i) {
    if (line[i] ~ /^[0-9]+ ./) add(substr(line[i], 1, index(line[i], " ") - 1) + 0, substr(line[i], index(line[i], " ") + 1))
  }
}
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: .* sec *$/ {
  name = $0
  sub(/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /, "", name)
  sub(/ .*/, "", name)
  add($(NF - 1) + 0, name)
}
/^[0-9]+% tests passed/ { print_slowest(); print "" }
{ print; fflush() }
