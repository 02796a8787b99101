PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .make
PLUGINS := plugins/morphgraph-corpora plugins/morphgraph-doctor plugins/morphgraph-models plugins/morphgraph-readers plugins/morphgraph-remedies
export MORPHGRAPH_DATA ?= ../shared/data
# What does not need each other is set up side by side.
MAKEFLAGS += --jobs=2
# Modules are compiled when they are first imported: few of those that come are.
PIP := $(BIN)/pip install --quiet --no-compile
# Tests whose assertions are rewritten once are collected in a third of the time.
unexport PYTHONDONTWRITEBYTECODE

# In the order of the folders: short files come last, so that no process waits for another one.
PYTEST := $(BIN)/pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

.PHONY: app quick test test-models soak messages lint bench release-check assets story atlas site clean

app: $(STAMPS)/kernels
	$(BIN)/morphgraph app

# Three rings. The first takes a minute: what is fast and needs nothing else, of the library and the
# app's state, without pages, plug-ins and the examples of docstrings.
quick: $(STAMPS)/dev $(STAMPS)/kernels
	MORPHGRAPH_EFFORT=quick $(PYTEST) tests --ignore tests/pages \
		-m "not (browser or fuzz or kills or data or slow or soak or models)"

# The second: each damage, kill and way through the app once.
test: lint $(STAMPS)/kernels $(STAMPS)/browser
	$(PYTEST) -m "not (soak or models)"

# What needs torch: models trained, fine-tuned and carried over.
test-models: $(STAMPS)/models $(STAMPS)/kernels
	$(BIN)/pytest plugins/morphgraph-models -m models

# The third has every test with all its examples, damaged files and kills: for before a release.
soak: $(STAMPS)/dev $(STAMPS)/kernels $(STAMPS)/browser
	MORPHGRAPH_EFFORT=soak $(PYTEST) --timeout 3600

# What every refusal says, in tests/messages.txt: read the diff.
messages: $(STAMPS)/models
	MORPHGRAPH_MESSAGES=write MORPHGRAPH_EFFORT=quick $(PYTEST) -m "not (browser or soak)" \
		$$(grep -rl "^from refusals import" tests plugins)

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Builds a release and tries it in clean environments, for some ten minutes: before a tag.
release-check:
	$(PYTHON) release/check.py

bench: $(STAMPS)/dev $(STAMPS)/kernels $(STAMPS)/browser
	$(BIN)/python -m benchmarks

# The demo tokenisers, as they are in assets/.
assets: $(STAMPS)/run
	for language in en de nl; do \
		$(BIN)/morphgraph train bpe wordfreq:$$language --vocab-size 8000 \
			--special "<unk>" --out assets/tokenisers/$$language.json || exit 1; \
	done

# What docs/story shows, from the library and the app's components.
story: $(STAMPS)/run
	$(BIN)/python -m docs.tools.story

# The pages of docs/atlas, from its results.
atlas: $(STAMPS)/run
	$(BIN)/python -m docs.tools.atlas

# The pages of documentation, in site/ beside earlier versions. They keep their places beside each
# other, so that links do. With REPOSITORY_URL, the address of the repository, pages link to their
# sources.
site: $(STAMPS)/site
	rm -rf build/docs && mkdir -p build/docs
	cp -r --parents *.md CITATION.cff LICENSE assets/icon.svg assets/panzoom/LICENSE docs plugins/*/docs build/docs
	rm -r build/docs/docs/tools
	$(BIN)/python docs/tools/notebooks.py build/docs
	$(BIN)/python docs/tools/dark.py build/docs
	$(BIN)/zensical build --clean --strict
	$(BIN)/python -m docs.tools.reading
	$(BIN)/python release/publish_site.py build/site site

$(STAMPS)/venv:
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: requirements.txt pyproject.toml $(PLUGINS:%=%/pyproject.toml) $(STAMPS)/venv
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --editable . $(PLUGINS:%=--editable %)
	touch $@

$(STAMPS)/kernels: $(STAMPS)/run
	$(BIN)/python -m morphgraph.kernels
	touch $@

$(STAMPS)/dev: requirements-dev.txt requirements-site.txt $(STAMPS)/run
	$(PIP) -r requirements-dev.txt
	touch $@

$(STAMPS)/site: requirements-site.txt $(STAMPS)/venv
	$(PIP) -r requirements-site.txt
	touch $@

$(STAMPS)/models: requirements-models.txt $(STAMPS)/dev
	$(PIP) -r requirements-models.txt
	touch $@

# The browser that the tests drive comes from the system.
$(STAMPS)/browser: $(STAMPS)/venv
	command -v chromium >/dev/null || { apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-dejavu >/dev/null; }
	command -v chromium-headless-shell >/dev/null || \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell >/dev/null || true
	touch $@

clean:
	rm -rf $(VENV) $(STAMPS) .cache build dist site *.egg-info plugins/*/*.egg-info
