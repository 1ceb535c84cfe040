package main

import (
	"bytes"
	"context"
	"encoding/json"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// A span is a line of the file of spans.
type span struct {
	Resource   map[string]any `json:"resource"`
	Trace      string         `json:"trace"`
	Span       string         `json:"span"`
	Parent     string         `json:"parent"`
	Name       string         `json:"name"`
	Kind       string         `json:"kind"`
	Started    uint64         `json:"started"`
	Ended      uint64         `json:"ended"`
	Flags      uint32         `json:"flags"`
	Status     string         `json:"status"`
	Message    string         `json:"message"`
	Attributes map[string]any `json:"attributes"`
}

// ConsumeTraces implements consumer.Traces. The receiver responds when it returns.
func (e *linesExporter) ConsumeTraces(_ context.Context, traces ptrace.Traces) error {
	if err := e.failure(); err != nil {
		return err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				err := enc.Encode(span{resource.Resource().Attributes().AsRaw(), s.TraceID().String(), s.SpanID().String(),
					s.ParentSpanID().String(), s.Name(), s.Kind().String(), uint64(s.StartTimestamp()), uint64(s.EndTimestamp()),
					s.Flags(), s.Status().Code().String(), s.Status().Message(), s.Attributes().AsRaw()})
				if err != nil {
					return err
				}
			}
		}
	}
	return e.write(out.Bytes())
}
