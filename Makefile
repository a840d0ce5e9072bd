# Everything a person runs here. `make demo` and `make test` need Python 3.11 or newer, pip and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CASES ?= tests/cases
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types arch fmt conformance fuzz model crash matrix bench wheel lock clean

help:  ## show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(VENV)/.ready: deploy/requirements.dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Keyturn needs Python 3.11 or newer; this is %d.%d. Try: make PYTHON=python3.11 ..." % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@echo "Setting up $(VENV) (about a minute, once)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r deploy/requirements.dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(VENV)/.ready  ## make the environment from the hashed lock

demo: setup  ## a scripted agent at work on real files; you hold the key
	$(BIN)/keyturn demo $(ARGS)

test: setup  ## the test suite (embedded Valkey; choose with ARGS='-k click')
	$(BIN)/python -m pytest -m 'not matrix and not campaign' $(ARGS)

check: lint types arch  ## ruff, mypy, basedpyright, import contracts

lint: setup  ## style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup  ## types
	$(BIN)/mypy
	$(BIN)/basedpyright --level error

arch: setup  ## import direction
	$(BIN)/lint-imports --no-cache

fmt: setup  ## format and apply safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

conformance: setup  ## compare with the reference and the security cases (CASES=DIR for another folder)
	$(BIN)/python -m tests.conformance $(CASES)

fuzz: setup  ## shell rules against real bash (COUNT=200000 SEED=1)
	$(BIN)/python -m tests.fuzz --count $(or $(COUNT),200000) --seed $(or $(SEED),1)

model: setup  ## explore the ledger's model whole, and show what goes wrong without each rule
	$(BIN)/python -m tests.sim.explore
	$(BIN)/python -m tests.sim.explore --break all

crash: setup  ## kill gateways and their store while people work with them (KILLS=1000 SEED=7)
	$(BIN)/python -m pytest -q -m campaign
	$(BIN)/python -m tests.crash --kills $(or $(KILLS),1000) --seed $(or $(SEED),7)

matrix: setup  ## install Redis and bubblewrap from the system's packages and run what needs them
	tests/matrix.sh
	$(BIN)/python -m pytest -m matrix $(ARGS)

bench: setup  ## compare with agentscope in an environment of its own (.bench-venv)
	tests/bench/run.sh

wheel: setup  ## build the wheel and prove what is inside
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	$(BIN)/python -m tests.wheel dist

lock: setup  ## renew the hashed locks (needs uv)
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 --extra dev --no-emit-package keyturn pyproject.toml -o deploy/requirements.dev.lock
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 --extra openai --extra anthropic --extra mcp pyproject.toml -o deploy/requirements.lock

clean:  ## remove everything that make made
	rm -rf $(VENV) .bench-venv dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
