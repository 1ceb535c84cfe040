package front

import (
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/target"
)

// newAdminServer returns the server for those who run the door. It has an
// address of its own, and what it shows is nowhere on the public listeners.
func newAdminServer(d *Door) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", adminIndex)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /readyz", d.readiness)
	mux.Handle("GET /metrics", d.metrics.handler())
	mux.HandleFunc("GET /log", d.showLog)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &http.Server{
		Handler:           d.localNames(mux),
		ReadHeaderTimeout: adminTimeout,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          d.errorLog(),
		ConnState:         adminStateChanged,
	}
}

// adminTimeout is how long a request to the admin listener may take to come.
const adminTimeout = 10 * time.Second

// readiness tells a load balancer whether to send requests here.
func (d *Door) readiness(w http.ResponseWriter, r *http.Request) {
	if d.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	io.WriteString(w, "ready\n")
}

// localNames refuses requests whose Host is a name that this listener does not
// have: a page on the web could point such a name at this address, and read
// what it finds through somebody's browser.
func (d *Door) localNames(next http.Handler) http.Handler {
	own, _, _ := net.SplitHostPort(d.cfg.Admin)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, ok := target.SplitHost(r.Host)
		if _, err := netip.ParseAddr(name); !ok || err != nil && !strings.EqualFold(name, "localhost") && !strings.EqualFold(name, own) {
			http.Error(w, "no such host here; use the address", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func adminIndex(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, `Weir's admin listener

/healthz       the process lives
/readyz        it takes requests (503 while it drains)
/metrics       counters and gauges, for Prometheus
/log           what the log has, drops and costs, as JSON
/debug/pprof/  profiles, for go tool pprof
`)
}
