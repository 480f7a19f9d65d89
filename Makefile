# Everything starts from a bare python3: each command first makes .venv ready (seconds once, then nothing).
# No package index is named here; pip's own settings decide where packages come from.

PYTHON ?= python3
WORKERS ?= 4
BIN := .venv/bin
# A file's tests share its house, so one worker runs them all; the longest files happen to come first.
SHARED := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
CODE := src tests tools $(wildcard bench)

# Thousands of processes are started here; where Python may not keep what it compiled, each compiles everything again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.NOTPARALLEL: # the steps share one .venv and its caches; pytest brings its own workers
.PHONY: help demo test check format sweep attacks cheats agents tryout bench coverage lock clean runnable workable browsable walled crewed described formatted linted typed layered

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

demo: runnable ## one compressed night on a sample repository, from orders to review
	@$(BIN)/midwatch demo $(ARGS)

test: workable browsable walled crewed described linted layered ## lint, types, import contracts and all tests but the sweeps
	@echo "== types: mypy, beside all tests ($(WORKERS) workers)"
	@$(BIN)/mypy --no-error-summary $(CODE) & types=$$!; \
	$(BIN)/python -m pytest $(SHARED) --inline-snapshot=disable --databases-must-match $(ARGS); tests=$$?; \
	wait $$types || { echo "== types: mypy found errors, see above"; exit 1; }; exit $$tests

check: workable formatted linted typed layered ## before each commit, under 30 seconds: all but the slow tests
	@echo "== fast tests"
	@$(BIN)/python -m pytest -n $(WORKERS) --inline-snapshot=disable -m "not sweep and not slow" $(wildcard tests/rules tests/views tests/promises) $(ARGS)

format: workable ## rewrite the code the way ruff likes it
	@$(BIN)/ruff check --quiet --fix-only $(CODE)
	@$(BIN)/ruff format $(CODE)

sweep: workable browsable walled ## every case that `make test` only samples; cut off, it goes on where it stopped
	@$(BIN)/python -m pytest -n $(WORKERS) --inline-snapshot=disable -m sweep --hypothesis-profile sweep --timeout 3600 --resume=.sweep $(ARGS)

attacks: workable walled ## every attack on walls, door, budget, quarantine, clean-up, and every need of honest work; as root also as nobody
	@$(BIN)/python -m tools.attacks $(ARGS)

cheats: workable walled ## agents that cheat beside honest ones, in whole nights; ends with how many were caught; ARGS="--only node"
	@PYTHONPATH=src:. $(BIN)/python -m tests.cheats $(ARGS)

agents: workable crewed ## real agents against a scripted model, a line per agent and case; ARGS="--only claude"
	@PYTHONPATH=src:. $(BIN)/python -m tests.agents $(ARGS)

tryout: workable walled crewed ## real agents on six well-known source trees, for one night; ARGS="--only codex --tree click"
	@PYTHONPATH=src:. $(BIN)/python -m tests.tryout $(ARGS)

bench: workable ## how fast, beside the natural limit of each thing
	@$(BIN)/python -m bench $(ARGS)

coverage: workable ## which lines and branches no test visits
	@$(BIN)/python -m pytest -n $(WORKERS) --inline-snapshot=disable --cov --cov-report term $(ARGS)

lock: workable ## write requirements/*.lock from the *.in files, with hashes; ARGS=--upgrade for newer versions
	@$(BIN)/python -m tools.lock $(ARGS)

clean: ## remove .venv and every cache
	@rm -rf .venv dist htmlcov .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.*
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# What the commands above are made of.

runnable:
	@$(PYTHON) tools/bootstrap.py base

browsable:
	@$(PYTHON) tools/chromium.py

walled:
	@$(PYTHON) tools/bubblewrap.py

crewed:
	@$(PYTHON) tools/agents.py

described:
	@$(PYTHON) tools/prism.py

workable:
	@$(PYTHON) tools/bootstrap.py dev

formatted:
	@echo "== format: ruff"
	@$(BIN)/ruff format --check $(CODE)

linted:
	@echo "== lint: ruff"
	@$(BIN)/ruff check --quiet $(CODE)

typed:
	@echo "== types: mypy"
	@$(BIN)/mypy --no-error-summary $(CODE)

layered:
	@echo "== import contracts: import-linter"
	@$(BIN)/lint-imports --no-logo
