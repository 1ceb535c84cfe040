package load

import (
	"cmp"
	"time"
)

// A Result is what a run has measured. Its JSON is a document that other
// programs may rely on; times are in microseconds where their object says so.
type Result struct {
	Started   time.Time `json:"started"`
	URL       string    `json:"url"`    // of the first target, as the plan has it
	Method    string    `json:"method"` // of the first target, as BodyBytes, which is the size before templates are filled in
	BodyBytes int64     `json:"body_bytes"`
	Protocol  string    `json:"protocol"`
	Pace      string    `json:"pace"`

	// What was asked for, and what became of it: Asked = Sent + Unsent, and
	// Sent = Requests + Failed + Unanswered.
	Asked      int64 `json:"asked"`
	Sent       int64 `json:"sent"`
	Unsent     int64 `json:"unsent"`
	Requests   int64 `json:"requests"`   // answered, with whatever status
	Failed     int64 `json:"failed"`     // sent, and ended by an error
	Unanswered int64 `json:"unanswered"` // sent, and still without an answer when the run gave up waiting

	// UnsentFor says why requests were not sent: "skipped" by the bound of the
	// backlog, "no_connection" when the connection they were for failed,
	// "ended" when the run ended before there was one.
	UnsentFor map[string]int64 `json:"unsent_for,omitempty"`

	// Late counts the requests of the open loop that were sent more than a
	// millisecond after they were due, and LateFor says why: "connections" when
	// none was free, "generator" when one was and the generator did not keep up.
	Late    int64            `json:"late"`
	LateFor map[string]int64 `json:"late_for,omitempty"`

	// The rates are those of whole answers in the time in which requests were
	// sent, which is DurationSeconds.
	RequestsPerSecond float64 `json:"requests_per_second"`
	BytesPerSecond    float64 `json:"bytes_per_second"` // read
	DurationSeconds   float64 `json:"duration_seconds"`
	BytesRead         int64   `json:"bytes_read"`
	BytesWritten      int64   `json:"bytes_written"`

	Connections     int     `json:"connections"`      // open at once, at most
	ConnectionsMade int64   `json:"connections_made"` // in all
	Pipeline        int     `json:"pipeline"`
	TimeoutSeconds  float64 `json:"timeout_seconds"`
	Seed            uint64  `json:"seed"`

	// RequestsHash is the same for plans that send the same requests in the same order, to any origin: those with
	// the same methods, paths, headers and bodies. A body from a file counts by its size.
	RequestsHash string `json:"requests_hash"`

	// Targets are the parts of the run by method and path pattern.
	Targets []TargetResult `json:"targets"`
	Threads int            `json:"threads"`

	// Latency is from sent to the last byte of the response: of each request that was sent, or whose
	// connection failed. LatencyFromDue is from due, of each request that was asked for; only the open
	// loop has it. A request without an answer counts in both.
	Latency        *Latency `json:"latency"`
	LatencyFromDue *Latency `json:"latency_from_due,omitempty"`
	FirstByte      *Latency `json:"first_byte"` // from sent to the answer's first byte
	Connect        *Latency `json:"connect,omitempty"`
	TLSHandshake   *Latency `json:"tls_handshake,omitempty"`
	StreamWait     *Latency `json:"stream_wait,omitempty"` // HTTP/2: from a free connection to sent

	// Status counts answers by class, "2xx", and LatencyByStatus has their
	// latencies from sent; StatusCodes counts them by code.
	Status          map[string]int64    `json:"status"`
	StatusCodes     map[string]int64    `json:"status_codes"`
	LatencyByStatus map[string]*Latency `json:"latency_by_status,omitempty"`

	// Errors counts failures by kind: requests that failed and connections that
	// could not be made. ErrorExamples has the first one's words.
	Errors        map[string]int64  `json:"errors"`
	ErrorExamples map[string]string `json:"error_examples,omitempty"`

	// CertificateRequired reports whether the server asked for a certificate that
	// the client did not have. It is not part of the document.
	CertificateRequired bool `json:"-"`

	Series []Second `json:"series"`

	// Points are some of the requests, as many as the Plan asked for: of each of
	// many short times the slowest, and one by chance. None is made up. Requests
	// without an answer when the run gave up waiting are not among them.
	Points []Point `json:"points,omitempty"`

	Pacing    *Pacing        `json:"pacing,omitempty"` // open loop alone
	Generator Generator      `json:"generator"`
	Machine   Machine        `json:"machine"`
	Server    *ServerProcess `json:"server,omitempty"`

	// Interrupted tells that the run was ended before its plan was.
	Interrupted bool `json:"interrupted,omitempty"`

	// Saturated reports that the generator was itself at its limit, or had to wait
	// because the machine was busy (see MachineBusy): the numbers say as much about
	// it as about the server. Warnings say why, and what else a reader has to know.
	Saturated bool     `json:"saturated"`
	Warnings  []string `json:"warnings,omitempty"`
}

