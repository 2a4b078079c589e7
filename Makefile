# Two commands are all a newcomer needs: `make demo` and `make test`. Each makes .venv by
# itself the first time, and again only when what it installs has changed.

PYTHON ?= python3
BIN := .venv/bin
# Run tools as modules: the scripts of pip and pytest carry this folder's path inside.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALLED_BY := setup.cfg pyproject.toml

.PHONY: demo test lint format bench mutants docs clean
.DELETE_ON_ERROR:

demo: .venv/installed-demo
	$(BIN)/python examples/train_digits.py

# Each worker of pytest has a core: threads of BLAS beside it would only be in its way.
test: lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

lint: .venv/installed-dev
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	$(BIN)/python -m mypy dezero pytest_dezero.py

format: .venv/installed-dev
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format

# `make bench PEERS=1` also compares with other libraries; ARGS="gpt lstm --pooled" hands
# workloads and options on to the script.
bench: .venv/installed-$(if $(PEERS),peers,dev)
	$(BIN)/python benchmarks/bench.py $(if $(PEERS),--peers) $(ARGS)

# Which changes of the code would no test notice? A day; ARGS="core --sample 100" takes
# minutes. See the top of the script.
mutants: .venv/installed-mutants
	$(BIN)/python tools/mutants.py $(ARGS)

# Minutes: it runs all the steps. DOCS=-Dsphinx_gallery_conf.plot_gallery=0 leaves that out.
docs: .venv/installed-docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going $(DOCS) \
	  -b html docs docs/_build/html

clean:
	rm -rf .venv .venv-gpu build dist dezero.egg-info .pytest_cache .mypy_cache .ruff_cache
	rm -rf .hypothesis digits.png step[0-9][0-9]*.png step[0-9][0-9]*.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp of its own, not bin/python: that exists even if making the rest failed.
.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "DeZero needs Python 3.11 or newer, this is " + sys.version.split()[0] + \
	  ": say which with `make PYTHON=python3.12 ...`")'
	$(PYTHON) -m venv --clear .venv
	@touch $@

.venv/installed-%: .venv/made $(INSTALLED_BY)
	$(PIP) install --editable '.[$*]'
	@touch $@
