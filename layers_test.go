package weir_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const modulePath = "github.com/weirhq/weir"

// layers lists for each package which packages of this module, and which packages
// outside the standard library, it may import. A package without a row fails the test.
var layers = map[string]struct {
	own     []string // packages of this module, without the module's path
	foreign []string // prefixes of import paths outside the standard library
	why     string
}{
	"": {why: "the root contains only tests"},
	"log": {
		own: []string{"log/internal/text", "log/internal/jsonscan", "log/internal/ltsv", "log/internal/unwrap",
			"log/record"},
		why: "users import the logger by itself; it has no dependencies",
	},
	"log/internal/text":        {why: "formats of values, without dependencies"},
	"log/internal/unwrap":      {why: "unwrapping writers needs no other package"},
	"log/internal/processtest": {why: "processes for the tests of several packages"},
	"log/internal/waittest":    {why: "waits for the tests of several packages"},
	"log/internal/jsonscan":    {why: "scanning JSON needs no other package"},
	"log/internal/ltsv":        {own: []string{"log/internal/text", "log/internal/jsonscan"}, why: "the LTSV format"},
	"log/record": {
		own: []string{"log/internal/text", "log/internal/jsonscan", "log/internal/ltsv"},
		why: "readers of events do not depend on the logger",
	},
	"log/errs":      {own: []string{"log"}, why: "errors with a stack and fields, which log writes"},
	"log/httplog":   {own: []string{"log", "log/slowest", "log/traceid"}, why: "keeps net/http out of log"},
	"log/logtest":   {own: []string{"log", "log/record"}, why: "reads logged events in tests"},
	"log/onslog/v2": {own: []string{"log/internal/text"}, why: "a drop-in replacement does not import log"},
	"log/sink": {
		own: []string{"log", "log/internal/unwrap"},
		why: "a sink writes lines of log",
	},
	"log/stream": {
		own: []string{"log", "log/internal/spool", "log/record", "log/sink"},
		why: "delivers lines to a server; the protocols are in modules of their own",
	},
	"log/internal/spool": {why: "keeps lines in files; it knows neither queues nor servers"},
	"router": {
		own: []string{"router/internal/nearest"},
		why: "users import the router by itself; it has no dependencies",
	},
	"internal/stickycookie": {own: []string{"internal/httpsyntax"}, why: "cookies; it knows neither upstreams nor servers"},
	"limit":                 {why: "limits know neither routes nor logs; the caller passes time and key"},
	"limit/redisstore": {own: []string{"internal/redisurl", "limit/lease"},
		foreign: []string{"github.com/gomodule/redigo/redis"}, why: "no other package imports the client of Redis"},
	"lab/internal/noisetest": {why: "machines whose runs scatter, for tests that simulate experiments"},
	"limit/lease/leasetest":  {own: []string{"limit/lease"}, why: "a store for tests"},
	"internal/redisurl":      {why: "the grammar of URLs needs no client"},
	"limit/lease":            {own: []string{"limit"}, why: "leases of shared limits; the client of the store is another package"},
	"proxy":                  {own: []string{"internal/proxying"}, why: "the proxy for users of net/http; it knows neither routes nor logs"},
	"internal/proxying": {
		own: []string{"internal/http1", "internal/http2", "internal/httpsyntax", "internal/proxying/internal/balance",
			"internal/proxying/internal/budget", "internal/proxying/internal/pool", "internal/proxying/internal/response",
			"internal/proxying/internal/upload", "internal/proxying/internal/waitqueue", "internal/proxyproto",
			"internal/stickycookie", "internal/transport"},
		foreign: []string{"github.com/cespare/xxhash/v2"},
		why:     "exchanges with upstreams, for the front door and package proxy; it knows neither routes nor logs",
	},
	"internal/proxying/internal/balance": {why: "chooses servers; it knows neither requests nor connections"},
	"internal/proxying/internal/pool": {
		own: []string{"internal/http2", "internal/lazydeadline", "internal/transport"},
		why: "keeps connections to servers; it knows neither requests nor upstreams",
	},
	"internal/proxying/internal/response": {
		own: []string{"internal/http1", "internal/http2", "internal/httpsyntax"},
		why: "reads a response; it knows neither requests nor connections",
	},
	"internal/proxying/internal/upload": {
		own: []string{"internal/http2", "internal/transport", "internal/proxying/internal/pool"},
		why: "sends a body on a connection; it knows neither requests nor servers",
	},
	"internal/proxying/internal/waitqueue": {why: "lets callers wait; it knows neither exchanges nor servers"},
	"internal/proxying/internal/budget":    {why: "counts requests and retries; it knows neither exchanges nor servers"},
	"front": {
		own: []string{"front/condition", "front/config", "front/feature/access", "front/feature/basicauth", "front/feature/compress",
			"front/feature/cors", "front/feature/edits", "front/feature/errorpages", "front/feature/files",
			"front/feature/forward", "front/feature/forwardauth", "front/feature/httpsredirect",
			"front/feature/maintenance", "front/feature/mirror", "front/feature/redirects", "front/feature/respond",
			"front/feature/rewrite", "front/feature/split", "front/internal/acme", "front/internal/admin", "front/internal/certs",
			"front/internal/counts", "front/internal/dashboard", "front/internal/handshake", "front/internal/logcost", "front/internal/metric", "front/internal/networks", "front/internal/pacing",
			"front/internal/panicked", "front/internal/recent", "front/internal/redirect", "front/internal/sharing", "front/internal/takeover",
			"front/internal/target", "front/internal/template", "front/internal/traceto", "front/internal/upstream", "front/internal/wire", "front/logto",
			"front/secure", "front/stage", "internal/abandon", "internal/filebudget", "internal/httpsyntax", "internal/machine", "internal/sibling",
			"limit", "limit/lease", "log", "log/stream", "log/traceid", "internal/proxying", "router"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "the front door connects the wire, router, proxy, limit and log",
	},
	"front/stage": {
		own:     []string{"internal/httpsyntax", "log", "internal/proxying", "router"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "the contract of features; it knows neither the configuration nor connections",
	},
	"front/feature/access": {
		own:     []string{"front/internal/networks", "front/internal/scalar", "front/stage", "internal/yamlfile"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "a feature of routes: it admits clients by address; it knows no other feature's stage",
	},
	"front/feature/basicauth": {
		own: []string{"front/internal/scalar", "front/stage", "internal/httpsyntax", "internal/machine", "internal/password",
			"internal/yamlfile", "limit", "internal/proxying"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "a feature of routes: it admits users; it knows no other feature's stage",
	},
	"front/feature/compress": {
		own:     []string{"front/internal/coding", "front/stage", "internal/httpsyntax", "internal/machine", "internal/yamlfile"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "a feature of routes: it compresses responses; it knows no other feature's stage",
	},
	"front/feature/cors": {
		own: []string{"front/internal/scalar", "front/stage", "internal/httpsyntax", "internal/yamlfile"},
		why: "a feature of routes: it lets other origins read; it knows no other feature's stage",
	},
	"front/feature/edits": {
		own: []string{"front/internal/scalar", "front/internal/target", "front/internal/template", "front/stage",
			"internal/httpsyntax", "internal/yamlfile"},
		why: "a feature of routes: it changes header fields; it knows no other feature's stage",
	},
	"front/feature/errorpages": {
		own: []string{"front/internal/scalar", "front/stage", "front/statuses", "internal/httpsyntax", "internal/yamlfile"},
		why: "a feature of routes: it responds to errors with pages; it knows no other feature's stage",
	},
	"front/feature/files": {
		own: []string{"front/internal/files", "front/internal/metric", "front/internal/namedfile", "front/internal/scalar",
			"front/internal/template", "front/stage", "internal/httpsyntax", "internal/yamlfile", "internal/proxying"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "a feature of routes: it responds with files; it knows no other feature's stage",
	},
	"front/feature/forward": {
		own: []string{"front/stage"},
		why: "a feature of routes: it forwards to one upstream; it knows no other feature's stage",
	},
	"front/feature/forwardauth": {
		own: []string{"front/internal/scalar", "front/internal/target", "front/stage", "internal/httpsyntax", "internal/yamlfile",
			"internal/proxying"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "a feature of routes: it asks a service for admission; it knows no other feature's stage",
	},
	"front/feature/httpsredirect": {
		own: []string{"front/internal/scalar", "front/internal/template", "front/stage", "internal/yamlfile"},
		why: "makes clients use https, before a request has a route; it knows no feature of routes",
	},
	"front/feature/maintenance": {
		own: []string{"front/feature/errorpages", "front/internal/scalar", "front/stage", "internal/yamlfile"},
		why: "a feature of routes: it responds while one is not in service, with the pages of errorpages",
	},
	"front/feature/mirror": {
		own: []string{"front/internal/metric", "front/internal/panicked", "front/internal/rotation", "front/internal/scalar",
			"front/stage", "internal/httpsyntax", "internal/yamlfile", "log", "internal/proxying"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "a feature of routes: it sends copies of requests; it knows no other feature's stage",
	},
	"front/feature/redirects": {
		own: []string{"front/internal/redirect", "front/internal/scalar", "front/internal/template", "front/stage",
			"internal/yamlfile"},
		why: "a feature of routes: it redirects requests; it knows no other feature's stage",
	},
	"front/feature/respond": {
		own: []string{"front/internal/scalar", "front/stage", "internal/yamlfile"},
		why: "a feature of routes: it responds with a fixed response; it knows no other feature's stage",
	},
	"front/feature/rewrite": {
		own: []string{"front/internal/scalar", "front/internal/target", "front/internal/template", "front/stage",
			"internal/httpsyntax", "internal/yamlfile"},
		why: "a feature of routes: it changes targets; it knows no other feature's stage",
	},
	"front/feature/split": {
		own: []string{"front/condition", "front/internal/rotation", "front/internal/scalar", "front/stage",
			"internal/stickycookie", "internal/yamlfile", "internal/proxying"},
		why: "a feature of routes: it forwards to one of several upstreams; it knows no other feature's stage",
	},
	"front/internal/configtest": {
		own: []string{"front/config", "internal/mistaketest"},
		why: "tests of keys, which are in many folders, parse whole configurations",
	},
	"front/internal/logfiles": {own: []string{"front/logto"}, why: "logs for the tests of several packages"},
	"front/internal/namedfile": {
		own: []string{"front/internal/scalar", "internal/yamlfile"},
		why: "reads files and paths of folders; it knows no key",
	},
	"front/statuses": {why: "sets of statuses for several keys, and for programs that make configurations"},
	"front/internal/scalar": {
		own: []string{"front/statuses", "internal/httpsyntax", "internal/nearest", "internal/yamlfile"},
		why: "values of a configuration that several keys have",
	},
	"front/internal/serverurl": {
		own: []string{"front/internal/namedfile", "front/internal/scalar", "internal/nearest", "internal/yamlfile"},
		why: "URLs of servers for the log and for lists; it connects to none",
	},
	"front/condition": {
		own: []string{"front/internal/scalar", "front/stage", "internal/httpsyntax", "internal/yamlfile", "internal/proxying"},
		why: "conditions of routes and shares, with their keys; it knows neither routes nor other keys",
	},
	"front/internal/networks": {
		why: "a set of networks needs no other package",
	},
	"front/internal/rotation": {
		why: "a sequence of numbers needs no other package",
	},
	"front/internal/panicked": {
		own: []string{"log"},
		why: "an error of a panic that log writes",
	},
	"front/config": {
		own: []string{"front/condition", "front/feature/access", "front/feature/basicauth", "front/feature/compress",
			"front/feature/cors", "front/feature/edits", "front/feature/errorpages", "front/feature/files",
			"front/feature/forwardauth", "front/feature/httpsredirect", "front/feature/maintenance",
			"front/feature/mirror", "front/feature/redirects", "front/feature/respond", "front/feature/rewrite",
			"front/feature/split", "front/internal/certs", "front/internal/namedfile", "front/internal/routetable",
			"front/internal/scalar", "front/internal/serverurl", "front/internal/target", "front/internal/template",
			"front/logto", "front/secure", "front/stage", "front/upstreams", "internal/httpsyntax", "internal/nearest",
			"internal/redisurl", "internal/yamlfile", "log", "router"},
		why: "reads a configuration, with the keys of all features, and checks it; package front acts on it",
	},
	"front/internal/acme": {
		foreign: []string{"github.com/caddyserver/certmagic", "github.com/mholt/acmez/v3", "go.uber.org/zap"},
		why:     "obtains certificates; no other package imports certmagic and its logger",
	},
	"front/internal/certs": {
		own: []string{"front/internal/namedfile", "internal/yamlfile"},
		why: "reads certificates and chooses one; it knows neither listeners nor the configuration",
	},
	"front/secure": {
		own: []string{"front/internal/certs", "front/internal/namedfile", "front/internal/scalar", "internal/yamlfile"},
		why: "configures listeners for https; it opens none, and knows no routes",
	},
	"front/upstreams": {
		own: []string{"front/internal/certs", "front/internal/namedfile", "front/internal/scalar", "front/statuses",
			"front/internal/serverurl", "front/internal/target", "front/internal/template", "internal/httpsyntax", "internal/yamlfile", "internal/proxying"},
		why: "configures upstreams; it connects to none, and knows no routes",
	},
	"front/internal/upstream": {
		own: []string{"front/config", "front/internal/eventpace", "front/internal/health", "front/internal/metric",
			"front/internal/names", "front/internal/serverlist", "front/upstreams", "internal/resolve", "log", "internal/proxying"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "makes the upstreams of a configuration, keeps them up to date and counts exchanges; it knows no routes",
	},
	"front/internal/admin": {
		own: []string{"front/internal/dashboard", "front/internal/logcost", "front/internal/upstream", "front/logto", "limit",
			"log", "internal/livepage", "internal/proxying", "internal/version"},
		why: "shows what the front door has; it knows neither listeners nor requests",
	},
	"front/internal/dashboard": {
		own: []string{"front/internal/recent", "internal/livepage", "internal/readable", "internal/snapshot",
			"internal/tracematch", "internal/version", "internal/where", "log/record"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus", "github.com/prometheus/client_model/go"},
		why:     "shows what the metrics count and the log has; it knows neither requests nor upstreams",
	},
	"front/internal/recent": {
		own: []string{"internal/abandon", "internal/tracematch", "log", "log/record"},
		why: "keeps and finds events of the log; it does not know what writes them",
	},
	"front/internal/counts": {
		own:     []string{"front/internal/metric", "log/slowest"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "counts requests and reloads; it knows neither routes nor the configuration",
	},
	"front/logto": {
		own: []string{"front/internal/logcost", "front/internal/metric", "front/internal/namedfile", "front/internal/scalar",
			"front/internal/serverurl", "internal/abandon", "internal/nearest", "internal/yamlfile", "log", "log/sink",
			"log/stream"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "writes events to their destinations; it does not know what they are about",
	},
	"front/internal/traceto": {
		own:     []string{"front/internal/eventpace", "front/internal/metric", "front/logto", "log", "log/sink", "log/stream"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "delivers spans to a server; it does not know what they are about",
	},
	"front/internal/logcost": {own: []string{"internal/machine"},
		why: "measures code; it knows neither events nor destinations"},
	"front/internal/eventpace": {own: []string{"log"}, why: "limits events; it does not know what they are about"},
	"front/internal/metric": {
		own:     []string{"internal/version"},
		foreign: []string{"github.com/prometheus/client_golang/prometheus"},
		why:     "kinds of metrics; it does not know what they count",
	},
	"front/internal/coding": {
		foreign: []string{"github.com/andybalholm/brotli", "github.com/klauspost/compress"},
		why:     "compresses bytes; it knows neither requests nor responses",
	},
	"front/internal/files": {
		own: []string{"internal/httpsyntax"}, foreign: []string{"golang.org/x/sys/unix"},
		why: "finds files and determines the response; it knows neither exchanges nor connections",
	},
	"front/internal/handshake": {
		own: []string{"front/internal/certs", "internal/transport"},
		why: "does handshakes of TLS; it knows neither listeners nor requests",
	},
	"front/internal/http3": {
		own: []string{"internal/floodbudget", "internal/httphead", "internal/httpsyntax", "internal/transport"},
		foreign: []string{"github.com/quic-go/quic-go", "github.com/quic-go/qpack", "golang.org/x/net/bpf",
			"golang.org/x/net/http2/hpack", "golang.org/x/sys/unix"},
		why: "serves HTTP/3 on UDP sockets; it knows neither exchanges nor the configuration",
	},
	"front/internal/health": {
		own: []string{"front/statuses", "internal/proxying"},
		why: "decides which servers are healthy; it knows neither configurations nor logs",
	},
	"front/internal/names": {
		own: []string{"internal/resolve", "internal/proxying"},
		why: "resolves the names of an upstream's servers; it knows neither configurations nor logs",
	},
	"front/internal/serverlist": {own: []string{"internal/abandon", "internal/proxying"}, why: "follows lists; it knows neither their syntax nor logs"},
	"front/natskv": {
		own: []string{"log/natssink"}, foreign: []string{"github.com/nats-io/nats.go"},
		why: "follows keys of NATS; only the command imports it, so that package front needs no client",
	},
	"front/internal/wire": {
		own: []string{"front/internal/eventpace", "front/internal/handshake", "front/internal/http3", "front/internal/pacing",
			"front/internal/takeover", "front/stage", "internal/http1", "internal/http2", "internal/httphead",
			"internal/httpsyntax", "internal/lazydeadline", "internal/machine", "internal/proxyproto", "internal/transport",
			"log", "internal/proxying"},
		foreign: []string{"golang.org/x/net/http2/hpack"},
		why:     "serves the connections of clients; it knows neither routes nor the configuration",
	},
	"front/internal/takeover": {
		own: []string{"internal/sibling"},
		why: "hands listeners over between processes; it knows neither configurations nor connections",
	},
	"front/internal/pacing": {
		own: []string{"internal/lazydeadline", "internal/transport", "limit", "internal/proxying"},
		why: "enforces limits of a client; it knows neither routes nor connections",
	},
	"front/internal/redirect": {
		own: []string{"front/internal/target", "front/internal/template", "internal/httpsyntax", "internal/yamlfile"},
		why: "reads the address of a redirect and makes its Location; it knows neither routes nor responses",
	},
	"front/internal/routetable": {
		own: []string{"front/condition", "front/internal/redirect", "front/internal/scalar", "front/internal/template",
			"internal/yamlfile", "router"},
		why: "checks a table of patterns; it knows neither the configuration nor features",
	},
	"front/internal/sharing": {
		own: []string{"internal/redisurl", "limit/lease"},
		why: "keeps the stores of shared limits; it knows neither routes nor the clients of stores",
	},
	"front/internal/template": {
		own: []string{"front/stage", "router", "internal/httpsyntax", "internal/nearest", "internal/yamlfile"},
		why: "texts made of a request's values, for redirects and for edits of requests and responses",
	},
	"front/internal/target": {own: []string{"internal/httpsyntax", "internal/yamlfile"}, why: "the grammar of request targets and hosts"},
	"load": {
		own: []string{"load/internal/dispatch", "load/internal/failure", "load/internal/hdr",
			"load/internal/latencies", "load/internal/program", "load/internal/random", "load/internal/record",
			"load/internal/recorded", "load/internal/send", "load/internal/users", "load/expect", "load/flow", "load/pace", "load/replay", "load/target", "internal/machine", "internal/process", "internal/version"},
		why: "the load generator knows HTTP, but not the system under test",
	},
	"load/internal/response": {own: []string{"internal/http1", "internal/httpsyntax"}, why: "reads responses by the grammar of all parsers"},
	"load/internal/program": {
		own: []string{"load/target", "load/internal/random", "load/internal/request"},
		why: "compiles targets for the engine",
	},
	"load/expect": {own: []string{"internal/httpsyntax", "internal/nearest", "internal/readable", "load/internal/grpcstatus"},
		why: "judges responses; it knows neither connections nor results"},
	"load/flow": {own: []string{"internal/httpsyntax", "internal/yamlfile", "load/expect", "load/internal/request", "load/target"},
		why: "what users do, as it is written; it sends nothing"},
	"load/internal/users": {own: []string{"load/expect", "load/flow", "load/internal/program", "load/internal/random", "load/internal/request", "load/target"},
		why: "users who execute flows; it knows neither connections nor clocks"},
	"load/internal/recorded": {own: []string{"load/internal/program", "load/pace"},
		why: "holds requests that were read; it knows neither logs nor connections"},
	"load/replay": {own: []string{"internal/httpsyntax"},
		why: "reads logs; it knows neither connections nor the loggers"},
	"load/pace": {why: "computes times; it knows neither clocks nor requests"},
	"load/internal/dispatch": {own: []string{"load/pace"},
		why: "decides which request is sent when; it knows neither clocks nor sockets"},
	"load/internal/failure": {why: "classifies errors; it knows neither connections nor results"},
	"load/internal/hdr":     {why: "counts values; it does not know of what"},
	"load/internal/latencies": {own: []string{"load/internal/hdr"},
		why: "records and orders times; it does not know how they are measured or reported"},
	"load/internal/record": {
		own: []string{"load/internal/failure", "load/internal/latencies", "load/internal/random", "load/pace"},
		why: "counts and measures requests; it knows neither connections nor the clock",
	},
	"load/internal/line": {
		own: []string{"internal/transport", "load/expect", "load/internal/failure", "load/internal/program"},
		why: "exchanges over one connection of HTTP/2; it does not measure",
	},
	"load/internal/random": {why: "random numbers need no other package"},
	"load/internal/request": {
		own:     []string{"load/internal/random", "internal/httpsyntax"},
		foreign: []string{"golang.org/x/net/idna"},
		why:     "parses the requests in files and flags",
	},
	"load/internal/send": {
		own: []string{"load/internal/response", "load/internal/dispatch", "load/internal/failure",
			"load/internal/line", "load/internal/program", "load/internal/record", "load/internal/recorded", "load/internal/users", "load/expect", "load/pace", "internal/machine",
			"internal/process", "internal/transport"},
		foreign: []string{"golang.org/x/sys/unix"},
		why:     "sends requests in threads; it knows neither plans nor results",
	},
	"load/internal/curl": {own: []string{"load/internal/request", "internal/nearest"},
		why: "reads command lines; it knows no targets"},
	"load/internal/grpcstatus": {why: "names statuses"},
	"load/internal/grpcunary": {foreign: []string{"google.golang.org/protobuf"},
		why: "makes the bodies of calls; it knows no targets"},
	"load/internal/postman": {own: []string{"load/internal/request"}, why: "reads collections; it knows no targets"},
	"load/internal/openapi": {foreign: []string{"github.com/goccy/go-yaml"},
		why: "makes requests from descriptions; it knows no targets"},
	"load/target": {
		own: []string{"load/internal/curl", "load/internal/openapi", "load/internal/postman", "load/internal/random", "load/internal/request", "internal/httpsyntax"},
		why: "the requests of a load test; it does not send them",
	},
	"load/check": {own: []string{"load", "internal/nearest"},
		why: "judges results; package load measures without it"},
	"load/gen": {own: []string{"load/internal/random"}, why: "generates data; it sends nothing"},
	"load/report": {
		own: []string{"load", "load/internal/hdr", "load/internal/latencies", "internal/page", "internal/readable"},
		why: "reports of a result; package load does not depend on them",
	},
	"load/compare": {
		own:     []string{"load", "internal/readable"},
		foreign: []string{"golang.org/x/perf/benchmath"},
		why:     "compares results",
	},
	"load/agent": {
		own:     []string{"load", "load/settings"},
		foreign: []string{"github.com/nats-io/nats.go"},
		why:     "executes plans on several machines; package load knows no network but that of the test",
	},
	"load/settings": {
		own: []string{"load", "load/expect", "load/flow", "load/internal/grpcunary", "load/pace", "load/replay", "load/target",
			"internal/nearest"},
		why: "parses plans; package load takes them parsed",
	},
	"lab/internal/perf":   {foreign: []string{"golang.org/x/sys/unix"}, why: "counts events of any processes"},
	"lab/internal/halves": {foreign: []string{"golang.org/x/sys/unix"}, why: "divides processors; it knows neither runs nor services"},
	"lab": {
		own: []string{"load", "load/settings", "lab/experiment", "lab/internal/halves", "lab/internal/service", "lab/internal/watch", "lab/results",
			"internal/machine", "internal/process", "internal/readable"},
		why: "gets its service as a command; other packages analyse and report the results",
	},
	"lab/internal/checkout": {why: "finds sources; it neither builds nor runs them"},
	"lab/guard": {
		own: []string{"lab", "lab/analysis", "lab/experiment", "lab/internal/checkout", "lab/results", "internal/nearest",
			"internal/readable", "load"},
		why: "decides about two versions of a service that it runs; others report the answer",
	},
	"lab/internal/service": {
		own:     []string{"internal/machine", "internal/process"},
		foreign: []string{"golang.org/x/sys/unix", "github.com/creack/pty"},
		why:     "runs a process with outputs and limits; it does not measure",
	},
	"lab/internal/watch": {
		own: []string{"lab/internal/perf", "lab/results", "internal/machine", "internal/process"},
		foreign: []string{"github.com/google/pprof/profile", "github.com/prometheus/common/expfmt",
			"github.com/prometheus/client_model/go"},
		why: "observes a process and a Go runtime; it knows neither experiments nor loads",
	},
	"lab/experiment": {
		own: []string{"lab/results", "load/settings", "internal/nearest", "internal/yamlfile"},
		why: "reads experiments and derives their configurations; it runs nothing",
	},
	"lab/results": {own: []string{"load"}, why: "the measurements; it neither makes nor judges them"},
	"lab/analysis": {
		own:     []string{"lab/results", "internal/readable"},
		foreign: []string{"golang.org/x/perf/benchmath"},
		why:     "analyses results; it knows neither experiments nor services",
	},
	"lab/flame": {foreign: []string{"github.com/google/pprof/profile"}, why: "renders profiles"},
	"lab/report": {
		own:     []string{"lab/analysis", "lab/flame", "lab/guard", "lab/results", "load", "internal/page", "internal/readable"},
		foreign: []string{"github.com/google/pprof/profile"},
		why:     "reports results as text and charts",
	},
	"lab/micro": {
		own:     []string{"lab", "lab/internal/checkout", "lab/results", "internal/machine", "load"},
		foreign: []string{"golang.org/x/perf/benchfmt", "golang.org/x/perf/benchunit"},
		why:     "runs Go benchmarks as configurations",
	},
	"experiments":   {why: "experiment files in the binary"},
	"docs/capacity": {why: "computes the tables of docs/capacity.md from measured costs"},
	"docs/pictures": {foreign: []string{"github.com/chromedp/chromedp", "github.com/chromedp/cdproto", "github.com/creack/pty"},
		why: "runs weir as a user does"},
	"examples/node":      {own: []string{"log", "log/httplog"}, why: "a service of users"},
	"examples/embedding": {why: "tests of the programs in docs/embedding.md"},
	"examples/embedding/front": {own: []string{"front", "front/config", "front/stage", "log/sink"},
		why: "the second program in docs/embedding.md: a front door with a stage of users"},
	"examples/embedding/proxy": {own: []string{"log", "log/httplog", "log/sink", "proxy"},
		why: "the first program in docs/embedding.md"},
	"examples/logging": {own: []string{"log", "log/httplog", "log/sink"},
		why: "the first program in docs/logging.md"},
	"internal/abandon": {why: "leaves calls that do not return; it knows no disks"},
	"internal/version": {why: "the build, as the linker and the go command have recorded it"},
	"internal/sibling": {why: "connects processes and passes files; it knows neither listeners nor commands"},
	"internal/yamlfile": {own: []string{"internal/nearest"}, foreign: []string{"github.com/goccy/go-yaml"},
		why: "reads configuration files and reports all mistakes"},
	"internal/page":     {own: []string{"internal/readable"}, why: "the parts of reports, of any subject"},
	"internal/livepage": {own: []string{"internal/page"}, why: "the parts of pages that show a program while it runs"},
	"internal/snapshot": {why: "what the front door sends and weir top reads"},
	"internal/readable": {why: "formatting for people needs no other package"},
	"internal/peer": {own: []string{"internal/certtest", "internal/testkit"}, foreign: []string{"golang.org/x/mod/module"},
		why: "builds programs of other projects for tests"},
	"internal/browsertest": {foreign: []string{"github.com/chromedp/cdproto", "github.com/chromedp/chromedp"}, why: "pages in Chromium for the tests of several packages"},
	"internal/streamtest": {own: []string{"internal/testkit", "log", "log/sink", "log/stream"},
		why: "a log with a destination, for the tests of several kinds of servers"},
	"internal/natssinktest": {why: "tests a module that does not require this one"},
	"internal/otlpsinktest": {why: "tests a module that does not require this one"},
	"internal/process": {foreign: []string{"golang.org/x/sys/unix"},
		why: "reads the resource usage of processes from /proc"},
	"internal/proxyproto": {why: "headers of the PROXY protocol, for both sides of the proxy; no input and output"},
	"internal/password": {foreign: []string{"golang.org/x/crypto/argon2", "golang.org/x/crypto/bcrypt"},
		why: "makes and verifies hashes of passwords"},
	"internal/mistaketest": {why: "compares mistakes in files for the tests of several packages"},
	"internal/leaktest":    {foreign: []string{"go.uber.org/goleak"}, why: "checks what the tests of several packages leave"},
	"internal/certtest":    {why: "certificates for the tests of several packages"},
	"internal/mounttest":   {why: "folders for the tests of several packages"},
	"internal/testkit":     {why: "waits, exchanges, connections and files for the tests of many packages"},
	"internal/floodbudget": {why: "counts uses; it knows neither frames nor connections"},
	"internal/httphead": {
		own: []string{"internal/httpsyntax"}, foreign: []string{"golang.org/x/net/http2/hpack"},
		why: "the rules for heads of requests; it knows neither connections nor frames",
	},
	"internal/httpsyntax": {why: "the grammar of HTTP needs no other package"},
	"internal/http1": {own: []string{"internal/httphead", "internal/httpsyntax"},
		why: "parses HTTP/1 without input and output; servers and clients share it"},
	"internal/http1/http1test": {why: "messages for the tests of several packages"},
	"internal/transport": {foreign: []string{"golang.org/x/sys/unix"},
		why: "connections and event loops, for both sides of the proxy"},
	"internal/resolve": {foreign: []string{"github.com/miekg/dns"},
		why: "resolves names with their TTL; it does not know their use"},
	"internal/resolve/resolvetest": {foreign: []string{"golang.org/x/net/dns/dnsmessage"},
		why: "a name server for the tests of several packages"},
	"internal/http2": {
		own:     []string{"internal/floodbudget", "internal/httphead", "internal/httpsyntax", "internal/lazydeadline", "internal/transport"},
		foreign: []string{"golang.org/x/net/http2"},
		why:     "connections of HTTP/2, for both sides of the proxy; it knows neither requests of the door nor the proxy",
	},
	"internal/machine": {foreign: []string{"golang.org/x/sys/unix"},
		why: "reads the limits of the machine from the kernel"},
	"log/traceid":     {why: "a rule about text needs no other package"},
	"log/slowest":     {why: "estimates a percentile of durations; it does not know what takes them"},
	"internal/follow": {why: "following files needs only the standard library"},
	"internal/where": {
		own: []string{"internal/nearest", "log", "log/record"},
		why: "conditions on events are parsed without a library",
	},
	"internal/tracematch": {own: []string{"log/traceid"}, why: "compares trace ids; it reads no events"},
	"internal/filebudget": {own: []string{"internal/machine"},
		why: "the open files that the system allows, divided"},
	"internal/lazydeadline":   {why: "a rule about times"},
	"internal/nearest":        {why: "guessing words needs no other package"},
	"router/internal/nearest": {why: "a copy for router, whose module does not require that of internal/nearest"},
	"internal/backend": {own: []string{"internal/machine", "internal/readable"},
		why: "the test backend burns CPU time and parses sizes"},
	"cmd/weir/internal/cli": {
		own:     []string{"internal/livepage", "internal/readable"},
		foreign: []string{"github.com/alecthomas/kong", "golang.org/x/term"},
		why:     "the parts that all verbs share import no library that a verb drives",
	},
	"cmd/weir/internal/serve": {
		own: []string{"cmd/weir/internal/cli", "front", "front/config", "front/logto", "front/natskv", "front/upstreams",
			"internal/abandon", "internal/backend", "internal/filebudget", "internal/httpsyntax", "internal/machine", "internal/password", "internal/readable",
			"internal/sibling", "internal/yamlfile", "limit/lease", "limit/redisstore", "log", "log/natssink", "log/otlpsink", "log/sink",
			"log/stream"},
		foreign: []string{"github.com/KimMachineGun/automemlimit", "github.com/coreos/go-systemd/v22/activation",
			"github.com/coreos/go-systemd/v22/daemon", "github.com/nats-io/nats.go", "golang.org/x/sys/unix",
			"golang.org/x/term"},
		why: "the verbs of the front door do not measure",
	},
	"cmd/weir/internal/about": {
		own:     []string{"cmd/weir/internal/cli", "front/config", "internal/version"},
		foreign: []string{"github.com/alecthomas/kong"},
		why:     "describes the command, from the declarations of its verbs",
	},
	"cmd/weir/internal/fmtcmd": {
		own:     []string{"cmd/weir/internal/cli", "internal/readable", "internal/yamlfile"},
		foreign: []string{"github.com/rogpeppe/go-internal/diff"},
		why:     "weir fmt changes the layout of files without a front door",
	},
	"cmd/weir/internal/loadcmd": {
		own: []string{"cmd/weir/internal/cli", "cmd/weir/internal/loadexport", "cmd/weir/internal/loadpage", "internal/livepage", "internal/nearest", "internal/readable", "internal/version", "load", "load/agent", "load/check", "load/compare", "load/gen",
			"load/report", "load/settings", "load/target", "log/natssink"},
		foreign: []string{"github.com/alecthomas/kong", "github.com/nats-io/nats.go"},
		why:     "weir load sends requests to any server; --via is parsed as the URL of a log in NATS",
	},
	"cmd/weir/internal/loadexport": {
		own:     []string{"load", "log/otlpsink", "log/stream"},
		foreign: []string{"github.com/klauspost/compress/snappy", "google.golang.org/protobuf/encoding/protowire"},
		why:     "sends measurements to databases as a log is sent; it knows no flags",
	},
	"cmd/weir/internal/loadpage": {
		own: []string{"internal/livepage", "internal/machine", "internal/version", "load", "load/report"},
		why: "the page of weir load; it knows no flags",
	},
	"cmd/weir/internal/labcmd": {
		own: []string{"cmd/weir/internal/cli", "cmd/weir/internal/labpage", "experiments", "internal/livepage",
			"internal/machine", "internal/nearest", "internal/readable", "internal/version", "lab", "lab/analysis",
			"lab/experiment", "lab/guard", "lab/micro", "lab/report", "lab/results", "load", "load/settings"},
		why: "weir lab measures any service",
	},
	"cmd/weir/internal/labpage": {
		own: []string{"cmd/weir/internal/loadpage", "internal/livepage", "internal/version", "lab", "lab/analysis",
			"lab/experiment", "lab/report", "lab/results", "load"},
		why: "the page of weir lab run; it knows no flags",
	},
	"cmd/weir/internal/tail": {
		own: []string{"cmd/weir/internal/cli", "internal/follow", "internal/nearest", "internal/tracematch",
			"internal/where", "log", "log/natssink", "log/record"},
		foreign: []string{"github.com/nats-io/nats.go"},
		why:     "weir tail reads the events of any program",
	},
	"cmd/weir/internal/top": {
		own: []string{"cmd/weir/internal/cli", "internal/page", "internal/readable", "internal/snapshot"},
		why: "draws what a front door sends; it knows no front door",
	},
	"cmd/weir": {
		own: []string{
			"cmd/weir/internal/cli", "cmd/weir/internal/serve", "cmd/weir/internal/loadcmd", "cmd/weir/internal/labcmd",
			"cmd/weir/internal/about", "cmd/weir/internal/fmtcmd", "cmd/weir/internal/tail", "cmd/weir/internal/top",
			"front/config", "internal/version",
		},
		foreign: []string{"github.com/alecthomas/kong"},
		why:     "only the command imports all verbs",
	},
}

func TestLayers(t *testing.T) {
	type pkg struct {
		ImportPath string
		Standard   bool
		Imports    []string
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Standard,Imports", "./...", "./log/...",
		"./router/...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, modulePath), "/")
		layer, ok := layers[name]
		if !ok {
			t.Errorf("package %s has no row in layers: add its allowed imports and the reason", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if why := forbidden(imp, layer.own, layer.foreign); why != "" {
				t.Errorf("%s imports %s: %s (%s)", p.ImportPath, imp, why, layer.why)
			}
		}
	}
	if seen == 0 {
		t.Fatal("go list returned no package")
	}
}

// TestDoorAloneHasNoVerbsThatMeasure lists the packages of the front door without the verbs that measure.
func TestDoorAloneHasNoVerbsThatMeasure(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-tags", "weir_door", "./cmd/weir").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	packages := strings.Fields(string(out))
	for _, p := range packages {
		for _, measuring := range []string{"load", "lab", "cmd/weir/internal/loadcmd", "cmd/weir/internal/labcmd"} {
			if p == modulePath+"/"+measuring || strings.HasPrefix(p, modulePath+"/"+measuring+"/") {
				t.Errorf("the door contains %s", p)
			}
		}
	}
	if !slices.Contains(packages, modulePath+"/front") {
		t.Error("the door does not contain front")
	}
}

// forbidden returns the reason why imp may not be imported, or "" if it may.
func forbidden(imp string, own, foreign []string) string {
	if rest, ok := strings.CutPrefix(imp, modulePath+"/"); ok {
		if slices.Contains(own, rest) {
			return ""
		}
		return "not on its list of packages"
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return "" // the standard library
	}
	for _, prefix := range foreign {
		if imp == prefix || strings.HasPrefix(imp, prefix+"/") {
			return ""
		}
	}
	return "neither in the standard library nor on its list"
}

func TestForbiddenFindsBannedImports(t *testing.T) {
	for _, c := range []struct {
		imp  string
		want bool
	}{
		{"net/http", false},
		{modulePath + "/log", false},
		{modulePath + "/proxy", true},
		{"example.com/good/sub", false},
		{"example.com/goodness", true},
	} {
		got := forbidden(c.imp, []string{"log"}, []string{"example.com/good"}) != ""
		if got != c.want {
			t.Errorf("forbidden(%q) = %v, want %v", c.imp, got, c.want)
		}
	}
}
