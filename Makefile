# Every target sets itself up: on a fresh clone `make demo` and `make test` need Python 3.11+ and nothing else.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.set-up
CONTRACT_STAMP := .venv-ministack/.set-up
INFRA_STAMP := .venv-infra/.set-up
CDK_STAMP := .venv-cdk/.set-up

.PHONY: infra-test infra-test-cdk infra-tools lambda lambda-here setup contract-server demo test ready check lint pure bench bench-worker soak chaos lock \
  clean python
.DEFAULT_GOAL := help

help:
	@echo "make demo   watch tidegate hold a queue's wait under its target (90 s, no AWS account)"
	@echo "make test   check + every test (about 10 minutes with all set-up)"
	@echo "make check  ruff, mypy, import contracts, the pure core at 100 % branch coverage"
	@echo "make infra-test  terraform, CDK, policies, the Lambda bundle, linters"
	@echo "make lambda the function's zips, for arm64 and x86_64"
	@echo "make bench-worker  our worker beside other people's, at two endpoints (10 minutes)"
	@echo "make chaos  100,000 messages through workers that are killed, at an endpoint that fails (5 to 10 minutes)"
	@echo "make soak   the long demos and a thousand scale-ins (about 20 minutes)"
	@echo "make bench  measured ratios (10 minutes)      make lock  renew the locks"

setup: $(STAMP)

python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if v >= (3, 11) else f"tidegate needs Python 3.11 or newer, {sys.executable} is {v[0]}.{v[1]}; run: make PYTHON=python3.11 $(MAKECMDGOALS)")'

$(STAMP): requirements.lock pyproject.toml | python
	@echo "setting up .venv (about a minute, once)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# A server that we did not write, for the SQS contract suite: it pins another botocore, hence its own environment.
contract-server: $(CONTRACT_STAMP)

$(CONTRACT_STAMP): tests/contract/ministack.lock | python
	$(PYTHON) -m venv .venv-ministack
	.venv-ministack/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/contract/ministack.lock
	@touch $@

# checkov and hadolint, which pin packages that tidegate has too: an environment of their own.
infra-tools: $(INFRA_STAMP)

$(INFRA_STAMP): infra/tools/requirements.lock | python
	$(PYTHON) -m venv .venv-infra
	.venv-infra/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r infra/tools/requirements.lock
	@touch $@

# What `make test` also runs; terraform's own part is skipped, with the reason, where there is no terraform or no provider.
infra-test: infra-tools lambda-here
	$(BIN)/pytest -q -n 2 --dist loadgroup -rs tests/infra
	$(MAKE) infra-test-cdk

# The CDK pins packages that tidegate has too, hence its own environment; jsii, which it is made with, runs on Node.
$(CDK_STAMP): infra/cdk/requirements.lock | python
	$(PYTHON) -m venv .venv-cdk
	.venv-cdk/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r infra/cdk/requirements.lock
	@touch $@

infra-test-cdk:
	@if command -v node >/dev/null; then $(MAKE) infra-test-cdk-here; else echo "skipped: the CDK needs Node 20 or newer, and there is no node"; fi

.PHONY: infra-test-cdk-here
infra-test-cdk-here: $(CDK_STAMP)
	cd infra/cdk && ../../.venv-cdk/bin/mypy && ../../.venv-cdk/bin/pytest -q

demo: setup
	$(BIN)/tidegate demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

pure: setup
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q -n 2 tests/core --doctest-modules src/tidegate/core
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

check: lint pure

test: python
	$(MAKE) -j 2 ready
	$(MAKE) pure
	$(BIN)/pytest -q -n 2 --ignore=tests/core -m "not integration and not soak and not bench" tests
	$(BIN)/pytest -q -n 2 --dist loadgroup -m "integration and not soak and not bench" tests

# All that keeps one core busy, two at a time and the longest first.
ready: infra-test-cdk lint lambda-here infra-tools contract-server

# Reproducible zips for both architectures, into lambda/dist.
lambda: setup
	$(MAKE) -C lambda

# For this machine and this Python: what the tests and the benchmark run.
lambda-here: setup
	$(MAKE) -C lambda here

bench: lambda-here
	$(BIN)/pytest -q -s -m bench --ignore=tests/bench/worker tests

# Other people's workers, for `make bench-worker`; those of Node are left out where there is no npm.
RIVALS_STAMP := .venv-rivals/.set-up

$(RIVALS_STAMP): tests/bench/worker/rivals.lock | $(STAMP)
	$(PYTHON) -m venv .venv-rivals
	.venv-rivals/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/bench/worker/rivals.lock
	-mkdir -p .node-rivals && npm install --silent --no-audit --no-fund --prefix .node-rivals sqs-consumer@14.2.8 squiss-ts@5.6.0 fauxqs@2.4.1
	@touch $@

bench-worker: setup $(RIVALS_STAMP)
	$(BIN)/pytest -q -s -m bench tests/bench/worker

soak: setup
	$(BIN)/pytest -q -s -m "soak and not chaos" tests

# Seeded: CHAOS_SEED=… plays another storm.
chaos: setup
	$(BIN)/pytest -q -s -m chaos tests/chaos

# Needs uv. The lock holds for every Python from 3.11 on, with hashes and without any registry's address.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
	  --extra sandbox --extra lab --extra otel --group dev pyproject.toml --output-file requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
	  --constraint requirements.lock lambda/requirements.in --output-file lambda/requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
	  --constraint requirements.lock pyproject.toml infra/docker/requirements.in --output-file infra/docker/requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
	  infra/tools/requirements.in --output-file infra/tools/requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
	  infra/cdk/requirements.in --output-file infra/cdk/requirements.lock
	echo "ministack==1.5.33" | uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
	  - --output-file tests/contract/ministack.lock

clean:
	rm -rf .venv .venv-* .node-rivals .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage*
