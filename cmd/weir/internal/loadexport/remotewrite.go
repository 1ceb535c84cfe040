package loadexport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/snappy"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/log/stream"
)

// The numbers of fields in prometheus/prompb/remote.proto and types.proto.
const (
	requestSeries = 1

	seriesLabels  = 1
	seriesSamples = 2

	labelName  = 1
	labelValue = 2

	sampleValue = 1
	sampleTime  = 2
)

// A remoteWrite encodes and sends intervals by the Prometheus Remote-Write Specification 1.0.
type remoteWrite struct {
	url    string
	client *http.Client
	tags   []label
	bounds []string // of the label le

	before time.Time       // of the last interval
	known  map[string]bool // the labels of the series that were sent
}

// defaultPath is where the server of Prometheus receives series.
const defaultPath = "/api/v1/write"

// sendWithin is the time limit of a request.
const sendWithin = 10 * time.Second

func openRemoteWrite(text string, tags []label) (protocol, error) {
	u, err := url.Parse(strings.TrimPrefix(text, "prometheus+"))
	if err != nil || u.Hostname() == "" || u.Fragment != "" {
		return nil, errors.New("the URL of a server of Prometheus is prometheus+http://host:9090")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = defaultPath
	}
	w := &remoteWrite{url: u.String(), tags: tags, known: map[string]bool{}, client: &http.Client{Timeout: sendWithin,
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	for _, b := range load.LatencyBounds() {
		w.bounds = append(w.bounds, strconv.FormatFloat(b.Seconds(), 'g', -1, 64))
	}
	w.bounds = append(w.bounds, "+Inf")
	return w, nil
}

// encode returns a WriteRequest, compressed.
func (w *remoteWrite) encode(i interval) ([]byte, error) {
	all, err := metrics(i.result)
	if err != nil {
		return nil, err
	}
	common := append(slices.Clone(ofRun(w.tags, i.result)), label{"instance", instance()}, label{"job", job})
	if w.before.IsZero() {
		w.before = i.result.Started
	}
	var request []byte
	for _, m := range all {
		name := nameOf(m)
		for _, p := range m.points {
			labels := append(slices.Clone(common), p.labels...)
			if m.kind == histogram {
				request = w.appendHistogram(request, name, p, labels, i.at)
			} else {
				request = w.appendSeries(request, name, p.value, labels, i.at, m.kind == counter)
			}
		}
	}
	w.before = i.at
	return snappy.Encode(nil, request), nil
}

// nameOf returns the name of a metric in Prometheus, by the rules of OpenTelemetry.
func nameOf(m metric) string {
	name := strings.ReplaceAll(m.name, ".", "_")
	switch m.unit {
	case "s":
		name += "_seconds"
	case "By":
		name += "_bytes"
	}
	if m.kind == counter {
		name += "_total"
	}
	return name
}

// appendHistogram appends the series of a histogram, whose buckets add up in Prometheus.
func (w *remoteWrite) appendHistogram(b []byte, name string, p point, labels []label, at time.Time) []byte {
	upTo := 0.0
	for i, n := range p.counts {
		upTo += float64(n)
		b = w.appendSeries(b, name+"_bucket", upTo, append(slices.Clone(labels), label{"le", w.bounds[i]}), at, true)
	}
	b = w.appendSeries(b, name+"_count", upTo, labels, at, true)
	return w.appendSeries(b, name+"_sum", p.value, labels, at, true)
}

// appendSeries appends a TimeSeries. A series that grows begins with 0 at the interval before, so that the server knows
// by how much it has grown.
func (w *remoteWrite) appendSeries(
	b []byte, name string, value float64, labels []label, at time.Time, grows bool,
) []byte {
	labels = append(slices.Clone(labels), label{"__name__", name})
	slices.SortFunc(labels, byName)
	var series []byte
	for _, l := range labels {
		series = appendBytes(series, seriesLabels, appendText(appendText(nil, labelName, l.name), labelValue, l.value))
	}
	if key := string(series); grows && !w.known[key] {
		w.known[key] = true
		if w.before.Before(at) {
			series = appendSample(series, 0, w.before)
		}
	}
	return appendBytes(b, requestSeries, appendSample(series, value, at))
}

func appendSample(series []byte, value float64, at time.Time) []byte {
	sample := appendFixed64(nil, sampleValue, math.Float64bits(value))
	return appendBytes(series, seriesSamples, appendVarint(sample, sampleTime, uint64(at.UnixMilli())))
}

// Send implements protocol.
func (w *remoteWrite) Send(ctx context.Context, message []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(message))
	if err != nil {
		return err
	}
	req.Header = http.Header{"Content-Type": {"application/x-protobuf"}, "Content-Encoding": {"snappy"},
		"X-Prometheus-Remote-Write-Version": {"0.1.0"}, "User-Agent": {job}}
	resp, err := w.client.Do(req)
	if err != nil { // always a *url.Error, whose text has the user
		return fmt.Errorf("%s: %w", withoutUser(w.url), errors.Unwrap(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 200))
	if err != nil {
		return err
	}
	err = fmt.Errorf("%s responded with %d: %q", withoutUser(w.url), resp.StatusCode, strings.TrimSpace(string(text)))
	if code := resp.StatusCode; code/100 == 5 || code == http.StatusTooManyRequests {
		return &stream.UnavailableError{Err: err}
	}
	return &stream.RejectedError{Lines: 1, Err: err}
}

// Close implements protocol.
func (w *remoteWrite) Close() { w.client.CloseIdleConnections() }
