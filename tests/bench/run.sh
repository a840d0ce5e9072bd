#!/bin/sh
# Makes the environment of `make bench` from its hashed lock when it is missing or old, then measures.
set -eu
cd "$(dirname "$0")/../.."

lock=tests/bench/requirements.lock
venv=.bench-venv
python=.venv/bin/python
[ -x "$python" ] || python=${PYTHON:-python3}

if ! cmp -s "$lock" "$venv/installed.lock"; then
    echo "Setting up $venv (a minute or two, once)"
    "$python" -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock"
    cp "$lock" "$venv/installed.lock"
fi
exec "$venv/bin/python" -W ignore::DeprecationWarning -m tests.bench "$@"
