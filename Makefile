# A fresh machine needs Python 3.11 or newer, make and Java 17. Everything else goes into .venv.

VENV ?= .venv
# The newest installed Python that will do; PYTHON=... chooses another.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
# uv where it is installed (UV= to do without), else pip.
UV ?= $(shell command -v uv 2>/dev/null)
# Tests run in this many processes: one more than two cores, as tests that wait for Java or a browser leave theirs idle.
JOBS ?= 3
# More arguments for pytest: make test ARGS="-k segment"; for the benchmarks too: make same ARGS=--quick.
ARGS ?=
# The revision that `make same` compares with, without it where this branch left main; `make bench` compares if it is given.
BASE ?=

BIN := $(VENV)/bin
PY := $(BIN)/python
INSTALLED := $(VENV)/.forensics-installed
DEMO := sample_traces/kip101-0.10.2.2

.DEFAULT_GOAL := help
.PHONY: help setup demo test samples docs lint format types bench accuracy same withheld fuzz fuzz-readers bench-spark bombs image sbom clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## create .venv and install the project with all it needs

# Remade when pyproject.toml changed; otherwise make has nothing to do.
$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "make setup: no Python 3.11 or newer found; install one or set PYTHON=/path/to/python" >&2; exit 2; }
ifneq ($(strip $(UV)),)
	@test -x $(PY) || $(UV) venv --quiet --python "$$(command -v $(PYTHON))" $(VENV)
	@echo "installing into $(VENV) with uv"
	@$(UV) pip install --quiet --python $(PY) --editable . --group dev
else
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip >/dev/null
	@echo "installing into $(VENV) with pip: takes some minutes the first time (PySpark is large)"
	@$(PY) -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable . --group dev
endif
	@touch $@

demo: setup ## scan a shipped trace of a real loss
	@$(BIN)/forensics --help >/dev/null
	@$(BIN)/forensics scan $(DEMO); code=$$?; \
	if [ $$code -gt 1 ]; then echo "make demo: the scan failed with exit code $$code" >&2; exit $$code; fi

test: setup lint types ## lint, types and tests (CI=1: with every variant)
	@PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n $(JOBS) --dist loadgroup $(ARGS)

samples: setup ## unpack all sample traces into samples/
	@$(PY) -m tools.samples samples

docs: setup ## build the documentation site into site/, without a warning
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --site-dir site
	@echo "open site/index.html; for the search: $(PY) -m http.server -d site"

lint: setup ## check style, layout, cognitive complexity, licences and known vulnerabilities
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo "make lint: not formatted; run: make format" >&2; exit 1; }
	@said=$$($(BIN)/complexipy --color no) || { echo "$$said" >&2; exit 1; }
	@$(PY) .ci/audit.py

format: setup ## put imports and layout in order
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .

types: setup ## check types
	@$(BIN)/mypy

bench: setup ## time a scan of generated evidence (BASE=REV: the judging, beside that of another revision)
	@$(PY) -m benchmarks.scan $(if $(BASE),--base $(BASE)) $(ARGS)

accuracy: setup ## compare verdicts with what is known of recorded clusters
	@$(PY) -m benchmarks.accuracy $(ARGS)

same: setup ## compare all verdicts and findings with those of another revision (BASE=REV, ARGS=--quick)
	@$(PY) -m benchmarks.same $(if $(BASE),--base $(BASE)) $(ARGS)

withheld: setup ## withhold recorded evidence by chance: no wrong answer to the rest (ARGS="--seconds 3600 --seed 7000")
	@$(PY) -m benchmarks.withheld $(ARGS)

fuzz: setup ## damage evidence by chance and scan it: no crash, no false proof (ARGS="--seconds 3600")
	@$(PY) -m benchmarks.fuzz $(ARGS)

fuzz-readers: setup ## give each reader bytes that reach new lines of it (ARGS="--seconds 600"); installs atheris
	@$(PY) -c 'import atheris' 2>/dev/null || $(if $(UV),$(UV) pip install --quiet --python $(PY),$(PY) -m pip install --quiet) atheris
	@$(PY) -m benchmarks.fuzz.guided $(ARGS)

bench-spark: setup ## time the Spark engine
	@$(PY) -m benchmarks.spark $(ARGS)

bombs: setup ## scan hostile and enormous evidence, and print what each takes
	@$(PY) -m benchmarks.bombs $(ARGS)

image: ## build packaging/Containerfile with podman or docker, and scan a sample in it
	@.ci/image

sbom: setup ## write dist/forensics.cdx.json: all that an installation consists of
	@$(PY) .ci/audit.py --sbom dist/forensics.cdx.json

clean: ## remove .venv and what tools have cached
	rm -rf $(VENV) .complexipy_cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .same .unpacked build dist samples site
