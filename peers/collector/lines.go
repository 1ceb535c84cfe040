package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// config is the configuration of the exporter.
type config struct {
	File    string `mapstructure:"file"`    // that records are appended to
	Spans   string `mapstructure:"spans"`   // a file that spans are appended to
	Metrics string `mapstructure:"metrics"` // a file that points of metrics are appended to
	Fail    string `mapstructure:"fail"`    // a file that makes requests fail: see linesExporter.failure
}

// A record is a line of the file.
type record struct {
	Resource   map[string]any `json:"resource"`
	Time       uint64         `json:"time"`
	Severity   int32          `json:"severity"`
	Text       string         `json:"text"`
	Name       string         `json:"name"`
	Body       any            `json:"body"`
	Trace      string         `json:"trace"`
	Span       string         `json:"span"`
	Attributes map[string]any `json:"attributes"`
}

func newLinesFactory() exporter.Factory {
	return exporter.NewFactory(component.MustNewType("lines"), func() component.Config { return new(config) },
		exporter.WithLogs(func(_ context.Context, _ exporter.Settings, c component.Config) (exporter.Logs, error) {
			config := c.(*config)
			return &linesExporter{name: config.File, fail: config.Fail}, nil
		}, component.StabilityLevelDevelopment),
		exporter.WithTraces(func(_ context.Context, _ exporter.Settings, c component.Config) (exporter.Traces, error) {
			config := c.(*config)
			return &linesExporter{name: config.Spans, fail: config.Fail}, nil
		}, component.StabilityLevelDevelopment),
		exporter.WithMetrics(func(_ context.Context, _ exporter.Settings, c component.Config) (exporter.Metrics, error) {
			config := c.(*config)
			return &linesExporter{name: config.Metrics, fail: config.Fail}, nil
		}, component.StabilityLevelDevelopment))
}

// A linesExporter appends records, spans or points of metrics to a file.
type linesExporter struct {
	name, fail string // of files

	mu   sync.Mutex // guards file
	file *os.File
}

// Start implements component.Component. It ends a line that a killed process has begun.
func (e *linesExporter) Start(context.Context, component.Host) (err error) {
	if e.file, err = os.OpenFile(e.name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	_, err = e.file.WriteString("\n")
	return err
}

// Shutdown implements component.Component.
func (e *linesExporter) Shutdown(context.Context) error { return e.file.Close() }

// Capabilities implements consumer.Logs, consumer.Traces and consumer.Metrics.
func (e *linesExporter) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// ConsumeLogs implements consumer.Logs. The receiver responds when it returns.
func (e *linesExporter) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	if err := e.failure(); err != nil {
		return err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, r := range scope.LogRecords().All() {
				if r.Body().AsString() == "bad" {
					return status.Error(codes.InvalidArgument, "a record is bad") // 400
				}
				err := enc.Encode(record{resource.Resource().Attributes().AsRaw(), uint64(r.Timestamp()), int32(r.SeverityNumber()),
					r.SeverityText(), r.EventName(), r.Body().AsRaw(), r.TraceID().String(), r.SpanID().String(),
					r.Attributes().AsRaw()})
				if err != nil {
					return err
				}
			}
		}
	}
	return e.write(out.Bytes())
}

func (e *linesExporter) write(lines []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err := e.file.Write(lines)
	return err
}

// failure returns the error that the file fail asks for: busy (429) or away (503).
func (e *linesExporter) failure() error {
	text, err := os.ReadFile(e.fail)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch string(text) {
	case "busy":
		return status.Error(codes.ResourceExhausted, "too many records")
	case "away":
		return status.Error(codes.Unavailable, "no backend")
	}
	return fmt.Errorf("%s has %q: %w", e.fail, text, err)
}
