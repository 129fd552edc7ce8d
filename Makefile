# make help lists the targets. Every target sets up what it needs in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TOOLS := $(VENV)/.tools
SERVICES := $(VENV)/.services
CPP_BUILD := build/cpp-tests
TIDY_BUILD := build/clang-tidy
THREAD_BUILD := build/thread-sanitizer
FUZZ_BUILD := build/fuzz
# The targets of libFuzzer in cpp/fuzz, and the fuzzers in Python.
NATIVE_FUZZERS := text matrix confidence calibration cutoff priced_cutoff drift packed_rows
PYTHON_FUZZERS := readers models
# Programs that tests need and the system brings: shell commands that print where they are.
POSTGRESQL = $$(command -v postgres || ls /usr/lib/postgresql/*/bin/postgres 2> /dev/null)
CHROMIUM = $$(command -v chromium)
SYSTEM_PROGRAMS := install-postgresql install-chromium
# How many processes a build may use.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

NATIVE_SOURCES := CMakeLists.txt $(shell find cpp -name '*.?pp' -not -path 'cpp/tests/*' -not -path 'cpp/fuzz/*')
CPP_FILES := $(shell find cpp -name '*.?pp')

LINTERS := lint-python lint-cpp-format lint-types lint-imports lint-spelling lint-metadata

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-fast-python test-python test-cpp build-cpp-tests test-instructions $(SYSTEM_PROGRAMS) test-services test-threads build-fuzz fuzz test-hardening test-long lint lint-cpp $(LINTERS) stub format bench reproduce clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml $(NATIVE_SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/install.py
	touch $@

# The package too, as all of it is installed while the core compiles.
$(TOOLS): pyproject.toml $(NATIVE_SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/install.py --tools
	touch $(STAMP) $@

demo: $(STAMP)  ## learn the docs of Python live, ask the model why, write model and plot
	$(BIN)/python examples/demo.py

# All at once, so that no processor waits for the last test or the last file of one of them.
test: $(TOOLS)  ## linters, doctests, Python and C++ tests
	+$(MAKE) --no-print-directory -j 3 lint test-python test-cpp

# Workers begin with tests that lie together and share what they have computed. Bytecode is kept:
# every worker, and every process that a test starts, imports the same files.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

test-python: $(TOOLS)
	$(PYTEST) -m "not long and not hardening" --doctest-modules --ignore tests/services tests src docs README.md

# The bits and the contract of every learner, the tagger, the command line, the readers and model
# files. Threads, interrupted fits, hostile mail and fuzzing take long. The native core has its own tests.
FAST := tests/golden tests/contract tests/features tests/test_tagger.py tests/test_tagger_batches.py \
    tests/cli tests/readers tests/test_labels.py tests/test_examples.py tests/test_persist.py \
    tests/test_persist_versions.py \
    --ignore tests/contract/test_threads.py --ignore tests/cli/test_fit.py \
    --ignore tests/cli/test_late_imports.py --ignore tests/readers/test_fuzz.py \
    --ignore tests/readers/test_memory.py --ignore tests/contract/test_extremes.py

test-fast: $(TOOLS)  ## what matters most, in a minute once it is built
	+$(MAKE) --no-print-directory -j 2 test-fast-python test-cpp

test-fast-python: $(TOOLS)
	$(PYTEST) -m "not long" $(FAST)

build-cpp-tests: $(TOOLS)
	$(BIN)/cmake -S . -B $(CPP_BUILD) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DTAGALONG_TESTS=ON -DTAGALONG_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=Debug > /dev/null
	$(BIN)/cmake --build $(CPP_BUILD) -j $(JOBS) -- --quiet

test-cpp: build-cpp-tests
	$(BIN)/ctest --test-dir $(CPP_BUILD) --output-on-failure -j $(JOBS)

test-instructions: $(TOOLS)  ## count instructions of fixed work and compare with those on file
	$(BIN)/python tools/count_instructions.py --jobs $(JOBS) $(if $(WRITE),--write)

$(SERVICES): pyproject.toml $(TOOLS)
	$(BIN)/python tools/install.py --services
	touch $@

# Programs that come from the system, which a fresh machine may have to be given.
install-postgresql: FOUND = $(POSTGRESQL)
install-chromium: FOUND = $(CHROMIUM)
$(SYSTEM_PROGRAMS): install-%:
	@if [ -z "$(FOUND)" ] && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    (apt-get -qq update && apt-get -qq install --no-install-recommends $*) > /dev/null || true; fi
	@if [ -z "$(FOUND)" ]; then \
	    echo "the tests with $* are left out: it is not installed on this machine"; fi

# Real servers, killed and stopped; large numbers of kills are left to `make test-long`.
test-services: $(SERVICES) $(SYSTEM_PROGRAMS)  ## servers under load, killed, stopped, upgraded; attacks; PostgreSQL; the page
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not long" --durations=15 \
	    -p tests.services.run_log --run-log build/test-services/log.txt \
	    --junitxml build/test-services/junit.xml tests/services

# The sanitizer's own memory has fixed places, so addresses must not be random.
test-threads: $(TOOLS)  ## look for data races, with one writer and eight readers of every model (SECONDS=30)
	$(BIN)/cmake -S . -B $(THREAD_BUILD) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTAGALONG_SANITIZE=thread \
	    -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) -DPython_EXECUTABLE=$(abspath $(BIN)/python) > /dev/null
	$(BIN)/cmake --build $(THREAD_BUILD) -j $(JOBS) -- --quiet
	TSAN_OPTIONS=halt_on_error=1 setarch -R $(THREAD_BUILD)/reader_tests
	$(BIN)/python -m tests.threads --module $(THREAD_BUILD)/_native.*.so --seconds $(or $(SECONDS),30)

# clang and its run-time library come from the system, which a fresh machine may have to be given.
build-fuzz: $(TOOLS)
	@if ! command -v clang++ > /dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    (apt-get -qq update && apt-get -qq install --no-install-recommends clang libclang-rt-dev) > /dev/null || true; fi
	@if command -v clang++ > /dev/null; then \
	    $(BIN)/cmake -S . -B $(FUZZ_BUILD) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DCMAKE_CXX_COMPILER=clang++ -DTAGALONG_FUZZ=ON > /dev/null \
	    && $(BIN)/cmake --build $(FUZZ_BUILD) -j $(JOBS) -- --quiet; \
	else echo "the fuzz targets in C++ are left out: there is no clang++"; fi

# What is found makes the next run begin with it: the inputs are kept in the folder of the build.
fuzz: build-fuzz  ## damaged states and files, random texts: SECONDS=60 for each target, SEED=1
	@for name in $(NATIVE_FUZZERS); do \
	    command -v clang++ > /dev/null || continue; \
	    mkdir -p $(FUZZ_BUILD)/corpus/$$name; \
	    $(FUZZ_BUILD)/fuzz_$$name -max_total_time=$(or $(SECONDS),60) -timeout=10 -rss_limit_mb=2048 -max_len=1024 \
	        -artifact_prefix=$(FUZZ_BUILD)/$$name- -verbosity=0 -print_final_stats=1 $(FUZZ_BUILD)/corpus/$$name > $(FUZZ_BUILD)/$$name.log 2>&1 \
	    || { cat $(FUZZ_BUILD)/$$name.log; exit 1; }; \
	    echo "$$name: $$(sed -n 's/^stat::number_of_executed_units: *//p' $(FUZZ_BUILD)/$$name.log) inputs"; done
	@for name in $(PYTHON_FUZZERS); do \
	    $(BIN)/python -m tests.fuzz.$$name --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1) || exit 1; done

