#!/usr/bin/env bash
# e2e.sh BUNDLE [VARIANT...] runs the end-to-end tests against a bundle in the
# variants that are named, or in all: on each Mattermost, file store and file
# host. JOBS of them run at once, each with servers of its own; a single one
# shows its output as it comes. RUN is a pattern for the tests of the suite.
set -euo pipefail

cd "$(dirname "$0")/../e2e"
gotestsum=$PWD/../.cache/tools/gotestsum

# harness is what the other tests stand on; the others are the suite.
all=(newest oldest s3 nextcloud owncloud opencloud harness)

# variant runs one of them.
variant() {
    local packages=(./suite) pattern=${RUN:-}
    # What is set for `make run` and `make test-hosts` is not for the tests.
    unset FILEHOST_ATTACH_MATTERMOST FILEHOST_ATTACH_FILESTORE FILEHOST_ATTACH_HOST HOST_URL
    case $1 in
        newest) ;;
        oldest) export FILEHOST_ATTACH_MATTERMOST=9.9 ;;
        s3) export FILEHOST_ATTACH_FILESTORE=s3 ;;
        nextcloud | owncloud | opencloud) export FILEHOST_ATTACH_HOST=$1 ;;
        harness)
            # shellcheck disable=SC2207 # paths of packages have no spaces; macOS has no mapfile
            packages=($(go list ./... | grep -v "/suite$"))
            pattern=
            ;;
        *)
            echo "no variant is called $1; there are ${all[*]}" >&2
            return 2
            ;;
    esac
    "$gotestsum" --format pkgname-and-test-fails -- -count=1 -timeout 20m ${pattern:+-run "$pattern"} "${packages[@]}"
}

# quietly runs a variant, keeps its output for later and tells when it ended.
quietly() {
    local began=$SECONDS status=passed
    variant "$1" >"$FILEHOST_ATTACH_LOGS/$1" 2>&1 || status=FAILED
    echo "  $1 $status after $((SECONDS - began)) s"
    [[ $status == passed ]]
}

if [[ ${1:-} == --quietly ]]; then
    quietly "$2"
    exit
fi

FILEHOST_ATTACH_BUNDLE=$1
export FILEHOST_ATTACH_BUNDLE
shift
variants=("$@")
[[ $# -gt 0 ]] || variants=("${all[@]}")

if [[ ${#variants[@]} -eq 1 ]]; then
    variant "${variants[0]}"
    exit
fi

FILEHOST_ATTACH_LOGS=$(mktemp -d)
export FILEHOST_ATTACH_LOGS
trap 'rm -rf "$FILEHOST_ATTACH_LOGS"' EXIT
status=0
printf '%s\n' "${variants[@]}" | xargs -n 1 -P "${JOBS:-3}" "../build/e2e.sh" --quietly || status=1
for name in "${variants[@]}"; do
    echo
    echo "--> $name"
    cat "$FILEHOST_ATTACH_LOGS/$name"
done
exit "$status"
