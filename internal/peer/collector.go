package peer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// Collector is an OpenTelemetry Collector that stores log records, spans and metrics.
type Collector struct {
	Address string // host:port of OTLP/HTTP

	t       testing.TB
	folder  string
	process *process
}

// A CollectorRecord is a record that a Collector has stored.
type CollectorRecord struct {
	Resource, Attributes map[string]any
	Time                 uint64
	Severity             int
	Text                 string // of the severity
	Name                 string // of the event
	Body                 any
	Trace, Span          string
}

// A CollectorSpan is a span that a Collector has stored.
type CollectorSpan struct {
	Resource, Attributes      map[string]any
	Trace, Span, Parent, Name string
	Kind                      string // such as Server
	Started, Ended            uint64
	Flags                     uint32
	Status                    string // Unset, Ok or Error
	Message                   string // of the status
}

// A CollectorPoint is a point of a metric that a Collector has stored.
type CollectorPoint struct {
	Resource, Attributes  map[string]any
	Name, Unit            string
	Type                  string // Gauge, Sum or Histogram
	Cumulative, Monotonic bool
	Started, Time         uint64
	Value                 string // a number, also +Inf; of a histogram its sum
	Count                 uint64 // of a histogram, as the fields below
	Counts                []uint64
	Bounds                []float64
}

// StartCollector starts a Collector on a free port. The end of the test ends it.
func StartCollector(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{Address: FreeAddress(t), t: t, folder: t.TempDir()}
	pipeline := map[string]any{"receivers": []string{"otlp"}, "exporters": []string{"lines"}}
	settings := map[string]any{
		"receivers": map[string]any{"otlp": map[string]any{"protocols": map[string]any{"http": map[string]any{
			"endpoint": c.Address}}}},
		"exporters": map[string]any{"lines": map[string]any{"file": c.file("records"), "spans": c.file("spans"),
			"metrics": c.file("metrics"), "fail": c.file("fail")}},
		"service": map[string]any{"pipelines": map[string]any{"logs": pipeline, "traces": pipeline,
			"metrics": pipeline}},
	}
	text, err := json.Marshal(settings) // JSON is YAML
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.file("config.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Start()
	return c
}

func (c *Collector) file(name string) string { return filepath.Join(c.folder, name) }

// Start starts the Collector after a Stop, with the same address and file.
func (c *Collector) Start() {
	c.t.Helper()
	c.process = start(c.t, nil, Program(c.t, "./collector"), "--config", c.file("config.yaml"))
	testkit.AwaitListener(c.t, c.Address)
}

// Stop kills the Collector.
func (c *Collector) Stop() { c.process.stop() }

// Signal sends a signal to the Collector, such as SIGSTOP.
func (c *Collector) Signal(s syscall.Signal) {
	c.t.Helper()
	c.process.signal(s)
}

// Fail makes the Collector respond to requests with 429 if how is "busy", with 503 if it is
// "away", and as usual if it is "". It always responds with 400 to a request that has a record
// with the body "bad".
func (c *Collector) Fail(how string) {
	c.t.Helper()
	err := os.Remove(c.file("fail"))
	if how != "" {
		// A rename is atomic.
		if err = os.WriteFile(c.file("next"), []byte(how), 0o600); err == nil {
			err = os.Rename(c.file("next"), c.file("fail"))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.t.Fatal(err)
	}
}

// Records returns the stored records.
func (c *Collector) Records() []CollectorRecord { return read[CollectorRecord](c, "records") }

// Spans returns the stored spans.
func (c *Collector) Spans() []CollectorSpan { return read[CollectorSpan](c, "spans") }

// Points returns the stored points of metrics.
func (c *Collector) Points() []CollectorPoint { return read[CollectorPoint](c, "metrics") }

// read returns the lines of a file.
func read[T any](c *Collector, file string) (all []T) {
	c.t.Helper()
	text, err := os.ReadFile(c.file(file))
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var one T
		if json.Unmarshal(line, &one) == nil { // otherwise it was killed while it wrote the line
			all = append(all, one)
		}
	}
	return all
}

// UniqueRecords returns the stored records by their attribute log.record.uid. It fails the
// test if a record has none.
func (c *Collector) UniqueRecords() map[string]CollectorRecord {
	c.t.Helper()
	unique := map[string]CollectorRecord{}
	for _, r := range c.Records() {
		uid, ok := r.Attributes["log.record.uid"].(string)
		if !ok {
			c.t.Fatal(fmt.Errorf("the record %v has no log.record.uid", r))
		}
		unique[uid] = r
	}
	return unique
}
