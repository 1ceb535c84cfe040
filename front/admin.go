package front

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
	"github.com/weirhq/weir/front/logto"
)

// adminPages are the parts of a Door that the admin listener shows.
type adminPages struct {
	addr      string // as configured
	draining  func() bool
	metrics   http.Handler
	log       http.HandlerFunc
	upstreams upstreamsAPI
	errorLog  *stdlog.Logger
}

// newAdminServer returns the server for operators. It has a separate address, and
// the public listeners serve none of its pages. It refuses requests that a browser sends for
// the page of another origin and that could change something.
func newAdminServer(p adminPages) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", adminIndex)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /readyz", p.readiness)
	mux.Handle("GET /metrics", p.metrics)
	mux.HandleFunc("GET /log", p.log)
	p.upstreams.register(mux)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &http.Server{
		Handler:           localNames(p.addr, http.NewCrossOriginProtection().Handler(mux)),
		ReadHeaderTimeout: adminTimeout,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          p.errorLog,
		ConnState:         adminStateChanged,
	}
}

// adminTimeout is the time limit for the head of a request to the admin listener.
const adminTimeout = 10 * time.Second

// readiness responds with 200 if a load balancer may send requests here.
func (p *adminPages) readiness(w http.ResponseWriter, r *http.Request) {
	if p.draining() {
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

func adminIndex(w http.ResponseWriter, r *http.Request) {
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

// logPage is the page /log of the admin listener.
type logPage struct {
	CPU          logCPUPage        `json:"cpu"`
	FileErrors   uint64            `json:"file_errors"`
	Destinations []destinationPage `json:"destinations"`
}

// logCPUPage is the cost of the log: its share of the CPU time that the process
// used in the window, and sums since the start of the process.
type logCPUPage struct {
	Share     float64 `json:"share"`
	Window    float64 `json:"window_seconds"`
	Encoding  float64 `json:"encoding_seconds"`
	Writing   float64 `json:"writing_seconds"`
	Measuring float64 `json:"measuring_seconds"`
	Process   float64 `json:"process_seconds"`
}

type destinationPage struct {
	To             string     `json:"to"`
	Emitted        uint64     `json:"emitted"`
	Written        uint64     `json:"written"`
	Waiting        uint64     `json:"waiting"`
	Dropped        []lossPage `json:"dropped"`
	Bytes          uint64     `json:"bytes"`
	QueueBytes     uint64     `json:"queue_bytes"`
	HighWaterBytes uint64     `json:"queue_high_water_bytes"`
	Recovered      uint64     `json:"recovered"`
	DiskEvents     uint64     `json:"disk_events"`
	DiskBytes      int64      `json:"disk_bytes"`
	LongestWrite   float64    `json:"longest_write_seconds"`
	Diverted       uint64     `json:"diverted"`
	LastError      string     `json:"last_error,omitempty"`
}

type lossPage struct {
	Reason   string `json:"reason"`
	Severity string `json:"severity"`
	Events   uint64 `json:"events"`
}

// logHandler returns a handler that responds with the state and the cost of a log
// as JSON.
func logHandler(out logto.Output, cost *logcost.Cost) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, newLogPage(out, cost))
	}
}

func newLogPage(out logto.Output, cost *logcost.Cost) logPage {
	now := cost.Read(time.Now())
	share, window := cost.Share(now)
	page := logPage{CPU: logCPUPage{
		Share:     share,
		Window:    window.Seconds(),
		Encoding:  now.Encoding.Seconds(),
		Writing:   now.Writing.Seconds(),
		Measuring: now.Measuring.Seconds(),
		Process:   now.Process.Seconds(),
	}}
	if l, ok := out.(*logto.Log); ok {
		page.FileErrors = l.FileErrors()
		for _, dest := range l.Destinations() {
			page.Destinations = append(page.Destinations, pageOf(dest))
		}
	} else {
		page.Destinations = []destinationPage{pageOf(logto.Destination{Stats: out.Stats()})}
	}
	return page
}

func pageOf(d logto.Destination) destinationPage {
	s := &d.Stats
	p := destinationPage{
		To:             d.To,
		Emitted:        s.Emitted,
		Written:        s.Written,
		Waiting:        s.Waiting,
		Dropped:        []lossPage{},
		Bytes:          s.Bytes,
		QueueBytes:     s.WaitingBytes,
		Recovered:      s.Recovered,
		DiskEvents:     d.OnDisk.Events,
		DiskBytes:      d.OnDisk.Bytes,
		HighWaterBytes: s.HighWaterBytes,
		LongestWrite:   s.LongestWrite.Seconds(),
		Diverted:       d.Diverted,
	}
	for _, loss := range s.Dropped {
		p.Dropped = append(p.Dropped, lossPage{string(loss.Reason), loss.Level.String(), loss.Events})
	}
	if s.LastError != nil {
		p.LastError = s.LastError.Error()
	}
	return p
}