// Without2xx is how many of the requests that were sent have no answer of 2xx:
// they were answered otherwise, failed, or were not answered.
func (r *Result) Without2xx() int64 { return r.Sent - r.Status["2xx"] }

// A Latency is a distribution of times in microseconds. The quantiles are exact
// to three digits, Min, Max and Mean to the nanosecond.
//
// A failure makes none of them better. A request that was given up counts with the time that it had
// taken by then: one that timed out, that had no answer when the run ended, or that the run ended
// before it was sent. Every other request without an answer was never answered, which is longer than
// any time: a quantile that falls among those is [NeverAnswered].
type Latency struct {
	Unit  string `json:"unit"`  // "us"
	Count int64  `json:"count"` // with those given up and never answered
	Min   Micros `json:"min"`
	P2_5  Micros `json:"p2_5"`
	P50   Micros `json:"p50"`
	P90   Micros `json:"p90"`
	P97_5 Micros `json:"p97_5"`
	P99   Micros `json:"p99"`
	P999  Micros `json:"p999"`
	P9999 Micros `json:"p9999"`
	Max   Micros `json:"max"`
	Mean  Micros `json:"mean"`
	Stdev Micros `json:"stdev"` // NeverAnswered when one was given up

	GivenUp       int64 `json:"given_up,omitempty"`
	NeverAnswered int64 `json:"never_answered,omitempty"`

	// AtLeast has the JSON names of the values above that are lower bounds, because of requests that
	// were given up. TooFew has those of the quantiles that fewer than three requests lie beyond:
	// another run may well have a far greater one.
	AtLeast []string `json:"at_least,omitempty"`
	TooFew  []string `json:"too_few,omitempty"`

	// Histogram is the distribution in nanoseconds, as HdrHistogram encodes it (V2, compressed,
	// base64). It has no place for those never answered.
	Histogram string `json:"histogram,omitempty"`

	// Answered is the distribution of the requests that were answered; nil when all were, or none.
	Answered *Latency `json:"answered,omitempty"`
}

// A TargetResult is the part of a run that is about one method and path pattern. Targets that differ
// only in the query, the header or the body share one. When there are more than 20, the 19 with most
// targets are there, and one for all others, which has neither Method nor Path.
type TargetResult struct {
	Method    string `json:"method"`
	Path      string `json:"path"`       // as in the plan, with its templates and without the query
	Targets   int    `json:"targets"`    // of the plan
	BodyBytes int64  `json:"body_bytes"` // of the first of them

	// Sent = Requests + Failed + Unanswered. Requests that were not sent have no target.
	Sent       int64            `json:"sent"`
	Requests   int64            `json:"requests"`
	Failed     int64            `json:"failed"`
	Unanswered int64            `json:"unanswered"`
	Status     map[string]int64 `json:"status"`

	// Latency is there in the closed loop, and LatencyFromDue in the open loop. Both are nil when there is
	// one target: its latencies are those of the Result.
	Latency        *Latency `json:"latency,omitempty"`
	LatencyFromDue *Latency `json:"latency_from_due,omitempty"`
}

// Waited is the latency that counts for users: from due in the open loop, else from sent.
func (t *TargetResult) Waited() *Latency { return cmp.Or(t.LatencyFromDue, t.Latency) }

// Without2xx is the number of requests that were sent and have no answer of 2xx.
func (t *TargetResult) Without2xx() int64 { return t.Sent - t.Status["2xx"] }

