# `make test` is everything a change must pass, and all that CI runs.
# `make bench*` compares with peers and is no part of it.
GO ?= go
FUZZTIME ?= 1m

.PHONY: test format vet staticcheck tidy race allocs bench-module build fuzz bench bench-proxy clean

test: format vet staticcheck tidy race allocs bench-module

build:
	$(GO) build -o weir ./cmd/weir

format:
	@out="$$(gofmt -l .)"; if [ -n "$$out" ]; then echo "not gofmt-clean, run gofmt -w:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...

staticcheck:
	$(GO) tool staticcheck ./...

tidy:
	$(GO) mod tidy -diff

race:
	$(GO) test -race ./...

# The race detector allocates, so the tests that count allocations skip
# themselves under it and run here.
allocs:
	$(GO) test -count=1 -run 'Alloc' ./log/... ./router ./proxy ./front

# The peers stay out of this module; what measures them is checked all the same.
bench-module:
	cd bench && $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) test ./...

# Every fuzz target for FUZZTIME.
fuzz:
	@set -e; for pkg in ./log ./router ./proxy ./front; do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

# Weir beside its peers: docs/measuring.md says how to read the tables.
bench:
	cd bench && $(GO) run ./cmd/benchrun log router

# Needs nginx and wrk; Caddy is built from its module.
bench-proxy: .bench/bin/caddy
	cd bench && $(GO) run ./cmd/benchrun proxy

.bench/bin/caddy:
	GOBIN=$(CURDIR)/.bench/bin $(GO) install github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9

clean:
	rm -rf weir .bench
