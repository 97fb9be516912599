# Two commands matter: `make run` and `make test`.  Everything else is for those who change the code.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
STAMP := $(VENV)/.installed
PIP := -m pip install --quiet --disable-pip-version-check
PEERS := scikit-learn scikit-learn-intelex celer skglm snapml python_glmnet statsmodels lightgbm xgboost catboost shap faiss-cpu pykdtree dbscan umap-learn flaml

.PHONY: help run test lint format bench cold-start warmup clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{sub(/:.*/, "", $$1); printf "  make %-11s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "hyperplan needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || { echo "creating $(VENV) ..."; $(PYTHON) -m venv $(VENV); }
	@echo "installing hyperplan and its tools into $(VENV) (a minute or two, once) ..."
	@$(BIN)/python $(PIP) --editable '.[dev]'
	@touch $@

run: $(STAMP)  ## a model competition on a real table: leaderboard with intervals, and a report
	@$(BIN)/hyperplan warmup --family compete
	@$(BIN)/hyperplan compete --example $(ARGS)

test: $(STAMP)  ## run the whole suite
	@$(BIN)/hyperplan warmup
	@$(BIN)/python -m pytest -n auto $(ARGS)

lint: $(STAMP)  ## style, layers and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@$(BIN)/mypy

format: $(STAMP)  ## rewrite the files in the project's style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

$(BENCH)/.installed: pyproject.toml
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@echo "installing hyperplan and its peers into $(BENCH) ..."
	@$(BENCH)/bin/python $(PIP) --editable '.[all]' $(PEERS)
	@touch $@

bench: $(BENCH)/.installed  ## measure against the peers; ARGS="lasso_wide --size medium" for a part
	@$(BENCH)/bin/python benchmarks/run.py $(ARGS)

cold-start: $(STAMP)  ## measure imports and first fits in fresh processes
	@$(BIN)/python benchmarks/cold_start.py $(ARGS)

warmup: $(STAMP)  ## compile every kernel once
	@$(BIN)/hyperplan warmup

clean:  ## remove both environments and the kernel cache
	@test ! -x $(BIN)/hyperplan || $(BIN)/hyperplan cache --clear
	@rm -rf $(VENV) $(BENCH)
