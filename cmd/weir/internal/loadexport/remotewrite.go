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
	gauges map[string]bool // the labels of the gauges of the last interval
}

// staleMarker is the value that ends a series. Without it Prometheus shows the last value for five more minutes.
var staleMarker = math.Float64frombits(0x7ff0000000000002)

// maxResponse limits the part of a response that is read, in bytes. maxText limits the part in an error.
const (
	maxResponse = 64 << 10
	maxText     = 200
)

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

// encode returns a WriteRequest, compressed. It ends the gauges that are no longer in the interval, and in the last one
// all.
func (w *remoteWrite) encode(i interval) (request, error) {
	all, err := metrics(i.result)
	if err != nil {
		return request{}, err
	}
	common := append(slices.Clone(ofRun(w.tags, i.result)), label{"instance", instance()}, label{"job", job})
	if w.before.IsZero() {
		w.before = i.result.Started
	}
	var message []byte
	gauges := w.gauges
	w.gauges = map[string]bool{}
	for _, m := range all {
		name := nameOf(m)
		for _, p := range m.points {
			labels := append(slices.Clone(common), p.labels...)
			if m.kind == histogram {
				message = w.appendHistogram(message, name, p, labels, i)
			} else {
				message = w.appendSeries(message, name, p.value, labels, i, m.kind)
			}
		}
	}
	for series := range gauges {
		if !w.gauges[series] {
			message = appendBytes(message, requestSeries, appendSample([]byte(series), staleMarker, i.at))
		}
	}
	w.before = i.at
	return request{snappy.Encode(nil, message), points(all)}, nil
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
func (w *remoteWrite) appendHistogram(b []byte, name string, p point, labels []label, i interval) []byte {
	upTo := 0.0
	for bucket, n := range p.counts {
		upTo += float64(n)
		le := label{"le", w.bounds[bucket]}
		b = w.appendSeries(b, name+"_bucket", upTo, append(slices.Clone(labels), le), i, histogram)
	}
	b = w.appendSeries(b, name+"_count", upTo, labels, i, histogram)
	return w.appendSeries(b, name+"_sum", p.value, labels, i, histogram)
}

// appendSeries appends a TimeSeries. A series that grows begins with 0 at the interval before, so that the server knows
// by how much it has grown.
func (w *remoteWrite) appendSeries(
	b []byte, name string, value float64, labels []label, i interval, of kind,
) []byte {
	labels = append(slices.Clone(labels), label{"__name__", name})
	slices.SortFunc(labels, byName)
	var series []byte
	for _, l := range labels {
		series = appendBytes(series, seriesLabels, appendText(appendText(nil, labelName, l.name), labelValue, l.value))
	}
	key := string(series)
	if of != gauge && !w.known[key] {
		w.known[key] = true
		if w.before.Before(i.at) {
			series = appendSample(series, 0, w.before)
		}
	}
	series = appendSample(series, value, i.at)
	if of == gauge {
		w.gauges[key] = true
		if i.last {
			series = appendSample(series, staleMarker, i.at.Add(time.Millisecond))
		}
	}
	return appendBytes(b, requestSeries, series)
}

func appendSample(series []byte, value float64, at time.Time) []byte {
	sample := appendFixed64(nil, sampleValue, math.Float64bits(value))
	return appendBytes(series, seriesSamples, appendVarint(sample, sampleTime, uint64(at.UnixMilli())))
}

// Send implements protocol. By the specification, requests are repeated after 5xx and 429 only; a server of OTLP gets
// them again after 408 and others, too. Retry-After is optional and ignored.
func (w *remoteWrite) Send(ctx context.Context, r request) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(r.message))
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
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxResponse)) // for the next request on the connection; a part is enough
	if resp.StatusCode/100 == 2 {
		return nil
	}
	text = bytes.TrimSpace(text[:min(len(text), maxText)])
	err = fmt.Errorf("%s responded with %d: %q", withoutUser(w.url), resp.StatusCode, text)
	if code := resp.StatusCode; code/100 == 5 || code == http.StatusTooManyRequests {
		return &stream.UnavailableError{Err: err}
	}
	return &stream.RejectedError{Lines: r.points, Err: err}
}

// Close implements protocol.
func (w *remoteWrite) Close() { w.client.CloseIdleConnections() }
