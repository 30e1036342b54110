#!/usr/bin/env bash
# Runs every check of the CI, each as a step with its duration, goes on after a
# failure, and ends with a list of the failed steps and one line with the sums
# that the test runners themselves reported.
set -uo pipefail

cd "$(dirname "$0")/.."
export NO_COLOR=1 CI=true
unset FORCE_COLOR

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

failed=()

# step runs a command, shows and keeps its output, and says how long it took.
step() {
    local name=$1 began=$SECONDS status=0
    shift
    echo
    echo "==> $name"
    "$@" 2>&1 | tee "$logs/$name.log" || status=1
    if [[ $status -ne 0 ]]; then
        failed+=("$name")
        echo "==> $name FAILED after $((SECONDS - began)) s"
        return 0
    fi
    echo "==> $name done in $((SECONDS - began)) s"
}

# tally adds up the closing lines of gotestsum ("DONE 12 tests, 1 failure") and
# of vitest ("Tests  1 failed | 11 passed (12)"). A step that failed without a
# failed test, such as lint, counts as one failure.
tally() {
    awk -v failed_steps="${failed[*]-}" '
        FNR == 1 { if (file != "") close_file(); file = FILENAME; sub(/.*\//, "", file); sub(/\.log$/, "", file); in_file = 0 }
        /^DONE [0-9]+ tests/ {
            failures = 0; skipped = 0
            for (i = 2; i <= NF; i++) { if ($i ~ /^failure/) failures = $(i-1); if ($i ~ /^skipped/) skipped = $(i-1) }
            passed += $2 - failures - skipped; bad += failures; in_file += failures
        }
        /^ *Tests +[0-9]+ (passed|failed)/ {
            for (i = 2; i <= NF; i++) { if ($i == "passed") passed += $(i-1); if ($i == "failed") { bad += $(i-1); in_file += $(i-1) } }
        }
        END { close_file(); printf "%d passed, %d failed\n", passed, bad }
        function close_file(    names, i, n) {
            n = split(failed_steps, names, " ")
            for (i = 1; i <= n; i++) if (names[i] == file && in_file == 0) bad++
        }' "$logs"/*.log
}

step setup build/setup.sh
step bundle make --no-print-directory dist
step lint-go make --no-print-directory lint-go
step lint-web make --no-print-directory lint-web
step unit-go make --no-print-directory unit-go
step unit-web make --no-print-directory unit-web
step e2e make --no-print-directory e2e
step browser make --no-print-directory browser

echo
echo "all steps took $SECONDS s"
if [[ ${#failed[@]} -gt 0 ]]; then
    echo "failed: ${failed[*]}"
fi
tally
[[ ${#failed[@]} -eq 0 ]]
