package otlpsink

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirhq/weir/log/record"
)

// The members of data and http that are fields of a span.
const (
	memberParent    = "parent_span_id"
	memberKind      = "span_kind"
	memberStarted   = "started_at"
	memberEnded     = "ended_at"
	memberDuration  = "duration"
	memberErrorType = "error.type" // also an attribute, by the conventions
)

// The values of fields of a span.
const (
	kindInternal = 1
	kindServer   = 2
	kindClient   = 3

	statusError = 2

	flagSampled   = 1
	flagHasRemote = 1 << 8 // the next flag is valid
	flagRemote    = 1 << 9 // the parent is a span of another process
)

// span appends the fields of the span of an event.
func (e *encoder) span(members []record.Node) {
	e.rest = rest{}
	e.each(members, (*encoder).spanMember)
	e.putIDs(spanTraceID, spanSpanID)
	s := &e.rest.span
	if s.started == 0 {
		s.started = e.rest.created
	}
	e.buf = appendFixed64(e.buf, spanStart, s.started)
	e.buf = appendFixed64(e.buf, spanEnd, max(s.ended, s.started))
	e.putRelation()
	e.putStatus()
}

func (e *encoder) spanMember(m []record.Node) {
	text, isText := m[0].Text()
	isObject := m[0].Value[0] == '{'
	switch key := m[0].Key; {
	case key == "http" && isObject:
		e.each(m[1:], (*encoder).spanHTTP)
	case key == "data" && isObject:
		e.each(m[1:], (*encoder).spanData)
	case key == "event" && isText:
		e.buf = appendText(e.buf, spanName, text)
	case key == "severity":
	default:
		e.member(m)
	}
}

func (e *encoder) spanHTTP(m []record.Node) {
	text, _ := m[0].Text()
	at, isTime := timeOf(text)
	switch key := m[0].Key; {
	case key == memberStarted && isTime:
		e.rest.span.started = at
	case key == memberEnded && isTime:
		e.rest.span.ended = at
	case key == memberDuration:
	default:
		e.http(m)
	}
}

func (e *encoder) spanData(m []record.Node) {
	text, isText := m[0].Text()
	switch key := m[0].Key; {
	case key == memberParent && isText:
		e.rest.span.parent = text
	case key == memberKind && isText:
		e.rest.span.kind = text
	default:
		e.rest.span.failed = e.rest.span.failed || key == memberErrorType
		e.data(m)
	}
}

// putRelation appends the kind of the span, its parent and its flags. The parent of a span of a server is in another
// process.
func (e *encoder) putRelation() {
	s := &e.rest.span
	kind, flags := uint64(kindInternal), uint32(flagSampled|flagHasRemote)
	switch s.kind {
	case "server":
		kind = kindServer
	case "client":
		kind = kindClient
	}
	if s.parent != "" {
		if e.id = append(e.id[:0], s.parent...); !e.putID(spanParent, 8) {
			e.putText(prefixEvent, memberParent, s.parent)
		} else if kind == kindServer {
			flags |= flagRemote
		}
	}
	e.buf = appendVarint(e.buf, spanKind, kind)
	e.buf = protowire.AppendFixed32(protowire.AppendTag(e.buf, spanFlags, protowire.Fixed32Type), flags)
}

// putStatus appends the status of a span. One with an error.type has failed; its first error is the reason.
func (e *encoder) putStatus() {
	if !e.rest.span.failed {
		e.putErrors()
		return
	}
	var status int
	e.buf, status = open(e.buf, spanStatus)
	if errors := e.rest.errors; len(errors) > 1 {
		for i := 2; i < 2+errors[1].Inner; i += 1 + errors[i].Inner {
			if text, ok := errors[i].Text(); ok && errors[i].Key == "message" {
				e.buf = appendText(e.buf, statusMessageField, text)
			}
		}
	}
	e.buf = shut(appendVarint(e.buf, statusCode, statusError), status)
}
