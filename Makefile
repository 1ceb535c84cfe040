# `make test` is everything a change must pass, and all that CI runs.
# `make bench*` compares with peers and is no part of it.
GO ?= go
FUZZTIME ?= 1m

# What is built does not depend on the folder of the checkout, so that another clone or worktree finds it in Go's cache.
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath

# The modules of go.work, and their packages. bench is not among them: its
# peers must not choose the versions that Weir is built with.
MODULES = . log log/logr log/logvet log/natssink log/otellog log/otlpsink router
PACKAGES = ./... ./log/... ./log/logr/... ./log/logvet/... ./log/natssink/... ./log/otellog/... ./log/otlpsink/... ./router/...

.PHONY: test checks format vet staticcheck tidy oldest elsewhere race engine promises bench-module release-test release vulnerabilities apidiff lacking soak build pgo fuzz bench \
	bench-log bench-router bench-sinks bench-proxy bench-tls bench-http2 bench-scale bench-capacity bench-compare bench-load load-peers \
	test-node bench-node node-programs pictures guard clean

# JOBS targets run at once, and race has four packages at once, because tests often wait. The output of a target
# appears when it has ended; the last line of one that failed is "*** [...] Error".
JOBS ?= 2
test:
	@$(MAKE) -j$(JOBS) $(if $(filter output-sync,$(.FEATURES)),-Otarget) --no-print-directory checks

checks: format race vet staticcheck tidy oldest elsewhere engine promises bench-module release-test test-node lacking

# A test that needs another program skips itself where that is missing, and
# this says so. CI has them all.
lacking:
	@for command in curl nghttp h2load jq python3 node npm strace zstd nginx haproxy caddy wrk chromium openssl sslyze redis-server prometheus zsh fish groff systemd-analyze; do \
		command -v $$command >/dev/null || echo "note: the tests that need $$command were skipped: it is not installed"; \
	done

# The faults of make test again, as long and as often as promised: it takes most
# of an hour. With LONG empty they are as short as in make test.
LONG ?= 1
SOAKED ?= .
soak:
	WEIR_SOAK=$(LONG) $(GO) test -count=1 -timeout 60m -run '$(SOAKED)' ./log/sink ./limit/lease ./front ./cmd/weir
	$(if $(LONG),WEIR_LONG=1 $(GO) test -count=1 -timeout 60m -run 'Unread' ./front)
	$(if $(LONG),WEIR_LONG=1 $(GO) test -count=1 -timeout 60m -run 'DocsCommands' ./cmd/weir)
	$(if $(LONG),WEIR_LONG=1 WEIR_SOAK=1 $(GO) test -count=1 -run 'OthersRead' ./log)
	$(if $(LONG),WEIR_SOAK=1 $(GO) test -count=1 -timeout 60m -run 'AnswersAreSeldomWrong|ServesWhatTheServiceCan' ./lab/guard ./limit)

# The profile is not named default.pgo: plain `go build` and `go run` would use that, and recompile the standard library.
PROFILE = cmd/weir/release.pgo
build:
	$(GO) build -pgo=$(PROFILE) -o weir ./cmd/weir

# Everything of a release of the current commit, in dist/$(VERSION). Needs npm. docs/releasing.md describes the files.
release:
	cd tools/release && GOWORK=off $(GO) run . $(VERSION)

# Needs nginx and wrk, and a machine that does nothing else. Takes two minutes.
pgo:
	cd bench && $(GO) run ./cmd/benchrun -profile $(CURDIR)/$(PROFILE) profile

format:
	@out="$$(gofmt -l .)"; if [ -n "$$out" ]; then echo "not gofmt-clean, run gofmt -w:"; echo "$$out"; exit 1; fi

# Tests may use a newer standard library than the go directive of their module
# names; `make oldest` checks the rest.
# Tools that load all packages collect less garbage.
vet staticcheck: export GOGC = 400
vet:
	$(GO) vet -stdversion=false $(PACKAGES)
	cd peers && GOWORK=off $(GO) vet ./...
	cd peers/collector && GOWORK=off $(GO) vet ./...

staticcheck:
	$(GO) tool staticcheck $(PACKAGES)

tidy:
	.ci/tidy $(MODULES) peers peers/collector

# The libraries build with the Go version that their go.mod names.
oldest:
	@set -e; for module in log router; do \
		cd $(CURDIR)/$$module; \
		GOWORK=off GOTOOLCHAIN=go$$(sed -n 's/^go //p' go.mod) $(GO) build ./...; \
	done

# The types are right on a system without event loops, and in the front door alone; those of the libraries and their tests
# on other systems, too.
ELSEWHERE = .bench/bin/elsewhere
elsewhere:
	cd tools/elsewhere && export GOWORK=off && $(GO) vet . && $(GO) mod tidy -diff && $(GO) build -o $(CURDIR)/$(ELSEWHERE) .
	$(ELSEWHERE) darwin/arm64 .
	$(ELSEWHERE) -tags weir_door linux/amd64 cmd/weir
	@set -e; for system in freebsd windows; do $(ELSEWHERE) -tests $$system/amd64 log router; done

