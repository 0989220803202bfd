# The list of commands. Continuous integration and people call the same ones; `make` alone prints them.
# What the tests need beyond Rust is built by them, from pinned packages, and kept in a cache.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
.SILENT: help

# What may not stand in the tree of the library without features: a runtime, a network, a command line.
RUNTIME := clap tokio hyper tower rustls

.PHONY: help
help: ## prints this list
	sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | sort | while IFS=$$'\t' read -r name text; do
	  printf 'make %-14s %s\n' "$$name" "$$text"
	done

.PHONY: test
test: lint ## runs every test: lints, then tiers 1, 2 and 3; says what it could not run
	.ci/tiers

.PHONY: test-fast
test-fast: lint ## lints and tier 1: needs Rust alone
	.ci/tiers 1

.PHONY: lint
lint: ## format, clippy, documentation, and the library without its features
	cargo fmt --check
	cargo clippy --locked --lib --bins -- -D warnings
	cargo clippy --locked --all-targets --features testbed -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps --lib --quiet
	cargo check --locked --lib --no-default-features
	tree=$$(cargo tree --locked --no-default-features --edges normal --prefix none --format '{p}')
	for name in $(RUNTIME); do
	  if grep -E "^$$name(-[a-z]+)* v" <<<"$$tree"; then
	    echo "the library without features may not depend on it" >&2
	    exit 1
	  fi
	done

.PHONY: test-more
test-more: docs static ## what takes longer or needs more: a minute of any bytes, each failure of the scripts, the book, the released program, dependencies and licences
	.ci/tiers more
	if cargo deny --version >/dev/null 2>&1; then
	  cargo deny --locked check
	else
	  echo "cargo-deny did not run: it is not installed (cargo install --locked cargo-deny)" >&2
	fi

.PHONY: docs
docs: ## builds the book of docs/ into target/book; a warning is a failure
	mdbook=$$(testbed/build mdbook)/mdbook
	if ! said=$$("$$mdbook" build docs 2>&1) || grep -E 'WARN|ERROR' <<<"$$said"; then
	  echo "$$said" >&2
	  exit 1
	fi
	echo "target/book/index.html"

.PHONY: static
static: ## the program that is released, one file without libraries, in target/static
	.ci/static-binary target/static/dbrender

.PHONY: bless
bless: ## writes the expected files of fixtures and transcripts, what is generated of the chart, and the reference, anew; read their diff as if it were code
	DBRENDER_BLESS=1 cargo test --locked --test fixtures --test cli --test drift_cases --test generated --test reference
