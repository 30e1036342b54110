#!/usr/bin/env bash
# Installs what the tests need and this machine lacks: PostgreSQL, Chromium and
# Apache. Installs nothing that is there already. Without root or apt it names
# what is missing and fails.
set -euo pipefail

has_postgresql() { command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }
has_chromium() { [[ -n "${CHROMIUM:-}" ]] || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; }
has_apache2() { command -v apache2 >/dev/null || [[ -x /usr/sbin/apache2 ]] || command -v httpd >/dev/null; }

for program in go node npm git; do
    command -v "$program" >/dev/null || { echo "please install $program: the project needs Go 1.26, Node 20 and git" >&2; exit 1; }
done

missing=()
for program in postgresql chromium apache2; do
    "has_$program" || missing+=("$program")
done
if [[ ${#missing[@]} -eq 0 ]]; then
    echo "PostgreSQL, Chromium and Apache are here"
    exit 0
fi

if ! command -v apt-get >/dev/null || [[ $EUID -ne 0 ]]; then
    echo "please install: ${missing[*]}" >&2
    exit 1
fi
# A browser without a font shows boxes.
[[ " ${missing[*]} " == *" chromium "* ]] && missing+=(fonts-liberation)
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install --yes -qq --no-install-recommends "${missing[@]}" >/dev/null