# Known vulnerabilities in the libraries and in Go. It needs https://vuln.go.dev, so it is a step of a release.
vulnerabilities:
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 $(PACKAGES)

# Changes of the exported API since the last release. A version that allows no incompatible change, and has one, is an
# error. It downloads apidiff, so it is a step of a release too.
VERSION ?= $(shell sed -n 's/^const nextRelease = "\(.*\)"/\1/p' modules_test.go)
apidiff:
	VERSION=$(VERSION) .ci/apidiff $(MODULES)

# ABOVE names tests of front whose subject uses connections only through the exchange, as any feature: they run with
# one engine. So do those of load that are about results. The race detector waits a second before a process exits,
# unless it is told not to. make vet does the vetting.
ABOVE = ACME|Access|Admin|Allocat|AreCompressed|AreEdited|AutomaticLimit|Balance|Basic|CORS|Certificates|Conditions|Consecutive|Docs|Durations|Edits|Ejection|EmittedEvents|ErrorPages|Exemplars|Explain|Export|Failover|FilesAgree|FilesAreServed|Fixed|Flapping|Folder|ForwardAuth|Fuzz|GRPC|Group|HTTP3|HTTPSServerName|Health|HeldEvents|HostileNames|Interesting|Listed|LiveTail|LogPage|LogSpill|LogToServer|Maintenance|MethodLabel|Metrics|Mirror|NameChange|Networks|Origins|Outliers|OwnNames|Password|Precompressed|Redirect|ReloadChangesTheEvents|ReloadOfLog|Resetting|Rotation|RouteAdds|RouteHas|SSLyze|Servers|Severity|Shared|Snapshots|Span|Spelling|Split|Steps|Sticky|Store|TargetsAre|Texts|Trace|Unhealthy|UnknownName|Users|Validat
race engine: export GORACE = atexit_sleep_ms=0
race:
	$(GO) test -race -vet=off -timeout 40m -p 4 $(PACKAGES)

engine:
	WEIR_ENGINE=goroutines $(GO) test -race -vet=off -timeout 40m -skip '$(ABOVE)' ./front
	WEIR_ENGINE=goroutines $(GO) test -race -vet=off -skip 'Share|Merge|Progress|Series|OfALog|SecondsAre' ./load

# What the race detector would disturb, because it allocates, has other pools and is slow, runs here without it: the tests
# that count allocations, those of memory and of reused events, and the simulations of experiments. So do the tests that
# check promises, with their long sizes: every code point, 10 MiB, 20,000 lines, 10,000 secrets. Plain `go test` runs them
# with short sizes.
UNDETECTED = Alloc|SecretsStay|SilentTLS|FalseAlarms|ThreePercent|FalseSentences|FivePercent|UsesTheBlocks|ControlsErrors|NeedsIntervalWithEquality|SquaresAreSeldomFalse|ServesWhatTheServiceCan|TailMemory|LargeBodies|MemoryLimit|Dockerfile|AllFaultsAtOnce|OthersRead|NodeWrites|EveryCodePoint|EveryByte|HugeValuesAreCut|BeyondTheBound|NothingSteers|ReservedKeys|NoCanary|RedactChanges|EndedEvents|BigBuffers|MemoryIsReturned
promises:
	WEIR_LONG=1 $(GO) test -vet=off -count=1 -run '$(UNDETECTED)' ./cmd/weir ./front ./lab/analysis \
		$$(grep -rl --include='*_test.go' --exclude-dir='.?*' --exclude-dir=node_modules '^func Test[A-Za-z0-9]*Alloc' . | \
			xargs -n 1 dirname | grep -v '^./front$$' | sort -u)

# The peers stay out of this module; what measures them is checked all the same.
bench-module:
	cd bench && $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) test -vet=off ./...

# The libraries that write packages and images stay out of this module, too. The test builds a release for one system, and
# installs each of its files.
release-test:
	cd tools/release && export GOWORK=off && $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) test -vet=off ./...

# The package for Node, with the versions of Node that it promises to work with. npm has their programs.
NODES = 20 22
node-of = $(CURDIR)/.bench/node-$(1)/node_modules/node-$(NODE_SYSTEM)
NODE_SYSTEM = $(shell node -p 'process.platform + "-" + process.arch' 2>/dev/null)

test-node: node-programs
	@if ! command -v npm >/dev/null; then exit 0; fi; set -e; cd node; $(foreach version,$(NODES),\
		echo "npm test with Node $(version)"; PATH=$(call node-of,$(version))/bin:$$PATH npm test --silent;)

