# `make help` lists what can be asked for.

SHELL := /bin/bash
.DEFAULT_GOAL := help

ID      := filehost-attach
VERSION := $(shell sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' plugin.json)
HOST    := $(shell go env GOHOSTOS)-$(shell go env GOHOSTARCH)

BUNDLE      := dist/$(ID)-$(VERSION).tar.gz
HOST_BUNDLE := dist/$(ID)-$(VERSION)-$(HOST).tar.gz

GOLANGCI_LINT := .cache/tools/golangci-lint
GOTESTSUM     := .cache/tools/gotestsum

WEBAPP_MODULES  := webapp/node_modules/.installed
BROWSER_MODULES := e2e/browser/node_modules/.installed
SIGNIN_MODULES  := e2e/signin/oidcprovider/node_modules/.installed
BROWSER_PAGE    := e2e/browser/dist/react-18.js
WEBAPP_MAIN     := webapp/dist/main.js
WEBAPP_SOURCES  := $(shell find webapp/src webapp/i18n -type f 2>/dev/null) webapp/webpack.config.mjs webapp/tsconfig.json webapp/package.json

GO_PACKAGES := ./server/... ./assets/... ./build/...

.PHONY: help
help: ## List what can be asked for
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: dist-host $(BROWSER_PAGE) ## Start Mattermost, a file host and the plugin, do the main job once, stay up until Ctrl-C
	@cd e2e && go build -o ../.cache/run ./cmd/run && exec ../.cache/run -bundle "$(CURDIR)/$(HOST_BUNDLE)" -page "$(CURDIR)/e2e/browser/dist"

.PHONY: test
test: ## Everything the CI runs: formatting, lint, unit, end-to-end and browser tests
	@build/test.sh

.PHONY: dist
dist: $(WEBAPP_MAIN) ## Build the bundle for all platforms: dist/filehost-attach-VERSION.tar.gz
	go run ./build/bundle -out $(BUNDLE)
	@ls -l $(BUNDLE)

.PHONY: dist-host
dist-host: $(WEBAPP_MAIN) ## Build the bundle for this platform only, which is quicker
	go run ./build/bundle -host -out $(HOST_BUNDLE)

.PHONY: release
release: ## Build the bundle twice from this very commit, compare, and write dist/SHA256SUMS
	@build/release.sh $(VERSION) $(BUNDLE)

.PHONY: deploy
deploy: dist ## Upload the bundle to MM_SERVICESETTINGS_SITEURL as MM_ADMIN_TOKEN and enable it
	go run ./build/deploy -bundle $(BUNDLE)

.PHONY: fmt
fmt: $(GOLANGCI_LINT) $(WEBAPP_MODULES) $(BROWSER_MODULES) $(SIGNIN_MODULES) ## Format the Go code, extract the messages, fix what the linters can fix
	$(GOLANGCI_LINT) fmt
	cd e2e && ../$(GOLANGCI_LINT) fmt --config ../.golangci.yml
	cd webapp && npm run --silent i18n:extract && npm run --silent lint -- --fix
	cd e2e/browser && npm run --silent lint -- --fix
	cd e2e/signin/oidcprovider && npm run --silent lint -- --fix

.PHONY: lint
lint: lint-go lint-web ## Check formatting, lint, go.mod files, types and messages

.PHONY: lint-go
lint-go: $(GOLANGCI_LINT)
	go mod tidy -diff
	cd e2e && go mod tidy -diff
	$(GOLANGCI_LINT) run $(GO_PACKAGES)
	cd e2e && ../$(GOLANGCI_LINT) run --config ../.golangci.yml ./...

.PHONY: lint-web
lint-web: $(WEBAPP_MODULES) $(BROWSER_MODULES) $(SIGNIN_MODULES)
	cd webapp && npm run --silent lint && npm run --silent check:types && npm run --silent i18n:verify
	cd e2e/browser && npm run --silent lint && npm run --silent check:types
	cd e2e/signin/oidcprovider && npm run --silent lint

.PHONY: unit
unit: unit-go unit-web ## Run the unit tests of the server and of the webapp part

.PHONY: unit-go
unit-go: $(GOTESTSUM) $(WEBAPP_MODULES)
	$(GOTESTSUM) --format pkgname -- -race -count=1 $(GO_PACKAGES)

.PHONY: unit-web
unit-web: $(WEBAPP_MODULES)
	cd webapp && npm test --silent

.PHONY: e2e
e2e: dist-host $(GOTESTSUM) $(SIGNIN_MODULES) ## Run the end-to-end tests on each server, store and host; VARIANTS=oldest RUN=TestX for less
	@build/e2e.sh "$(CURDIR)/$(HOST_BUNDLE)" $(VARIANTS)

# HOST_KIND is nextcloud, owncloud, opencloud or webdav; HOST_CA a PEM file to trust, HOST_ENTRIES how many files the
# largest folder has (100), HOST_STRANGER another user's account, whose files must be refused.
export HOST_URL HOST_KIND HOST_USER HOST_PASSWORD HOST_CA HOST_ENTRIES HOST_STRANGER
.PHONY: test-hosts
test-hosts: ## Hold a file host to the suite: HOST_URL=... HOST_KIND=... HOST_USER=... HOST_PASSWORD=... (without: all that run here)
	@cd e2e && go test ./conformance -run '^TestHosts$$' -count=1 -timeout 60m -v

.PHONY: browser
browser: dist-host $(BROWSER_MODULES) ## Run the browser tests: the bundle in a real Chromium
	cd e2e && go run ./cmd/run -bundle "$(CURDIR)/$(HOST_BUNDLE)" -exec "npm test --silent --prefix browser"

.PHONY: bench
bench: dist-host ## Measure what the plugin costs, against the same work without it: a table, and .run/bench.json
	cd e2e && go build -o ../.cache/bench ./bench && ../.cache/bench -bundle "$(CURDIR)/$(HOST_BUNDLE)" -out "$(CURDIR)/.run/bench.json"

# What it finds becomes a seed in server/remote/testdata/fuzz, which `make test` reads.
FUZZTIME ?= 10m
.PHONY: fuzz
fuzz: ## Hold the reader of listings to encoding/xml, twice for FUZZTIME (10m), on documents that a fuzzer makes up
	go test ./server/remote -run '^$$' -fuzz '^FuzzMultistatus$$' -fuzztime $(FUZZTIME)
	go test ./server/remote -run '^$$' -fuzz '^FuzzForms$$' -fuzztime $(FUZZTIME)

.PHONY: clean
clean: ## Remove what was built; downloads, tools and servers stay
	rm -rf dist server/dist webapp/dist e2e/browser/dist e2e/browser/screenshots

$(WEBAPP_MAIN): $(WEBAPP_MODULES) $(WEBAPP_SOURCES)
	cd webapp && npm run --silent build
	@touch $@

$(BROWSER_PAGE): $(BROWSER_MODULES) $(wildcard e2e/browser/page/*) e2e/browser/buildPage.mjs
	cd e2e/browser && npm run --silent build

%/node_modules/.installed: %/package.json %/package-lock.json %/.npmrc
	cd $* && npm ci --no-progress --loglevel=error
	@touch $@

# Each tool has a module of its own, so that its dependencies move none of ours.
$(GOLANGCI_LINT): build/tools/golangci/go.mod
	cd build/tools/golangci && go build -o "$(CURDIR)/$@" github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(GOTESTSUM): build/tools/gotestsum/go.mod
	cd build/tools/gotestsum && go build -o "$(CURDIR)/$@" gotest.tools/gotestsum
