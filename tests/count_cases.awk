# Prints the last line of ./heed test from the JUnit file of ctest: how many test cases passed, failed and were skipped.
# It counts those of doctest programs, and every other test as one. Fails if a test failed or none ran.
/<testcase / { status = $0; sub(/.* status="/, "", status); sub(/".*/, "", status); split("", cases) }
/<skipped message="(SKIP|Disabled)/ { status = "skipped" }
/\[doctest\] test cases:/ { split($0, cases, /[:|]/) }  # the last line of a program is its total
/<\/testcase>/ {
  if (status == "skipped") ++skipped
  else if (status != "run" && cases[4] + 0 == 0) ++failed
  else if (status == "run" && !(3 in cases)) ++passed
  passed += cases[3]; failed += cases[4]  # cases[5] are those that another test of ctest runs
}
END {
  printf "%d passed, %d failed", passed, failed
  if (skipped) printf ", %d skipped", skipped
  print ""
  exit !(passed && !failed)
}