# Beside pino and winston, with the last of NODES. Needs script (bsdutils). Takes five minutes.
bench-node: node-programs
	cd node && PATH=$(call node-of,$(lastword $(NODES)))/bin:$$PATH npm run --silent bench

# npm writes node_modules/.package-lock.json at the end.
node-programs:
	@if ! command -v npm >/dev/null; then exit 0; fi; set -e; \
	[ node/node_modules/.package-lock.json -nt node/package-lock.json -a \
		node/node_modules/.package-lock.json -nt node/package.json ] || \
		npm ci --prefix node --no-audit --no-fund --ignore-scripts --loglevel=error; $(foreach version,$(NODES),\
		[ -d $(call node-of,$(version)) ] || npm install --prefix $(CURDIR)/.bench/node-$(version) --no-audit --no-fund \
			--loglevel=error node-$(NODE_SYSTEM)@$(version);)

# Every fuzz target of every module for FUZZTIME. make test runs their corpora.
fuzz:
	@set -e; for folder in $$(grep -rl --include='*_test.go' --exclude-dir='.?*' --exclude-dir=node_modules '^func Fuzz' . | \
		xargs -n 1 dirname | sort -u); do \
		cd $(CURDIR)/$$folder; \
		for target in $$($(GO) test -list '^Fuzz' | grep '^Fuzz'); do \
			echo "$$folder $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x; \
		done; \
	done

# The pictures of README.md and docs that show what the program does, from runs of it. Needs Chromium and a machine that
# does nothing else. Takes four minutes.
pictures:
	$(GO) test ./router -run Picture -update
	$(GO) run ./docs/pictures

# Whether the work tree makes the front door slower than BASE: docs/guard.md.
BASE ?= origin/main
guard:
	$(GO) run ./cmd/weir lab guard --base $(BASE) --build '$(GO) build -o weir ./cmd/weir' $(GUARDFLAGS) \
		-- ./weir serve --listen '127.0.0.1:$${port}' --admin off

# Weir beside its peers: docs/measuring.md says how to read the tables.
bench:
	cd bench && $(GO) run ./cmd/benchrun log router

bench-log:
	cd bench && $(GO) run ./cmd/benchrun log

bench-router:
	cd bench && $(GO) run ./cmd/benchrun router

bench-sinks:
	cd bench && $(GO) run ./cmd/benchrun sinks

# Needs nginx and wrk. Caddy is built from its module and Pingora with cargo. What cannot be had has no row, and the run
# says so. BENCHFLAGS=-all runs the whole matrix.
bench-proxy: .bench/bin/caddy .bench/bin/pingora-door
	cd bench && $(GO) run ./cmd/benchrun $(BENCHFLAGS) proxy

bench-tls:
	cd bench && $(GO) run ./cmd/benchrun $(BENCHFLAGS) tls

bench-scale:
	cd bench && $(GO) run ./cmd/benchrun -picture ../docs/scale.svg $(BENCHFLAGS) scale

# Needs nginx and h2load: apt-get install nginx-light nghttp2-client.
bench-http2: .bench/bin/caddy
	cd bench && $(GO) run ./cmd/benchrun $(BENCHFLAGS) http2

# The costs from which docs/capacity derives the needs of a deployment.
bench-capacity:
	cd bench && $(GO) run ./cmd/benchrun $(BENCHFLAGS) capacity

# Tries the tables that compare Weir with nginx, Caddy, Traefik and HAProxy in README.md and docs/moving.md. nginx and
# HAProxy are those of Debian, Traefik is .bench/bin/traefik; what is missing is not tried, and the run says so. ASPECTS
# selects aspects by an expression. Takes two minutes.
bench-compare: .bench/bin/caddy
	cd bench/compare && WEIR_COMPARE=1 WEIR_COMPARE_ASPECTS='$(ASPECTS)' $(GO) test -count=1 -vet=off -timeout 30m

.bench/bin/pingora-door: bench/peers/pingora/Cargo.lock bench/peers/pingora/src/main.rs
	-cargo build --release --locked --manifest-path bench/peers/pingora/Cargo.toml --target-dir .bench/pingora && \
		install -D .bench/pingora/release/pingora-door $@

.bench/bin/caddy:
	GOBIN=$(CURDIR)/.bench/bin $(GO) install github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9

# A minute of a machine on which nothing else runs is worth ten of another. The
# peers of Debian: apt-get install wrk apache2-utils nghttp2-client. What cannot
# be had has no row, and the run says so.
bench-load: load-peers
	cd bench && $(GO) run ./cmd/benchrun load

load-peers: .bench/npm/node_modules/.bin/autocannon
	-cd bench/peers && GOWORK=off $(GO) build -o $(CURDIR)/.bench/bin/ tool

.bench/npm/node_modules/.bin/autocannon:
	-npm install --prefix .bench/npm --no-audit --no-fund autocannon@8.0.0

clean:
	rm -rf weir dist .bench