// A quantile is one that a Latency has a field for.
type quantile struct {
	key        string // in JSON
	percentage float64
	value      *Micros
}

func (l *Latency) quantiles() []quantile {
	return []quantile{
		{"p2_5", 2.5, &l.P2_5}, {"p50", 50, &l.P50}, {"p90", 90, &l.P90}, {"p97_5", 97.5, &l.P97_5},
		{"p99", 99, &l.P99}, {"p999", 99.9, &l.P999}, {"p9999", 99.99, &l.P9999},
	}
}

// A Point is one request.
type Point struct {
	// At is when it was due in the open loop, else when it was sent, in seconds
	// since the run began; Latency counts from there to the answer's last byte, or
	// to the failure.
	At      float64 `json:"at"`
	Latency float64 `json:"us"`
	Status  int     `json:"status"` // 0 when it failed
}

// A Second is what happened in one second of a run. The last one may be shorter,
// or up to half a second longer.
type Second struct {
	Start    float64 `json:"start"`   // in seconds, since the run began
	Seconds  float64 `json:"seconds"` // how long it was
	Asked    int64   `json:"asked"`
	Sent     int64   `json:"sent"`
	Requests int64   `json:"requests"` // answered
	Errors   int64   `json:"errors"`
	Bytes    int64   `json:"bytes"` // read

	// Quantiles of the requests that ended in this second, as in a Latency: from
	// due in the open loop, else from sent.
	P50 Micros `json:"p50"`
	P90 Micros `json:"p90"`
	P99 Micros `json:"p99"`
	Max Micros `json:"max"`

	Connections int `json:"connections"` // open at its end
}

// Pacing says how well the open loop kept its times.
type Pacing struct {
	AskedPerSecond float64 `json:"asked_per_second"` // by the pace, on average
	SentPerSecond  float64 `json:"sent_per_second"`  // in the time for it; what was sent after the end is not in it

	// Lag is from due to sent.
	Lag *Latency `json:"lag"`

	// Variance10ms is that of the numbers of requests sent in each 10 ms, about
	// what the pace wanted in each; Mean10ms is their mean. 0 is perfect, and
	// arrivals by chance have a variance as large as the mean.
	Variance10ms float64 `json:"variance_10ms"`
	Mean10ms     float64 `json:"mean_10ms"`
}

// Generator says what the run cost the process that made it.
type Generator struct {
	CPUSeconds float64 `json:"cpu_seconds"` // user and system

	// Of the time in which requests were sent, Busy is the share that the
	// busiest thread spent on a CPU, and Waited the share that one was ready to
	// run and had none.
	Busy   float64 `json:"busy"`
	Waited float64 `json:"waited"`

	PeakRSS int64 `json:"peak_rss_bytes"`
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

// A ServerProcess is what a server's process used while requests were sent.
type ServerProcess struct {
	PID        int            `json:"pid"`
	Command    string         `json:"command"`
	CPUSeconds float64        `json:"cpu_seconds"` // user and system
	PeakRSS    int64          `json:"peak_rss_bytes"`
	Samples    []ServerSample `json:"samples"`
}

// A ServerSample is what a process had at a moment.
type ServerSample struct {
	At      float64 `json:"at"`  // in seconds, since the run began
	CPU     float64 `json:"cpu"` // CPUs used since the sample before: 1.5 is one and a half
	RSS     int64   `json:"rss_bytes"`
	Files   int     `json:"open_files"`
	Threads int     `json:"threads"`
}

// Progress is how far a run has come.
type Progress struct {
	Elapsed  time.Duration
	Duration time.Duration // the run ends after; 0 when it does not by time
	Asked    int64
	Sent     int64
	Requests int64 // answered
	Of       int64 // the run ends after so many were sent; 0 when it does not by number
	Errors   int64
	Status   map[string]int64

	Connections int // open now
	InFlight    int64

	// Last is the last whole second, with a Seconds of 0 until there is one.
	Last Second

	// Latency is that of the whole run so far: from due in the open loop, else from sent, which FromDue
	// says. It is nil until a request has ended, and has no histogram.
	Latency *Latency
	FromDue bool

	Waiting bool // nothing is sent any more; the last answers are waited for
	Done    bool // the last call
}
