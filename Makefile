# Every target sets up what it needs: a virtual environment in .venv, made once and used again.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help run test fuzz lint format docs bench figures browser clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(READY) ## Take a short tour of what pgnn does
	$(BIN)/python examples/tour.py

test: $(READY) browser ## Run every test, doctests included
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

N ?= 1000
fuzz: $(READY) ## Try N mutated files, arguments and run directories each, and N/10 kills (N=10000)
	@code=0; for kind in files arguments runs kills; do \
		$(BIN)/python tests/fuzz/fuzz.py $$kind $(N) --results results/fuzz.json || code=1; done; exit $$code

lint: $(READY) ## Check style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(READY) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY) ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(READY) ## Measure speed and memory against peers, in one run (about ten minutes)
	$(BIN)/pgnn bench distances
	$(BIN)/pgnn bench layer
	$(BIN)/pgnn bench train
	$(BIN)/python benchmarks/read_csv.py
	$(BIN)/python benchmarks/read_memory.py
	$(BIN)/python benchmarks/weighted.py
	$(BIN)/python benchmarks/layer_bounds.py
	$(BIN)/python benchmarks/pair_dots.py

figures: $(READY) ## Draw the figures of docs/ again
	$(BIN)/python docs/figures/bourgain.py
	$(BIN)/python docs/figures/theory.py
	$(BIN)/python docs/figures/how_it_works.py
	$(BIN)/python docs/figures/calibration.py

# Tests of reports drive a real browser; where there is none they are skipped, and say so.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq \
		&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			chromium chromium-driver >/dev/null; } \
	|| echo "no chromium and chromedriver here: tests in a browser will be skipped"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "pgnn needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis
