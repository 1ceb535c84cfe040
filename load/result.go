package load

import (
	"cmp"
	"time"
)

// A Result holds the measurements of a run. Its JSON is a stable format; see
// docs/load.md for the units.
type Result struct {
	Started   time.Time `json:"started"`
	URL       string    `json:"url"`            // of the first target, as in the plan
	Unix      string    `json:"unix,omitempty"` // the socket of the server; "" for the URL's address
	Method    string    `json:"method"`         // of the first target
	BodyBytes int64     `json:"body_bytes"`     // of the first target, before its templates are filled in
	Protocol  string    `json:"protocol"`
	Pace      string    `json:"pace"`
	Version   string    `json:"version"` // of Weir, as in v0.1.0

	// Asked = Sent + Unsent, and Sent = Requests + Failed + Unanswered.
	Asked      int64 `json:"asked"`
	Sent       int64 `json:"sent"`
	Unsent     int64 `json:"unsent"`
	Requests   int64 `json:"requests"`   // answered, with any status that the plan expects
	Failed     int64 `json:"failed"`     // sent, and failed with an error
	Unanswered int64 `json:"unanswered"` // sent, and still without a response when the run stopped waiting

	// UnsentFor counts the reasons: "skipped" because of the backlog's limit,
	// "no_connection" because the connection failed, "ended" because the run ended
	// before a connection was free.
	UnsentFor map[string]int64 `json:"unsent_for,omitempty"`

	// Late counts requests of the open loop that were sent more than a millisecond
	// after they were due. LateFor counts the reasons: "connections" if none was
	// free, else "generator", which did not keep up.
	Late    int64            `json:"late"`
	LateFor map[string]int64 `json:"late_for,omitempty"`

	// The rates are of whole responses during DurationSeconds, the time in which
	// requests were sent.
	RequestsPerSecond float64 `json:"requests_per_second"`
	BytesPerSecond    float64 `json:"bytes_per_second"` // read
	DurationSeconds   float64 `json:"duration_seconds"`
	BytesRead         int64   `json:"bytes_read"`
	BytesWritten      int64   `json:"bytes_written"`

	Connections     int     `json:"connections"`      // the most that were open at the same time
	ConnectionsMade int64   `json:"connections_made"` // total
	Pipeline        int     `json:"pipeline"`
	TimeoutSeconds  float64 `json:"timeout_seconds"`
	Seed            uint64  `json:"seed"`

	// RequestsHash is equal for plans that send the same requests in the same order,
	// to any origin: the same methods, paths, headers and bodies. Bodies from files
	// are compared by size.
	RequestsHash string `json:"requests_hash"`

	// Targets are the parts of the run by method and path pattern.
	Targets []TargetResult `json:"targets"`
	Threads int            `json:"threads"`

	// Latency counts from sent to the last byte of the response. It has all requests
	// that were sent or whose connection failed. LatencyFromDue counts from due. It
	// has all requests that were asked for, and is nil in the closed loop. Both
	// include requests without a response.
	Latency        *Latency `json:"latency"`
	LatencyFromDue *Latency `json:"latency_from_due,omitempty"`
	FirstByte      *Latency `json:"first_byte"` // from sent to the first byte of the response
	Connect        *Latency `json:"connect,omitempty"`
	TLSHandshake   *Latency `json:"tls_handshake,omitempty"`
	StreamWait     *Latency `json:"stream_wait,omitempty"` // HTTP/2: from a free connection to sent

	// Status counts responses by class, such as "2xx", and StatusCodes by code.
	// LatencyByStatus has their latencies from sent, by class.
	Status          map[string]int64    `json:"status"`
	StatusCodes     map[string]int64    `json:"status_codes"`
	LatencyByStatus map[string]*Latency `json:"latency_by_status,omitempty"`

	// Errors counts failures by kind: failed requests and failed connects.
	// ErrorExamples has the text of the first of each kind.
	Errors        map[string]int64  `json:"errors"`
	ErrorExamples map[string]string `json:"error_examples,omitempty"`

	// Expect are the plan's expectations. Wrong counts the whole responses that do not meet them, and WrongStatusCodes
	// counts them by code. They are among Failed, and not among Requests and StatusCodes. The kind of such a failure is
	// "unexpected status 503", or the Failure of the expectation.
	Expect           []string         `json:"expect,omitempty"`
	Wrong            int64            `json:"wrong,omitempty"`
	WrongStatusCodes map[string]int64 `json:"wrong_status_codes,omitempty"`

	// CertificateRefused reports whether the server refused the client's certificate,
	// or a client without one. It is not part of the document.
	CertificateRefused bool `json:"-"`

	// Series ends after DurationSeconds. Later responses and errors are not in it.
	Series []Second `json:"series"`

	// Points is a sample of the requests, with at most Plan.Points of them: the
	// slowest and a random one of each short interval. Requests without a response at
	// the end of the run are not in it.
	Points []Point `json:"points,omitempty"`

	// RowsDropped is the number of requests that Plan.Each did not get.
	RowsDropped int64 `json:"rows_dropped,omitempty"`

	Pacing    *Pacing        `json:"pacing,omitempty"` // open loop only
	Generator Generator      `json:"generator"`
	Machine   Machine        `json:"machine"`
	Server    *ServerProcess `json:"server,omitempty"`

	// Share describes the share of a plan that was executed; nil for a whole plan.
	Share *ShareResult `json:"share,omitempty"`

	// Generators are the shares of a result of Merge. The Generator of such a result has
	// the sums of CPUSeconds and PeakRSS, and the largest Busy and Waited. Its Machine is
	// the machine of the first share.
	Generators []GeneratorShare `json:"generators,omitempty"`

	// WarmUp counts the requests before the measured time; nil without a warm-up.
	WarmUp *WarmUpResult `json:"warm_up,omitempty"`

	// Log describes the log of the requests; nil without one.
	Log *LogResult `json:"log,omitempty"`

	// Interrupted reports that the run was ended before its plan.
	Interrupted bool `json:"interrupted,omitempty"`

	// Saturated reports that the generator was at its limit, or had to wait because
	// the machine was busy (see MachineBusy). Then the numbers do not only measure
	// the server. Warnings has the reason, and other facts about the run.
	Saturated bool     `json:"saturated"`
	Warnings  []string `json:"warnings,omitempty"`
}

// A WarmUpResult counts the requests of a warm-up, which are in no other number of the Result. Sent = Requests + Failed +
// those that had no response at the end of the run.
type WarmUpResult struct {
	Seconds  float64 `json:"seconds"`
	Asked    int64   `json:"asked"`
	Sent     int64   `json:"sent"`
	Requests int64   `json:"requests"` // answered
	Failed   int64   `json:"failed"`
}

// Without2xx returns the number of requests that were sent and have no 2xx response.
func (r *Result) Without2xx() int64 { return r.Sent - r.Status["2xx"] }

// A TargetResult is the result of one method and path pattern. Targets that differ only
// in the query, the header or the body share it. If there are more than 20, the last
// one is the sum of the rest, without Method and Path.
type TargetResult struct {
	Step      string `json:"step,omitempty"` // of a flow, such as "buy/login"
	Method    string `json:"method"`
	Path      string `json:"path"`       // with templates, without the query
	Targets   int    `json:"targets"`    // number of targets; of a log, at its beginning
	BodyBytes int64  `json:"body_bytes"` // of the first target

	// Sent = Requests + Failed + Unanswered. Requests that were not sent have no target.
	Sent       int64            `json:"sent"`
	Requests   int64            `json:"requests"`
	Failed     int64            `json:"failed"`
	Unanswered int64            `json:"unanswered"`
	Status     map[string]int64 `json:"status"`

	// The closed loop sets Latency, the open loop LatencyFromDue. Both are nil if
	// there is only one TargetResult, since the Result has the same.
	Latency        *Latency `json:"latency,omitempty"`
	LatencyFromDue *Latency `json:"latency_from_due,omitempty"`
}

// Waited returns the latency for users: from due in the open loop, else from sent.
func (t *TargetResult) Waited() *Latency { return cmp.Or(t.LatencyFromDue, t.Latency) }

// Without2xx returns the number of requests that were sent and have no 2xx response.
func (t *TargetResult) Without2xx() int64 { return t.Sent - t.Status["2xx"] }

// A Point is one request.
type Point struct {
	// At is when the request was due in the open loop, else when it was sent, in
	// seconds since the start. Latency counts from At to the last byte of the response,
	// or to the failure.
	At      float64 `json:"at"`
	Latency float64 `json:"us"`
	Status  int     `json:"status"` // 0 if the request failed
}

// A Second has the measurements of one second of a run. The last one may be shorter,
// or up to half a second longer.
type Second struct {
	Start    float64 `json:"start"`   // in seconds since the start
	Seconds  float64 `json:"seconds"` // length
	Asked    int64   `json:"asked"`
	Sent     int64   `json:"sent"`
	Requests int64   `json:"requests"` // answered
	Errors   int64   `json:"errors"`
	Bytes    int64   `json:"bytes"` // read

	// Quantiles of the requests that ended in this second: from due in the open
	// loop, else from sent.
	P50 Micros `json:"p50"`
	P90 Micros `json:"p90"`
	P99 Micros `json:"p99"`
	Max Micros `json:"max"`

	Connections int `json:"connections"` // open at the end

	// Latency is the latency with these quantiles, for Merge. Only shares have it.
	Latency *Latency `json:"latency,omitempty"`
}

// Pacing measures how well the open loop kept its schedule.
type Pacing struct {
	AskedPerSecond float64 `json:"asked_per_second"` // by the pace, on average
	SentPerSecond  float64 `json:"sent_per_second"`  // without the requests sent after the end

	// Lag is the time from due to sent.
	Lag *Latency `json:"lag"`

	// Variance10ms is the variance of the number of requests sent in each 10 ms
	// about the number due in it; Mean10ms is their mean. 0 is perfect. Random
	// arrivals have a variance as large as the mean.
	Variance10ms float64 `json:"variance_10ms"`
	Mean10ms     float64 `json:"mean_10ms"`

	// Sent10ms has these numbers of the first ten minutes, for Merge. Only shares have it.
	Sent10ms []uint32 `json:"sent_10ms,omitempty"`
}

// Generator has the resources that the run used in its own process.
type Generator struct {
	CPUSeconds float64 `json:"cpu_seconds"` // user and system

	// Busy is the largest share of a thread's time on a CPU, and Waited the largest
	// share of a thread's time ready to run without one. Both are of the time in
	// which requests were sent.
	Busy   float64 `json:"busy"`
	Waited float64 `json:"waited"`

	PeakRSS int64 `json:"peak_rss_bytes"`
}

// A GeneratorShare is the part of one generator in a result of [Merge].
type GeneratorShare struct {
	Share
	Agent string `json:"agent,omitempty"` // as in a ShareResult
	Lost  string `json:"lost,omitempty"`

	ClockOffset Micros `json:"clock_offset_us,omitempty"`
	ClockError  Micros `json:"clock_error_us,omitempty"`

	Asked             int64     `json:"asked"`
	Sent              int64     `json:"sent"`
	Requests          int64     `json:"requests"` // answered
	RequestsPerSecond float64   `json:"requests_per_second"`
	DurationSeconds   float64   `json:"duration_seconds"`
	Connections       int       `json:"connections"`
	Threads           int       `json:"threads"`
	Saturated         bool      `json:"saturated"`
	Generator         Generator `json:"generator"`
	Machine           Machine   `json:"machine"`
}

// A LogResult describes the log of a plan, and the lines of it that were read.
type LogResult struct {
	File            string  `json:"file"`
	Speed           float64 `json:"speed"`            // 2 is twice as fast as the log
	RecordedSeconds float64 `json:"recorded_seconds"` // from the first request to the last one that was read
	Lines           int64   `json:"lines"`
	Others          int64   `json:"other_lines,omitempty"` // other events, and comments
	Unsafe          int64   `json:"unsafe,omitempty"`      // requests that were left out because of their method
	Redacted        int64   `json:"redacted,omitempty"`    // requests with a value that the log does not have
	Displaced       int64   `json:"displaced,omitempty"`   // requests that were logged more than a minute after their begin

	Unreadable      int64  `json:"unreadable,omitempty"` // lines
	FirstUnreadable string `json:"first_unreadable,omitempty"`
}

// Machine identifies the machine and the Go version of a run. Results of
// different machines are not comparable.
type Machine struct {
	System    string `json:"system"` // as in linux/amd64
	Kernel    string `json:"kernel,omitempty"`
	Processor string `json:"processor,omitempty"`
	CPUs      int    `json:"cpus"` // usable by this process
	Go        string `json:"go"`   // the version that this program was built with
}

// A ServerProcess has the resources of the server's process while requests were sent.
type ServerProcess struct {
	PID        int            `json:"pid"`
	Command    string         `json:"command"`
	CPUSeconds float64        `json:"cpu_seconds"` // user and system
	PeakRSS    int64          `json:"peak_rss_bytes"`
	Samples    []ServerSample `json:"samples"`
}

// A ServerSample is one sample of a process.
type ServerSample struct {
	At      float64 `json:"at"`  // in seconds since the start
	CPU     float64 `json:"cpu"` // number of CPUs used since the previous sample
	RSS     int64   `json:"rss_bytes"`
	Files   int     `json:"open_files"`
	Threads int     `json:"threads"`
}
