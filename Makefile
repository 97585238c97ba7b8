# Downsample: build, test, measure, install. `make help` lists the targets.
PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib
# Where `make demo` writes its pictures, and how often it runs each.
SAMPLES ?= .build/samples
RUNS ?= 5
# Options for `make bench`, `make bench-micro`, `make scaling` and `make sanitize`.
ARGS ?=
# Where the matrix keeps its pictures: some gigabytes of them.
MATRIX ?= .build/matrix

binary := .build/release/downsample
library := .build/release/libdownsample.so
# SwiftPM gives C sources -O2; the resampling kernels gain much by -O3. The Swift runtime is linked in, so that the
# program runs where no Swift is installed, and starts faster.
# What waits for Swift's concurrency is for Swift programs alone: its runtime would cost every run 0.2 MB.
release := swift build -c release --disable-default-traits --static-swift-stdlib -Xcc -O3
swift_sources := Package.swift Sources Tests samples Benchmarks

# The steps of a target build on each other, and SwiftPM uses all cores by itself.
.NOTPARALLEL:
.PHONY: all build help setup test demo matrix matrix-sample bench bench-micro scaling sanitize test-bench format lint check-c install uninstall clean lib check-symbols check-lib check-completions deb check-deb

all: ## Build the release binary, .build/release/downsample (what is missing is named, not installed)
	@scripts/setup --check build
	$(release) --product downsample

build: all ## The same

help: ## Show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what is missing to build, test and measure (as root or by sudo)
	@scripts/setup all

test: setup check-c lint test-bench ## Install what is missing, check the C sources and the format, run all tests
	swift test -Xcc -O3

demo: setup ## Install what is missing, build, make sample pictures, downsample them and print what it took
	$(release) --product downsample
	$(release) --product make-samples
	.build/release/make-samples $(SAMPLES)
	scripts/measure --runs $(RUNS) $(SAMPLES)

.PHONY: samples
samples: setup ## Install the library into .build/stage, build and run every program of samples/ with it
	$(MAKE) lib
	$(MAKE) install DESTDIR= PREFIX="$(CURDIR)/.build/stage"
	$(release) --product make-samples
	.build/release/make-samples .build/stage-pictures --megapixels 2
	scripts/samples .build/stage .build/stage-pictures

matrix: setup ## Compare predicted and measured memory over a matrix of made pictures (docs/matrix.md; an hour)
	$(release) --product downsample
	$(release) --product make-matrix
	scripts/matrix --dir $(MATRIX)

matrix-sample: setup ## The same over a fixed part of it: five minutes at most
	$(release) --product downsample
	$(release) --product make-matrix
	scripts/matrix --sample --jobs 2 --dir $(MATRIX)

bench: setup ## Time it beside what else is installed, on made pictures (ARGS="--help" lists options; ten minutes)
	$(release) --product downsample
	$(release) --product bench-start
	$(release) --product make-inputs
	$(if $(findstring --micro,$(ARGS)),$(release) --product bench-micro)
	Benchmarks/bench $(ARGS)

bench-micro: setup ## Time the kernels, the coefficient store, colour and resampling by themselves
	$(release) --product bench-micro
	.build/release/bench-micro $(ARGS)

scaling: setup ## Time it over 1 to 200 megapixels and targets of 64 to 4096 (docs/scaling.svg; a quarter of an hour)
	$(release) --product downsample
	$(release) --product bench-start
	$(release) --product make-inputs
	Benchmarks/scaling $(ARGS)

sanitize: setup ## Run it over pictures under a sanitizer (ARGS="thread FOLDER": scripts/sanitize --help)
	@[ -d .build/samples ] || { $(release) --product make-samples && .build/release/make-samples .build/samples; }
	scripts/sanitize $(ARGS)

test-bench: ## Test what the benchmarks work out from their measurements (needs Python 3, else it is left out)
	@if command -v python3 >/dev/null; then cd Benchmarks && python3 -B -m unittest -q tests.test_harness; \
	else echo "no python3: the benchmarks' own tests are left out"; fi

.PHONY: wheel test-python
wheel: $(library) ## Pack the Python package with the built C library: .build/wheels/*.whl (needs Python 3)
	scripts/build-wheel

test-python: $(library) ## Test the Python package against the built C library (needs Python 3, else it is left out)
	@if command -v python3 >/dev/null; then DOWNSAMPLE_LIBRARY="$(CURDIR)/$(library)" PYTHONPATH=bindings/python/src \
	  python3 -B -m unittest discover -q -s bindings/python/tests; \
	else echo "no python3: the Python package is not tested"; fi

.PHONY: docs check-docs
docs: ## Build the library's documentation with DocC (.build/docs; needs Python 3)
	@scripts/docs

check-docs: ## Fail where public symbols are undocumented, links lead nowhere or listings do not compile
	@if command -v python3 >/dev/null; then scripts/docs --check; \
	else echo "no python3: the documentation is not checked"; fi

format: ## Rewrite the Swift sources in the project's format
	swift format --in-place --parallel --recursive $(swift_sources)

lint: ## Check the Swift sources' format and style
	swift format lint --strict --parallel --recursive $(swift_sources)

check-c: ## Compile the C sources with gcc and clang, warnings as errors
	@scripts/check-c

lib: ## Build the C library: libdownsample.so.* and libdownsample.a in .build/release
	$(release) --product downsample-c
	scripts/build-library

check-symbols: ## Compare what the library exports with packaging/symbols and with the header
	scripts/check-symbols

check-completions: $(binary) ## Test the completions, and that they and the man page name every option
	scripts/check-completions

check-lib: lib check-symbols check-completions ## Build the library, check its symbols, the header as C99 and C++17, the completions
	scripts/check-header

# No build here when all is there: `sudo make install` should build nothing as root.
install: $(binary) $(library) ## Install program, C library, header, man page, completions under PREFIX (/usr/local); DESTDIR is honoured
	scripts/install-files "$(DESTDIR)" "$(PREFIX)" "$(LIBDIR)"

$(binary):
	$(MAKE) all

$(library):
	$(MAKE) lib

deb: ## Build the Debian package, .build/downsample_VERSION_ARCHITECTURE.deb (docs/packaging.md)
	$(MAKE) all lib
	scripts/build-deb

# A root is a tar of a clean Debian, or made by debootstrap; as root.
check-deb: deb ## Install and use the package in a clean Debian root (ARGS="[--root TAR] PICTURE...")
	scripts/test-package .build/downsample_$$(scripts/library-version)_$$(dpkg --print-architecture).deb $(ARGS)

uninstall: ## Remove what install installed
	scripts/install-files --remove "$(DESTDIR)" "$(PREFIX)" "$(LIBDIR)"

clean: ## Remove everything that was built
	rm -rf .build
