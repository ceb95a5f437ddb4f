# The commands of a day. Each sets up what it needs, so any of them may be the first.

.DEFAULT_GOAL := help
.PHONY: help setup dev build test test-all model cache-tests crowd load chaos defences export tiers explain bench deploy-check fmt clean

NODE := node_modules/.bin/node

help: ## What there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what the build needs and is missing
	@scripts/setup.sh

dev: setup ## A demo shop behind a waiting room, on localhost
	@exec $(NODE) scripts/dev.mjs

build: setup ## The Worker for production, in build/
	@scripts/build-worker.sh

test: ## Everything that is checked before a change is merged
	@scripts/test.sh

model: ## Explore the model of the queue further than the tests do
	@cargo test --profile model --test model -- --include-ignored --nocapture --test-threads=1

cache-tests: ## The public suite of tests for HTTP caches, beside what it publishes of others
	@scripts/cache-tests.sh $(ARGS)

test-all: ## The same, and what takes longer: chaos, a crowd, the release before, the public cache suite
	@scripts/test.sh --all

crowd: setup ## Ten thousand visitors at the Worker on this machine; ARGS=--help
	@$(NODE) crowd/run.mjs $(ARGS)

load: ## Visitors at your own preview: make load URL=https://preview.example.com/
	@test -n "$(URL)" || { echo 'Say which site: make load URL=https://preview.example.com/' >&2; exit 2; }
	@scripts/setup.sh
	@$(NODE) crowd/run.mjs --url "$(URL)" $(ARGS)

chaos: setup ## Two thousand visitors while everything fails; ARGS='--seed N' repeats a run
	@$(NODE) chaos/run.mjs $(ARGS)

defences: setup ## Whether each attack's test fails once its defence is gone; ARGS='--rust cors'
	@$(NODE) scripts/defences.mjs $(ARGS)

export: setup ## The running rooms as rooms.toml: make export URL=https://api.example.com ZONE=<zone id>
	@$(NODE) scripts/export.mjs "$(URL)" "$(ZONE)"

tiers: ## What wrangler.toml needs for the upper tiers of rooms.toml, and whether it has it
	@cargo run --quiet --example tiers

explain: setup ## Why an origin has its upper tier: make explain URL=https://api.example.com ZONE=<zone id> ORIGIN=192.0.2.1
	@$(NODE) scripts/explain.mjs "$(URL)" "$(ZONE)" "$(ORIGIN)"

bench: ## Throughput and latency beside a plain JavaScript Worker
	@scripts/setup.sh --bench
	@$(NODE) bench/run.mjs

deploy-check: setup ## Whether wrangler deploy would work, the size, the routes
	@$(NODE) scripts/deploy-check.mjs

fmt: ## Format the Rust code
	@cargo fmt

clean: ## Remove what was built; the tools in the user's cache stay
	@rm -rf build target .wrangler node_modules
