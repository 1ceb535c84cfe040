package loadexport

import (
	"context"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/log/otlpsink"
)

// The numbers of fields in opentelemetry/proto/metrics/v1/metrics.proto, collector/metrics/v1, common/v1 and
// resource/v1.
const (
	requestResourceMetrics = 1

	resourceMetricsResource = 1
	resourceMetricsScopes   = 2
	resourceAttributes      = 1
	scopeMetricsScope       = 1
	scopeMetricsMetrics     = 2
	scopeName               = 1

	metricName      = 1
	metricUnit      = 3
	metricGauge     = 5
	metricSum       = 7
	metricHistogram = 9

	dataPoints      = 1 // of a Gauge, a Sum and a Histogram
	dataTemporality = 2
	sumIsMonotonic  = 3
	cumulative      = 2

	pointStart          = 2
	pointTime           = 3
	numberDouble        = 4
	numberInt           = 6
	numberAttributes    = 7
	histogramCount      = 4
	histogramSum        = 5
	histogramCounts     = 6
	histogramBounds     = 7
	histogramAttributes = 9

	keyValueKey   = 1
	keyValueValue = 2
	anyString     = 1
)

// An otlp encodes and sends intervals in the OpenTelemetry protocol.
type otlp struct {
	client *otlpsink.Client
	tags   []label
	bounds []byte // the field of histograms
}

func openOTLP(url string, tags []label) (protocol, error) {
	client, err := otlpsink.NewClient(url, "/v1/metrics")
	if err != nil {
		return nil, err
	}
	var bounds []byte
	for _, b := range load.LatencyBounds() {
		bounds = protowire.AppendFixed64(bounds, math.Float64bits(b.Seconds()))
	}
	return &otlp{client, tags, appendBytes(nil, histogramBounds, bounds)}, nil
}

// encode returns an ExportMetricsServiceRequest.
func (o *otlp) encode(i interval) (request, error) {
	all, err := metrics(i.result)
	if err != nil {
		return request{}, err
	}
	scope := appendBytes(nil, scopeMetricsScope, appendText(nil, scopeName, "github.com/weirhq/weir/load"))
	times := appendFixed64(nil, pointStart, uint64(i.result.Started.UnixNano()))
	times = appendFixed64(times, pointTime, uint64(i.at.UnixNano()))
	run := ofRun(o.tags, i.result)
	for _, m := range all {
		if len(m.points) > 0 {
			scope = appendBytes(scope, scopeMetricsMetrics, o.metric(m, times, run))
		}
	}
	var attributes []byte
	for _, l := range []label{{"service.name", job}, {"service.instance.id", instance()}} {
		attributes = appendAttribute(attributes, resourceAttributes, l)
	}
	resource := appendBytes(nil, resourceMetricsResource, attributes)
	message := appendBytes(nil, requestResourceMetrics, appendBytes(resource, resourceMetricsScopes, scope))
	return request{message, points(all)}, nil
}

// Send implements protocol.
func (o *otlp) Send(ctx context.Context, r request) error {
	return o.client.Send(ctx, r.message, r.points)
}

// Close implements protocol.
func (o *otlp) Close() { o.client.Close() }

// metric returns a Metric. All of its points have these times and labels.
func (o *otlp) metric(m metric, times []byte, labels []label) []byte {
	var data []byte
	for _, p := range m.points {
		data = appendBytes(data, dataPoints, o.point(m.kind, p, times, labels))
	}
	field := protowire.Number(metricGauge)
	switch m.kind {
	case counter:
		field = metricSum
		data = appendVarint(appendVarint(data, dataTemporality, cumulative), sumIsMonotonic, 1)
	case histogram:
		field = metricHistogram
		data = appendVarint(data, dataTemporality, cumulative)
	}
	b := appendText(appendText(nil, metricName, m.name), metricUnit, m.unit)
	return appendBytes(b, field, data)
}

// point returns a NumberDataPoint or a HistogramDataPoint.
func (o *otlp) point(k kind, p point, times []byte, labels []label) []byte {
	b := append([]byte(nil), times...)
	attributes := protowire.Number(numberAttributes)
	switch k {
	case counter:
		b = appendFixed64(b, numberInt, uint64(p.value))
	case gauge:
		b = appendFixed64(b, numberDouble, math.Float64bits(p.value))
	case histogram:
		attributes = histogramAttributes
		var counts []byte
		for _, n := range p.counts {
			counts = protowire.AppendFixed64(counts, uint64(n))
		}
		b = appendFixed64(b, histogramCount, uint64(sum(p.counts)))
		b = appendFixed64(b, histogramSum, math.Float64bits(p.value))
		b = append(appendBytes(b, histogramCounts, counts), o.bounds...)
	}
	for _, list := range [][]label{labels, p.labels} {
		for _, l := range list {
			b = appendAttribute(b, attributes, l)
		}
	}
	return b
}

func sum(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// appendAttribute appends a KeyValue with a text.
func appendAttribute(b []byte, field protowire.Number, l label) []byte {
	pair := appendText(nil, keyValueKey, l.name)
	return appendBytes(b, field, appendBytes(pair, keyValueValue, appendText(nil, anyString, l.value)))
}
