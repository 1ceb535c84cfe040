// Package snapshot has the state of a front door at one moment, as GET /events of its admin listener sends it and
// weir top reads it. All values are those of /metrics at that moment.
package snapshot

import "time"

// A Counter has only grown since the start of the process.
type Counter struct {
	Total     float64 `json:"total"`
	PerSecond float64 `json:"per_second"` // since the snapshot before; 0 in the first one
}

// A Door is the state of a front door.
type Door struct {
	At       time.Time `json:"at"`
	Started  time.Time `json:"started"` // of the process
	Version  string    `json:"version"`
	Draining bool      `json:"draining"`
	Problems []string  `json:"problems"` // to look at now
	Seconds  float64   `json:"seconds"`  // since the snapshot before; 0 in the first one

	// Writable says that operators with the token may drain servers in a browser.
	Writable bool `json:"writable"`
	// Failed is the number of requests since the start that GET /failures counts: it changes if there are new ones.
	Failed int `json:"failed"`

	Requests      Requests      `json:"requests"`
	Routes        []Route       `json:"routes"`         // the busiest first
	RoutesMore    int           `json:"routes_more"`    // routes beyond MaxRoutes
	Upstreams     []Upstream    `json:"upstreams"`      // by name
	Limits        []Limit       `json:"limits"`         // those with a part in use
	Refusals      []Refusal     `json:"refusals"`       // that have occurred, the most frequent first
	RefusalsMore  int           `json:"refusals_more"`  // reasons beyond MaxRefusals
	Log           Log           `json:"log"`            // the sum of all destinations
	Destinations  []Destination `json:"destinations"`   // of the log
	Process       Process       `json:"process"`        // the process and the Go runtime
	Open          []Open        `json:"open"`           // connections, by protocol
	Connections   []Connections `json:"connections"`    // accepted over TLS, by protocol
	Certificates  []Certificate `json:"certificates"`   // the first to end first
	Reloads       Reloads       `json:"reloads"`        // of the configuration
	LatencyBounds []float64     `json:"latency_bounds"` // upper bounds of Requests.Latency, in seconds; the last bucket has none
}

// The maximum lengths of lists, so that a snapshot stays small with any configuration.
const (
	MaxRoutes   = 100
	MaxRefusals = 50
)

// Requests are the requests of all routes. Those that were refused before routing are a Refusal, and not in here.
type Requests struct {
	Counter
	InFlight float64            `json:"in_flight"`
	Classes  map[string]Counter `json:"classes"` // of the status: 2xx to 5xx
	Latency  []float64          `json:"latency"` // requests that have ended since the snapshot before, by time
	P50      *float64           `json:"p50"`     // upper bound in seconds, of the same requests; nil without one
	P99      *float64           `json:"p99"`     // the same
}

// A Route has the requests of one route.
type Route struct {
	Route string `json:"route"` // as in the label of the metrics
	Counter
	Classes map[string]Counter `json:"classes"`
	P50     *float64           `json:"p50"` // as in Requests
	P99     *float64           `json:"p99"`
}

// An Upstream has the servers of one upstream.
type Upstream struct {
	Upstream string             `json:"upstream"`
	Waiting  float64            `json:"waiting"` // requests; no server accepts a connection
	Queued   float64            `json:"queued"`  // requests; no server has a free place
	Classes  map[string]Counter `json:"classes"` // requests of routes that lead to it, by class of the status
	Failures map[string]Counter `json:"failures"`
	Retries  Counter            `json:"retries"`
	Servers  []Server           `json:"servers"`
}

// A Server has the sums of all addresses of one URL.
type Server struct {
	Server   string         `json:"server"`
	States   map[string]int `json:"states"` // addresses by state, without states that none has
	Weight   float64        `json:"weight"`
	InFlight float64        `json:"in_flight"`
	Requests Counter        `json:"requests"` // with a response, a timeout or a client that has gone
	P50      *float64       `json:"p50"`      // as in Requests
	P99      *float64       `json:"p99"`
}

// A Limit is one whose use can be counted.
type Limit struct {
	Limit string  `json:"limit"`
	Route string  `json:"route"`
	InUse float64 `json:"in_use"`
	Value float64 `json:"value"` // 0 if it is not set
}

// A Refusal counts what was refused for one reason.
type Refusal struct {
	By     string `json:"by"`     // limit, access, malformed, proxy_protocol, http2, http3 or tls
	Reason string `json:"reason"` // the limit or the key; empty for malformed requests
	Route  string `json:"route"`  // empty if it happens before routing
	Counter
}

// Log has the counts of the log's events: emitted = written + dropped + waiting. Held and discarded events were never
// emitted.
type Log struct {
	Emitted      Counter            `json:"emitted"`
	Written      Counter            `json:"written"`
	Dropped      map[string]Counter `json:"dropped"` // by reason
	Discarded    Counter            `json:"discarded"`
	Held         float64            `json:"held"`
	Waiting      float64            `json:"waiting"`
	Bytes        Counter            `json:"bytes"`
	QueueBytes   float64            `json:"queue_bytes"`
	QueueSize    float64            `json:"queue_size_bytes"`
	LongestWrite float64            `json:"longest_write_seconds"`
	CPUShare     float64            `json:"cpu_share"` // of the CPU time of the process
	FileErrors   Counter            `json:"file_errors"`
}

// A Destination is one of log.to.
type Destination struct {
	To         string  `json:"to"`
	Written    Counter `json:"written"`
	Dropped    Counter `json:"dropped"`
	QueueBytes float64 `json:"queue_bytes"`
	DiskEvents float64 `json:"disk_events"`
	LastError  string  `json:"last_error,omitempty"` // of a write or a delivery, which later ones may have followed
}

// A Process has the resources of the process.
type Process struct {
	CPU        Counter `json:"cpu_seconds"`
	Resident   float64 `json:"resident_bytes"`
	Heap       float64 `json:"heap_bytes"` // allocated
	Goroutines float64 `json:"goroutines"`
	Pauses     Counter `json:"gc_pause_seconds"`
	Cycles     Counter `json:"gc_cycles"`
	OpenFiles  float64 `json:"open_files"`
	MaxFiles   float64 `json:"max_files"`
	Loops      []Loop  `json:"loops"` // of the engine loops
}

// A Loop is an event loop. It is fully used if the CPU time grows by a second per second.
type Loop struct {
	Loop string  `json:"loop"`
	CPU  Counter `json:"cpu_seconds"`
}

// Open are the open connections of clients of one version of HTTP.
type Open struct {
	Protocol    string  `json:"protocol"`
	Connections float64 `json:"connections"`
}

// Connections are those of one protocol, as chosen by ALPN.
type Connections struct {
	Protocol string `json:"protocol"`
	Version  string `json:"version"` // of TLS
	Counter
}

// A Certificate is in use.
type Certificate struct {
	Name string    `json:"name"` // the first one
	File string    `json:"file"` // or acme
	Ends time.Time `json:"ends"`
	Days float64   `json:"days"` // until it ends
}

// Reloads have the times of the last reloads of the configuration. The start counts as applied.
type Reloads struct {
	Applied time.Time `json:"applied"`
	Failed  time.Time `json:"failed,omitzero"` // zero if none has failed
}

// Add returns the sum of two counters.
func (c Counter) Add(d Counter) Counter { return Counter{c.Total + d.Total, c.PerSecond + d.PerSecond} }
