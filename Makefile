# `make test` is everything a change must pass, and all that CI runs.
# `make bench*` compares with peers and is no part of it.
GO ?= go
FUZZTIME ?= 1m

.PHONY: test format vet staticcheck tidy race fuzz build clean

test: format vet staticcheck tidy race

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

clean:
	rm -rf weir .bench
