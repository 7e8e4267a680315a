# SPDX-License-Identifier: MIT
# Everything a developer runs. `make` alone lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROCESSES ?= 2
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# A stamp says that one dependency group is installed; a newer pyproject.toml makes it stale.
ENV_STAMP := $(VENV)/.installed-test
CHECK_STAMP := $(VENV)/.installed-check
BENCH_STAMP := $(VENV)/.installed-bench
DOCS_STAMP := $(VENV)/.installed-docs
DEMO_STAMP := $(VENV)/.installed-demo

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"

$(ENV_STAMP): pyproject.toml | $(BIN)/python
	$(PIP) install --editable . --group test
	@touch $@

$(CHECK_STAMP): $(ENV_STAMP)
	$(PIP) install --group check
	@touch $@

$(BENCH_STAMP): $(ENV_STAMP)
	$(PIP) install --group bench
	@touch $@

$(DEMO_STAMP): pyproject.toml | $(BIN)/python
	$(PIP) install --editable ".[report]"
	@touch $@

$(DOCS_STAMP): $(ENV_STAMP)
	$(PIP) install --group docs
	@touch $@

.PHONY: env
env: $(ENV_STAMP) ## Create .venv with the package (editable) and what the tests need

.PHONY: demo
demo: $(DEMO_STAMP) ## Odometry over a simulated minute; writes out/demo/report.html
	$(BIN)/svnicp demo --out out/demo --overwrite

.PHONY: test
test: env ## Run the tests, in PROCESSES=2 processes
	$(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder

.PHONY: check
check: $(CHECK_STAMP) ## Lint, formatting, types, and the one-way import rule
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m pyright
	$(BIN)/lint-imports --no-logo

.PHONY: format
format: $(CHECK_STAMP) ## Rewrite the sources the way `make check` wants them
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

.PHONY: docs
docs: $(DOCS_STAMP) ## Build the documentation into out/site; open index.html there
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo out/site/index.html

.PHONY: bench
bench: $(BENCH_STAMP) ## Measure time and memory beside peers in the same run, into out/bench
	$(BIN)/svnicp bench --json out/bench/bench.json --page out/bench/performance.md

.PHONY: soak
soak: env ## Drive an hour in a loop (simulated): time and memory must not grow
	$(BIN)/svnicp bench --hour --json out/bench/bench.json

.PHONY: calibration
calibration: env ## Redraw the noise 200 times in five scenes: error against reported sigma
	$(BIN)/python -m benchmarks.calibration

.PHONY: clean
clean: ## Remove the environment, caches and outputs
	rm -rf $(VENV) out dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache .numba_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
