// Package admin has the pages for operators: readiness, metrics, the log, upstreams and profiles.
package admin

import (
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"time"

	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/internal/version"
)

// NewServer returns the server for operators, at an address as configured. It has a separate address, and
// the public listeners serve none of its pages. It refuses requests that a browser sends for
// the page of another origin.
func NewServer(addr string, p Pages) *http.Server {
	mux := http.NewServeMux()
	p.Dashboard.Handle(mux, index)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /readyz", p.readiness)
	mux.Handle("GET /metrics", p.Metrics)
	mux.HandleFunc("GET /log", p.log)
	p.addUpstreams(mux)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &http.Server{
		Handler:           withVersion(guarded(addr, mux)),
		ReadHeaderTimeout: headTimeout,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          p.ErrorLog,
	}
}

// guarded refuses requests that a website sends through the browser of a visitor. Checks and scrapes of other machines
// name this one, so that they may use any Host.
func guarded(addr string, pages http.Handler) http.Handler {
	pages = livepage.OwnOrigin(http.NewCrossOriginProtection().Handler(pages))
	host, _, _ := net.SplitHostPort(addr)
	if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && ip.IsLoopback() {
		return livepage.LocalNames(addr, pages)
	}
	mux := http.NewServeMux()
	mux.Handle("/", livepage.LocalNames(addr, pages))
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		mux.Handle(path, pages)
	}
	return mux
}

// headTimeout is the time limit for the head of a request.
const headTimeout = 10 * time.Second

// readiness responds with 200 if a load balancer may send requests here.
func (p *Pages) readiness(w http.ResponseWriter, r *http.Request) {
	if p.Draining() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	io.WriteString(w, "ready\n")
}

// withVersion adds the version to responses. Those of the public listeners do not have it.
func withVersion(next http.Handler) http.Handler {
	product := "weir/" + version.String()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", product)
		next.ServeHTTP(w, r)
	})
}

func index(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, `Weir's admin listener: for browsers, this is the dashboard

/healthz       the process is running
/readyz        it accepts requests (503 while it drains)
/events        the state of the front door every second, as server-sent events
/failures      the last failed requests, as JSON
/metrics       counters and gauges, for Prometheus
/log           the state and the cost of the log, as JSON
/log/events    the events of one request, as in ?trace_id=ID
/log/tail      the events from now on, as in ?where=http.status_code>=500, as server-sent events
/upstreams     the servers of the upstreams and their state, as JSON
/debug/pprof/  profiles, for go tool pprof

POST /upstreams/NAME/drain?server=URL    send no new requests to a server
POST /upstreams/NAME/undrain?server=URL  use it again

If admin.token is set, both need it, as in curl -H 'Authorization: Bearer TOKEN'.
`)
}
