# `make demo`, `make play` and `make test` each do all the set-up on a machine with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
unexport PYTHONDONTWRITEBYTECODE  # otherwise each of the tests' many processes would parse all modules again
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(HOW) --editable

.PHONY: demo play test test-slow check tests fuzz soak bench studies hs14-policies pjl11-policies stand-ins equilibria strong-bot strengths picture pictures docs docs-serve format dist test-lowest clean

demo: $(VENV)/.installed
	$(BIN)/felt demo

play: $(VENV)/.installed-web
	$(BIN)/felt play

PYTEST = $(BIN)/python -m pytest --numprocesses auto --maxprocesses 2 --dist loadfile --no-loadscope-reorder

# axe-core, which audits the accessibility of the pages in the slow tests; needs npm.
AXE := $(VENV)/axe/node_modules/axe-core/axe.min.js
$(AXE): $(BIN)/python
	npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/axe axe-core@4.14.0
	touch $@

# The checks, and in parallel the fast tests; tests/conftest.py orders them.
test: $(VENV)/.installed-dev
	$(MAKE) --jobs=2 check tests

tests: $(VENV)/.installed-dev
	$(PYTEST) -m "not slow"

# The slow tests: larger games, longer runs, all hands and all pages in a browser.
test-slow: $(VENV)/.installed-dev $(VENV)/.installed-docs $(VENV)/.installed-ray $(VENV)/.installed-torch $(AXE)
	$(PYTEST) -m slow

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Mutants of every file format and protocol; findings are saved in fuzz-findings/ (docs/robustness.md).
MUTANTS ?= 100000
SECONDS ?= 900
SEED ?= 1
fuzz: $(VENV)/.installed-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz --mutants $(MUTANTS) --seconds $(SECONDS) --seed $(SEED) $(FUZZ)

# A simulated day at the table with kills, full disks, deleted files and clock jumps (docs/table.md).
HOURS ?= 24
soak: $(VENV)/.installed-dev
	PYTHONPATH=tests $(BIN)/python -m soak --hours $(HOURS) --seed $(SEED) $(SOAK)

bench: $(VENV)/.installed-bench
	$(BIN)/felt bench

# All studies that need no GPU, trained policies or long runs: under ten minutes on two cores.
studies: $(VENV)/.installed-plots
	$(BIN)/felt study run all --threads 2 --out docs/studies

# The policies of HS14's tables 2 and 3 at the paper's numbers of episodes: minutes on a GPU (pip install
# '.[cuda]'), about a day on a CPU.
DEVICE ?= auto
FELT ?= $(BIN)/felt
TRAIN = $(FELT) train --device $(DEVICE) --policy-only
LARGE := "holdem(buckets='ehs2:169/1000/500/200')"
hs14-policies: $(VENV)/.installed
	$(TRAIN) holdem --solver uct --k 1 --episodes 7e9 --out runs/hs14/uct-s-k1
	$(TRAIN) holdem --solver uct --k 0.5 --episodes 7e9 --out runs/hs14/uct-s-k05
	$(TRAIN) holdem --solver smooth-uct --schedule max-average --k 1 --episodes 7e9 --out runs/hs14/smooth-s-k1
	$(TRAIN) holdem --solver smooth-uct --schedule max-average --k 0.5 --episodes 7e9 --out runs/hs14/smooth-s-k05
	$(TRAIN) holdem --solver uct --k 0.5 --episodes 5.1e9 --out runs/hs14/uct-s-k05-hour
	$(TRAIN) holdem --solver smooth-uct --schedule max-average --k 0.5 --episodes 5.1e9 \
	    --out runs/hs14/smooth-s-k05-hour
	$(TRAIN) $(LARGE) --solver uct --k 0.5 --episodes 7e9 --out runs/hs14/uct-l-k05
	$(TRAIN) $(LARGE) --solver smooth-uct --schedule max-average --k 0.5 --episodes 7e9 \
	    --out runs/hs14/smooth-l-k05
	$(TRAIN) "holdem(players=3)" --solver uct --k 0.5 --episodes 12e9 --out runs/hs14/uct-3p
	$(TRAIN) "holdem(players=3)" --solver smooth-uct --schedule max-average --threshold 10000 --k 0.5 \
	    --episodes 12e9 --out runs/hs14/smooth-3p-literal
	$(TRAIN) "holdem(players=3)" --solver smooth-uct --schedule max-average --threshold 10000 --below ucb --k 0.5 \
	    --episodes 12e9 --out runs/hs14/smooth-3p-ucb
	$(TRAIN) "holdem(players=3)" --solver smooth-uct --schedule max-average --k 0.5 --episodes 12e9 \
	    --out runs/hs14/smooth-3p-plain

