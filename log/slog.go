package log

import (
	"context"
	"log/slog"
	"slices"
)

// Handler returns the standard library's way to this logger:
//
//	slog.SetDefault(slog.New(logger.Handler()))
//
// The message becomes the event, attributes become fields of data, and groups
// objects in it; an error under the key "err" or "error", outside of groups,
// goes to the event's errors as [Event.Err] has it. Levels are those of this
// package: a level below slog.LevelInfo is debug, and so on; from
// slog.LevelError+4 on it is fatal, which here only marks. Attributes of
// WithAttrs are encoded once.
//
// Each event gets the trace id of the logger in its context, which in a request
// is that of package httplog, and whatever [Options.Context] adds. A logger that
// names callers names that of slog. Fields of both are within the groups that
// are open. Many goroutines may use a Handler.
func (l *Logger) Handler() slog.Handler { return &handler{logger: l} }

// A handler is a slog.Handler.
type handler struct {
	logger  *Logger
	pending []string // groups that were opened but have no attribute yet
	hidden  bool     // an open group is redacted: nothing in it is written
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(_ context.Context, level slog.Level) bool {
	return h.logger.Enabled(levelOf(level))
}

func levelOf(level slog.Level) Level {
	switch {
	case level < slog.LevelInfo:
		return LevelDebug
	case level < slog.LevelWarn:
		return LevelInfo
	case level < slog.LevelError:
		return LevelWarn
	case level < slog.LevelError+4:
		return LevelError
	}
	return LevelFatal
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	l := h.logger
	level := levelOf(r.Level)
	if !l.Enabled(level) || !l.out.keeps(level, r.Message) {
		return nil
	}
	e := l.begin(level, r.Message)
	e.at = r.Time // a zero one is the instant of Send
	e.calledAt = r.PC
	e.context(ctx)
	if l.callers && r.PC != 0 {
		e.str("caller", frameOf(r.PC).place)
	}
	if h.hidden || r.NumAttrs() == 0 {
		e.send()
		return nil
	}
	if len(h.pending) > 0 {
		h.addInGroups(e, r)
		return nil
	}
	r.Attrs(func(a slog.Attr) bool {
		e.attr(a)
		return true
	})
	e.send()
	return nil
}

// addInGroups adds a record's attributes, if there is one that is not
// empty, within the groups that wait for that, and sends the event.
func (h *handler) addInGroups(e *openEvent, r slog.Record) {
	attrs := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	if attrs = e.resolved(attrs); len(attrs) > 0 && e.openGroups(h.pending) {
		e.attrs(attrs)
	}
	e.send()
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	e := h.logger.With().open
	if e == nil {
		return h
	}
	if attrs = e.resolved(attrs); len(attrs) == 0 || h.hidden {
		e.release()
		return h
	}
	hidden := !e.openGroups(h.pending)
	if !hidden {
		e.attrs(attrs)
	}
	return &handler{logger: e.derive(), hidden: hidden}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	derived := *h
	derived.pending = append(slices.Clip(h.pending), name)
	return &derived
}

// resolved returns the attributes that are not empty, their values and those
// of their groups resolved, in as many groups as the line has bytes.
func (e *openEvent) resolved(attrs []slog.Attr) []slog.Attr {
	left := e.maxBytes
	return resolved(attrs, 0, &left)
}

// resolved returns the attributes that are not empty, their values and those
// of their groups resolved. Beyond maxDepth, and where no groups are left, which
// only one comes to that holds itself, there is an error text.
func resolved(attrs []slog.Attr, depth int, left *int) []slog.Attr {
	var full []slog.Attr
	for _, a := range attrs {
		switch a.Value = a.Value.Resolve(); {
		case depth > maxDepth:
			a.Value = slog.StringValue(faultText(tooDeeply, len(tooDeeply)))
		case a.Value.Kind() != slog.KindGroup:
		case *left == 0:
			a.Value = slog.StringValue(faultText(tooMany, len(tooMany)))
		default:
			*left--
			members := resolved(a.Value.Group(), depth+1, left)
			if len(members) == 0 {
				continue
			}
			a.Value = slog.GroupValue(members...)
		}
		if !a.Equal(slog.Attr{}) {
			full = append(full, a)
		}
	}
	return full
}

// openGroups begins groups that stay open to the end of data, and reports
// whether their members may be seen.
func (e *openEvent) openGroups(names []string) bool {
	for _, name := range names {
		e.beginData()
		if e.redacts(name) {
			e.beginField(name)
			return false
		}
		if e.notation == notationLTSV {
			e.prefix = append(append(e.prefix, name...), '.')
			continue
		}
		e.name(name)
		e.separator = '{'
		e.groups++
	}
	return true
}

// attrs adds attributes that are resolved.
func (e *openEvent) attrs(attrs []slog.Attr) {
	for _, a := range attrs {
		e.resolvedAttr(a)
	}
}

// attr adds an attribute.
func (e *openEvent) attr(a slog.Attr) {
	switch a.Value.Kind() {
	case slog.KindGroup, slog.KindLogValuer:
		e.attrs(e.resolved([]slog.Attr{a}))
	default:
		e.resolvedAttr(a)
	}
}

func (e *openEvent) resolvedAttr(a slog.Attr) {
	switch v := a.Value; v.Kind() {
	case slog.KindString:
		e.str(a.Key, v.String())
	case slog.KindInt64:
		e.int64(a.Key, v.Int64())
	case slog.KindUint64:
		e.uint64(a.Key, v.Uint64())
	case slog.KindFloat64:
		e.float(a.Key, v.Float64(), 64)
	case slog.KindBool:
		e.bool(a.Key, v.Bool())
	case slog.KindDuration:
		e.int64(a.Key, int64(v.Duration()))
	case slog.KindTime:
		e.time(a.Key, v.Time())
	case slog.KindGroup:
		e.attrGroup(a.Key, v.Group())
	default:
		e.attrAny(a)
	}
}

func (e *openEvent) attrGroup(key string, members []slog.Attr) {
	if key == "" {
		e.attrs(members)
		return
	}
	e.object(key, func(Event) error {
		e.attrs(members)
		return nil
	})
}

func (e *openEvent) attrAny(a slog.Attr) {
	v := a.Value.Any()
	if a.Key == "" && v == nil {
		return // the zero Attr
	}
	if err, ok := v.(error); ok && (a.Key == "err" || a.Key == "error") && e.atTop() && !e.redacts(a.Key) {
		e.err(err)
		return
	}
	e.any(a.Key, v)
}

// atTop reports whether the next field is one of data itself.
func (e *openEvent) atTop() bool { return e.depth == 0 && e.groups == 0 && len(e.prefix) == 0 }