# Short forms, for CI.
test-hardening: $(TOOLS)  ## faults of system calls, data races and fuzzing, a few seconds of each
	$(PYTEST) -m hardening tests/faults
	+$(MAKE) --no-print-directory test-threads SECONDS=30
	+$(MAKE) --no-print-directory fuzz SECONDS=5

test-long: $(SERVICES) $(SYSTEM_PROGRAMS)  ## the proofs that take minutes: a million rounds, fuzzing, new random examples
	TAGALONG_NEW_EXAMPLES=1 $(PYTEST) -m "long or hypothesis" tests

lint: $(LINTERS)  ## ruff, clang-format, mypy --strict, import-linter, codespell, schemas of metadata

lint-python: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint-cpp-format: $(TOOLS)
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)

lint-types: $(TOOLS)
	$(BIN)/mypy

lint-imports: $(TOOLS)
	$(BIN)/lint-imports

lint-spelling: $(TOOLS)
	$(BIN)/codespell

lint-metadata: $(TOOLS)
	$(BIN)/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema -q --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/check-jsonschema -q --builtin-schema vendor.citation-file-format CITATION.cff

# A minute or two, so CI runs it beside `make test`. Compiling through a launcher (`env` does nothing) switches
# precompiled headers off, which clang could not read.
lint-cpp: $(TOOLS)  ## clang-tidy over the core and the bindings
	$(BIN)/cmake -S . -B $(TIDY_BUILD) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=env -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
	    -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) -DPython_EXECUTABLE=$(abspath $(BIN)/python) > /dev/null
	$(BIN)/python tools/clang_tidy.py --build $(TIDY_BUILD) --jobs $(JOBS)

stub: $(TOOLS)  ## write the types of the native core as the compiled module has them
	$(BIN)/python tools/make_native_stub.py

format: $(TOOLS)  ## let ruff format the Python code, and clang-format the C++ code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

ifdef QUICK
bench: $(TOOLS)
	$(BIN)/python -m benchmarks --quick
else
bench: $(NATIVE_SOURCES)  ## speed and quality beside the peers, in an environment of their own
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install -q --disable-pip-version-check --upgrade pip
	.venv-bench/bin/python -m pip install -q --disable-pip-version-check '.[plots,serve,dask]'
	grep -v '^#' benchmarks/requirements-peers.txt | while read -r peer; do \
	    .venv-bench/bin/python -m pip install -q --disable-pip-version-check "$$peer" \
	    || echo "$$peer could not be installed: it is left out"; done
	.venv-bench/bin/python -m benchmarks
endif

reproduce: $(STAMP)  ## the papers' tables and figures into docs/reproduction.md (FULL=1: in full; SCHEDULER=ADDRESS: on a Dask cluster)
	$(BIN)/python -m experiments $(if $(FULL),--full) $(if $(ONLY),--only $(ONLY)) $(if $(ENRON),--enron $(ENRON)) $(if $(SCHEDULER),--scheduler $(SCHEDULER)) --jobs $(JOBS)
	$(BIN)/python tools/make_papers_page.py

clean:  ## remove environments and builds
	rm -rf $(VENV) .venv-bench build