# The policies of PJL11's table 1.
pjl11-policies: $(VENV)/.installed
	for episodes in 5e7 5e8 5e9; do \
	    $(TRAIN) "holdem(buckets='ehs:10')" --solver uct --c 17 --rollout on-policy --episodes $$episodes \
	        --out runs/pjl11/mcts10-$$episodes || exit 1; \
	done
	$(TRAIN) "holdem(buckets='ehs:10')" --solver uct --c 17 --episodes 5e9 --out runs/pjl11/mcts10-uniform
	$(TRAIN) "holdem(buckets='ehs:10')" --solver outcome-mccfr --epsilon 0.6 --episodes 5e9 --out runs/pjl11/mccfr10
	$(TRAIN) "holdem(buckets='ehs:100')" --solver outcome-mccfr --epsilon 0.6 --episodes 10e9 \
	    --out runs/pjl11/mccfr100

# The included policies of sparbot-like and fellomen-like: ten minutes on a CPU.
stand-ins: $(VENV)/.installed
	$(FELT) train "holdem(buckets='kmeans:169/7/7/7',bets=3)" --solver external-mccfr --iterations 30e6 --seed 1 \
	    --policy-only --out runs/sparbot-like
	$(FELT) train "holdem(buckets='percentile:169/50/50/50')" --solver sampled-fictitious-play \
	    --iterations 20e6 --seed 1 --policy-only --out runs/fellomen-like
	cp runs/sparbot-like/policy/* src/openfelt/policy/pretrained/sparbot-like/
	cp runs/fellomen-like/policy/* src/openfelt/policy/pretrained/fellomen-like/

# A bot that is meant to be harder to exploit than the included one, and its exact exploitability: made for an H200.
STRONG := "holdem(buckets='ochs:169/9000/20000/30000')"
STRONG_SECONDS ?= 1000
strong-bot: $(VENV)/.installed
	$(TRAIN) $(STRONG) --solver cfr-br --delay 2000 --gamma 2 --seconds $(STRONG_SECONDS) --seed 1 \
	    --threads $$(nproc) --out runs/strong-bot
	$(FELT) exploit runs/strong-bot --device $(DEVICE)
	$(FELT) value runs/strong-bot runs/strong-bot --exact --device $(DEVICE)

# The included policies of equilibrium in the small games of the table: a few seconds.
equilibria: $(VENV)/.installed
	$(BIN)/python -c 'from openfelt.bots import learned; from openfelt.table.lobby import lobby; learned.save_equilibria(lobby.SMALL_GAMES)'

# The strengths of bots that the lobby shows: computed in small games, copied from three studies in hold'em.
strengths: $(VENV)/.installed
	$(BIN)/python -c 'from openfelt.table.lobby import lobby, strength; strength.write_exact(lobby.SMALL_GAMES)'
	cp docs/studies/bots-cross-table.csv src/openfelt/table/lobby/strengths/holdem.csv
	cp docs/studies/bots-three-handed.csv src/openfelt/table/lobby/strengths/holdem_3.csv
	cp docs/studies/holdem-exploitability.csv src/openfelt/table/lobby/strengths/holdem_exact.csv

# The picture of the table in README.md; needs Chromium.
picture: $(VENV)/.installed-dev
	$(BIN)/python docs/table_picture.py

# Pictures of all main pages in two sizes and both themes, in build/pictures; needs Chromium.
pictures: $(VENV)/.installed-dev
	$(BIN)/python docs/page_pictures.py

# The documentation in build/site. It runs the tutorials (minutes) unless neither they nor the sources changed.
docs: $(VENV)/.installed-docs
	$(BIN)/mkdocs build --strict

docs-serve: $(VENV)/.installed-docs
	$(BIN)/mkdocs serve

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Wheel and sdist, tried in an empty environment with each of PYTHONS: the README's commands run without the
# checkout. LOWEST=--lowest installs the lowest versions of the dependencies that pyproject.toml allows.
PYTHONS ?= $(PYTHON)
dist: $(VENV)/.installed-dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	for python in $(PYTHONS); do \
	    $(BIN)/python tests/try_wheel.py dist/*.whl --python $$python $(LOWEST) || exit 1; \
	done

# Core tests, with the wheel and the lowest versions of the dependencies that pyproject.toml allows.
LOW := build/lowest
LOWEST_TESTS = $(patsubst %,tests/test_%.py,rules evaluate solvers statistics bet_sizes plot_command)
test-lowest: $(VENV)/.installed-dist
	rm -rf $(LOW) && $(PYTHON) -m venv $(LOW)
	$(BIN)/python -m build --wheel --outdir $(LOW)
	$(BIN)/python tests/try_wheel.py $(LOW)/*.whl --constraints > $(LOW)/lowest.txt
	PIP_CONSTRAINT=$(LOW)/lowest.txt $(LOW)/bin/python -m pip install --quiet \
	    "$$(echo $(LOW)/*.whl)[web,plots,models]" pytest hypothesis
	$(LOW)/bin/python -m pytest -m "not slow" $(LOWEST_TESTS)

# The package with an extra: .installed-web is with [web].
$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) .
	touch $@

$(VENV)/.installed-dev: HOW := --no-compile  # most modules of the tools are never imported
$(VENV)/.installed-%: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) '.[$*]'
	touch $@ $(VENV)/.installed

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "OpenFelt needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
