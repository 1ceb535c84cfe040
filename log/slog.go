package log

import (
	"context"
	"log/slog"
	"slices"
)

// Handler returns a handler for log/slog that writes to this logger:
//
//	slog.SetDefault(slog.New(logger.Handler()))
//
// The message becomes the event, attributes become fields of data, and groups
// become objects in it. An error under the key "err" or "error", outside of
// groups, is added as by [Event.Err]. Levels below slog.LevelInfo are debug,
// and so on; slog.LevelError+4 and above are fatal, which does not exit.
// Attributes of WithAttrs are encoded once.
//
// Each event gets the trace id of the logger in its context, in a request usually set
// by package httplog, and the data of [Options.Context]. If the logger adds callers,
// the caller is the caller of slog. These fields are outside of groups, before the
// first open one. A Handler is safe for concurrent use.
func (l *Logger) Handler() slog.Handler { return &handler{logger: l} }

// A handler is a slog.Handler.
type handler struct {
	logger  *Logger    // has the attributes outside of groups
	groups  groupsText // open groups with attributes
	pending []string   // open groups without an attribute so far, inside of groups
	hidden  bool       // an open group is redacted: its members are dropped
}

// A groupsText is the encoded text of groups that stay open to the end of data. It
// is apart from the logger, because the fields of a context come before it.
type groupsText struct {
	text   string // from the separator before the outermost group on; empty: no group
	groups int    // JSON: number of open groups
	prefix string // LTSV: label prefix of the groups
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
	if !l.Enabled(level) || !l.out.sample(level, r.Message) {
		return nil
	}
	e := l.begin(level, r.Message)
	e.at = r.Time // zero means the time of Send
	e.calledAt = r.PC
	e.context(ctx)
	if l.callers && r.PC != 0 {
		e.str("caller", frameOf(r.PC).place)
	}
	e.addGroups(&h.groups)
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

// addInGroups adds the attributes of a record that are not empty, opens the
// pending groups if there are any, and sends the event.
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
	if h.groups.text == "" && len(h.pending) == 0 {
		e.attrs(attrs)
		return &handler{logger: e.derive()}
	}
	e.beginData()
	from := len(e.buf)
	e.addGroups(&h.groups)
	hidden := !e.openGroups(h.pending)
	if !hidden {
		e.attrs(attrs)
	}
	groups := groupsText{string(e.buf[from:]), e.groups, string(e.prefix)}
	e.release()
	return &handler{logger: h.logger, groups: groups, hidden: hidden}
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

// resolved returns the attributes that are not empty, with all values resolved,
// and at most as many groups as the line can have bytes.
func (e *openEvent) resolved(attrs []slog.Attr) []slog.Attr {
	left := e.maxBytes
	return resolved(attrs, 0, &left)
}

// resolved returns the attributes that are not empty, with all values resolved.
// Values deeper than maxDepth, and groups beyond left, become an error text.
// Only a value that contains itself has that many.
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

// addGroups adds the text of open groups. Its separator depends on the fields before.
func (e *openEvent) addGroups(g *groupsText) {
	if g.text == "" {
		return
	}
	e.beginData()
	from := len(e.buf)
	e.buf = append(e.buf, g.text...)
	if e.notation == notationJSON {
		e.buf[from] = e.separator
	}
	e.separator = ','
	e.groups, e.prefix = g.groups, append(e.prefix, g.prefix...)
}

// openGroups opens groups that stay open to the end of data. It reports false
// if one of them is redacted.
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

// attrs adds resolved attributes.
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

// atTop reports whether the next field is directly in data.
func (e *openEvent) atTop() bool { return e.depth == 0 && e.groups == 0 && len(e.prefix) == 0 }
