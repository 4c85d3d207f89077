# Prints the checks that failed, and as the last line of ./heed test how many test cases passed, failed and were skipped,
# from the JUnit file of ctest. It counts those of doctest programs, and every other test as one. Fails if a test failed
# or none ran.
/<testcase / { status = $0; sub(/.* status="/, "", status); sub(/".*/, "", status); split("", cases); checks = "" }
/<skipped message="(SKIP|Disabled)/ { status = "skipped" }
/TEST CASE: / { name = $0 "\n"; sub(/.*TEST CASE: +/, "\nTEST CASE: ", name) }
/: (FATAL )?ERROR: / { checks = checks name; name = ""; failing = 1 }
/^$/ { failing = 0 }
failing { checks = checks $0 "\n" }
/\[doctest\] test cases:/ { split($0, cases, /[:|]/) }  # the last line of a program is its total
/<\/testcase>/ {
  if (status == "skipped") ++skipped
  else if (status != "run" && cases[4] + 0 == 0) ++failed
  else if (status == "run" && !(3 in cases)) ++passed
  if (status != "run") all_checks = all_checks checks
  passed += cases[3]; failed += cases[4]  # cases[5] are those that another test of ctest runs
}
END {
  gsub(/&quot;/, "\"", all_checks); gsub(/&lt;/, "<", all_checks); gsub(/&gt;/, ">", all_checks); gsub(/&amp;/, "\\&", all_checks)
  printf "%s%d passed, %d failed", (all_checks ? all_checks "\n" : ""), passed, failed
  if (skipped) printf ", %d skipped", skipped
  print ""
  exit !(passed && !failed)
}
