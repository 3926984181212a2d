# Everything runs in .venv, made by the first target that needs it.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
PIP := 26.3
.DEFAULT_GOAL := help

.PHONY: help demo docs test test-long test-newton lint bench clean browser page

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml constraints.txt hatch_build.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Kinetarium needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet pip==$(PIP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

page: $(STAMP)
	@$(BIN)/python web/toolchain.py build

browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	  command -v google-chrome >/dev/null || { \
	    echo "Installing Chromium for the browser tests"; \
	    apt-get update -qq && apt-get install -y -qq chromium; } || \
	  { echo "The browser tests need Chromium; install it and run make test again"; exit 1; }

demo: page  ## Test the installed engines, run the studies on all of them in short form, write reports
	$(BIN)/kinetarium conformance --failures-only
	@rm -rf out/demo
	$(BIN)/kinetarium drop --out out/demo/drop
	$(BIN)/kinetarium dynamics --robot panda --states 200 --out out/demo/dynamics
	$(BIN)/kinetarium reach build --robot panda --voxel 0.1 --poses 4 --self-collision --quiet --out out/demo/panda.rmap
	$(BIN)/kinetarium reach place --map out/demo/panda.rmap --poses examples/04_poses.json --out out/demo/reach
	$(BIN)/kinetarium dock --case C --preset recommended --engine mujoco --out out/demo/dock
	$(BIN)/kinetarium walk --path straight side --out out/demo/walk
	$(BIN)/kinetarium walk --engine mujoco --stride 31.87 --step-time 1 --out out/demo/walk-physics
	$(BIN)/kinetarium compare-engines --quick --out out/demo/engines
	$(BIN)/kinetarium pick --engine mujoco bullet --scene examples/08_table.toml --out out/demo/pick
	@echo "watch all of it in 3-D: $(BIN)/kinetarium studio out/demo"

docs: $(STAMP)  ## Build the documentation site in out/docs, offline; warnings are errors
	$(BIN)/python -m sphinx -b html -q -W --keep-going -d out/doctrees docs out/docs
	@echo "open out/docs/index.html"

lint: page  ## Check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python web/toolchain.py check

test: lint browser  ## Run all tests in their short form
	$(BIN)/python -m pytest -n 2

test-long: lint browser  ## Run all tests with the full numbers
	$(BIN)/python -m pytest -n 2 -m "not newton"

# Newton has a separate environment, for it does not work with the MuJoCo of the others, only with 3.15 and 3.16.
.venv-newton/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-newton
	.venv-newton/bin/python -m pip install --quiet pip==$(PIP)
	@sed 's/^mujoco==.*/mujoco==3.16.0/' constraints.txt > .venv-newton/constraints.txt
	.venv-newton/bin/python -m pip install --quiet --constraint .venv-newton/constraints.txt --editable '.[dev,newton]'
	@touch $@

test-newton: .venv-newton/installed  ## Test NVIDIA's Newton in an environment of its own
	.venv-newton/bin/kinetarium conformance --engine newton
	.venv-newton/bin/python -m pytest -m "not slow" -k newton tests/engines tests/conformance

# Peers have a separate environment; those without a wheel for this Python are named and left out.
.venv-bench/installed: pyproject.toml constraints.txt benchmarks/peers.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet pip==$(PIP)
	.venv-bench/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@grep -v '^#' benchmarks/peers.txt | while read peer; do \
	  .venv-bench/bin/python -m pip install --quiet --constraint constraints.txt "$$peer" || \
	  echo "$$peer cannot be installed here; its rows are left out"; done
	@touch $@

bench: .venv-bench/installed  ## Compare speed and cost with peers, in one run
	.venv-bench/bin/python -m benchmarks

clean:  ## Remove everything that was generated
	rm -rf .venv .venv-bench .venv-newton out docs/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -rf web/node_modules src/kinetarium/studio/page
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
