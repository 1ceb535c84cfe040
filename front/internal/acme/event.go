package acme

import (
	"context"
	"errors"
	"log/slog"

	"go.uber.org/zap/zapcore"
)

// An Event is one for the log of the front door.
type Event struct {
	Level   slog.Level
	Message string
	Err     error
	Fields  map[string]any
}

// The events about the certificate of one name, in Fields["name"].
const (
	EventObtained    = "certificate obtained"
	EventNotObtained = "certificate not obtained"
	EventRevoked     = "certificate revoked"
)

// EventNotWritable is the event of a storage that cannot be written.
const EventNotWritable = "storage of certificates cannot be written"

// A bridge passes the entries of certmagic's logger to a function. Its information, which is
// several entries for each step, becomes debug events.
type bridge struct {
	log    func(Event)
	fields []zapcore.Field
}

// Enabled implements zapcore.Core.
func (bridge) Enabled(l zapcore.Level) bool { return l >= zapcore.InfoLevel }

// With implements zapcore.Core.
func (b bridge) With(fields []zapcore.Field) zapcore.Core {
	b.fields = append(b.fields[:len(b.fields):len(b.fields)], fields...)
	return b
}

// Check implements zapcore.Core.
func (b bridge) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if b.Enabled(e.Level) {
		return checked.AddCore(e, b)
	}
	return checked
}

// Write implements zapcore.Core.
func (b bridge) Write(e zapcore.Entry, fields []zapcore.Field) error {
	event := Event{Level: slog.LevelDebug, Message: "acme: " + e.Message, Fields: map[string]any{}}
	if e.Level >= zapcore.WarnLevel {
		event.Level = slog.LevelWarn // the manager itself logs the failures that matter as errors
	}
	values := zapcore.NewMapObjectEncoder()
	for _, f := range append(b.fields[:len(b.fields):len(b.fields)], fields...) {
		if err, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
			event.Err = err
			continue
		}
		f.AddTo(values)
	}
	event.Fields = values.Fields
	if errors.Is(event.Err, context.Canceled) {
		event.Level = slog.LevelDebug // the manager has been stopped
	}
	b.log(event)
	return nil
}

// Sync implements zapcore.Core.
func (bridge) Sync() error { return nil }
