// Package admin has the pages for operators: readiness, metrics, the log, upstreams and profiles.
package admin

import (
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/logcost"
	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/front/internal/upstream"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/log"
)

// Pages are the parts of a front door that the pages show.
type Pages struct {
	Draining  func() bool
	Metrics   http.Handler
	Log       logto.Output
	Cost      *logcost.Cost       // of the log
	Upstreams func() upstream.Set // in use
	Logger    func() *log.Logger
	ErrorLog  *stdlog.Logger // of net/http
}

// NewServer returns the server for operators, at an address as configured. It has a separate address, and
// the public listeners serve none of its pages. It refuses requests that a browser sends for
// the page of another origin and that could change something.
func NewServer(addr string, p Pages) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", index)
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
		Handler:           localNames(addr, http.NewCrossOriginProtection().Handler(mux)),
		ReadHeaderTimeout: headTimeout,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          p.ErrorLog,
	}
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

// localNames refuses requests whose Host is neither an IP address, nor localhost,
// nor the host of addr. Otherwise a website could point a name of its own at this
// address (DNS rebinding), and read the pages through the browser of a visitor. A request without
// a Host, such as the check of a load balancer over HTTP/1.0, is from no browser.
func localNames(addr string, next http.Handler) http.Handler {
	own, _, _ := net.SplitHostPort(addr)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, ok := target.SplitHost(r.Host)
		_, err := netip.ParseAddr(name)
		if r.Host != "" && (!ok || err != nil && !strings.EqualFold(name, "localhost") && !strings.EqualFold(name, own)) {
			http.Error(w, "no such host here; use the address", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func index(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, `Weir's admin listener

/healthz       the process is running
/readyz        it accepts requests (503 while it drains)
/metrics       counters and gauges, for Prometheus
/log           the state and the cost of the log, as JSON
/upstreams     the servers of the upstreams and their state, as JSON
/debug/pprof/  profiles, for go tool pprof

POST /upstreams/NAME/drain?server=URL    send no new requests to a server
POST /upstreams/NAME/undrain?server=URL  use it again
`)
}
