package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// A point is a line of the file of metrics.
type point struct {
	Resource   map[string]any `json:"resource"`
	Name       string         `json:"name"`
	Unit       string         `json:"unit"`
	Type       string         `json:"type"` // such as Sum
	Cumulative bool           `json:"cumulative"`
	Monotonic  bool           `json:"monotonic"`
	Started    uint64         `json:"started"`
	Time       uint64         `json:"time"`
	Value      string         `json:"value"` // of a histogram its sum; JSON has no +Inf
	Count      uint64         `json:"count"` // of a histogram, as the fields below
	Counts     []uint64       `json:"counts"`
	Bounds     []float64      `json:"bounds"`
	Attributes map[string]any `json:"attributes"`
}

// ConsumeMetrics implements consumer.Metrics. The receiver responds when it returns.
func (e *linesExporter) ConsumeMetrics(_ context.Context, metrics pmetric.Metrics) error {
	if err := e.failure(); err != nil {
		return err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, resource := range metrics.ResourceMetrics().All() {
		for _, scope := range resource.ScopeMetrics().All() {
			for _, m := range scope.Metrics().All() {
				for _, p := range points(m) {
					p.Resource, p.Name, p.Unit = resource.Resource().Attributes().AsRaw(), m.Name(), m.Unit()
					p.Type = m.Type().String()
					if err := enc.Encode(p); err != nil {
						return err
					}
				}
			}
		}
	}
	return e.write(out.Bytes())
}

// points returns the points of a metric.
func points(m pmetric.Metric) (all []point) {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		for _, p := range m.Gauge().DataPoints().All() {
			all = append(all, number(p))
		}
	case pmetric.MetricTypeSum:
		for _, p := range m.Sum().DataPoints().All() {
			n := number(p)
			n.Cumulative = m.Sum().AggregationTemporality() == pmetric.AggregationTemporalityCumulative
			n.Monotonic = m.Sum().IsMonotonic()
			all = append(all, n)
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			all = append(all, point{
				Cumulative: m.Histogram().AggregationTemporality() == pmetric.AggregationTemporalityCumulative,
				Started:    uint64(p.StartTimestamp()), Time: uint64(p.Timestamp()), Value: text(p.Sum()), Count: p.Count(),
				Counts: p.BucketCounts().AsRaw(), Bounds: p.ExplicitBounds().AsRaw(), Attributes: p.Attributes().AsRaw(),
			})
		}
	}
	return all
}

// number returns the point of a gauge or a sum.
func number(p pmetric.NumberDataPoint) point {
	value := p.DoubleValue()
	if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
		value = float64(p.IntValue())
	}
	return point{Started: uint64(p.StartTimestamp()), Time: uint64(p.Timestamp()), Value: text(value),
		Attributes: p.Attributes().AsRaw()}
}

func text(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }
