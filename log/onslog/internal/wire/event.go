package wire

import (
	"strings"
	"time"
)

// An Event is one event before it is encoded. Its pointers and maps belong to
// the caller who logs; nothing keeps them beyond that call. See the package
// comment for why nothing here calls a method of an option.
type Event struct {
	CreatedAt time.Time
	Namespace string
	Event     string
	TraceID   string

	Severity    Severity
	HasSeverity bool

	Classification Classification

	HTTP *EventHTTP // without the two that follow
	Auth *EventAuth

	StatusCode *int
	Duration   *time.Duration

	Data    Data
	HasData bool // Data was given, be it nil

	Error  *EventError  // shape v1
	Errors *EventErrors // shape v2

	Ignored bool // an option is of a type that is not known here
}

// New returns an event of this moment. Of options of one kind the last counts.
func New(namespace, event string, opts []Option) Event {
	e := Event{CreatedAt: time.Now().UTC(), Namespace: namespace, Event: event}
	for _, o := range opts {
		switch o := o.(type) {
		case *HTTPOption:
			e.HTTP, e.StatusCode, e.Duration = &o.EventHTTP, &o.status, nil
			if o.timed {
				e.Duration = &o.took
			}
		case Data:
			e.Data, e.HasData = o, true
		case Severity:
			e.Severity, e.HasSeverity = o, true
		case Classification:
			e.Classification = o
		case *EventErrors:
			e.Errors = o
		case *EventError:
			e.Error = o
		case *EventAuth:
			e.Auth = o
		case *EventHTTP:
			if e.HTTP = o; o != nil {
				e.StatusCode, e.Duration = o.StatusCode, o.Duration
			}
		case nil:
		default: // it embeds one; not even its type can be kept at no cost
			e.Ignored = true
		}
	}
	return e
}

// Clone returns a copy of e with options of its own, on the heap, for whatever
// looks at it by reflection. No string, time or pointer of e itself is copied
// as it is: the compiler does not tell the fields of a struct apart, and to
// keep one of them is to send each option there is to the heap.
func (e *Event) Clone() *Event {
	c := &Event{
		CreatedAt:      time.Unix(0, e.CreatedAt.UnixNano()).UTC(),
		Namespace:      strings.Clone(e.Namespace),
		Event:          strings.Clone(e.Event),
		TraceID:        strings.Clone(e.TraceID),
		Severity:       e.Severity,
		HasSeverity:    e.HasSeverity,
		Classification: Classification(strings.Clone(string(e.Classification))),
		HTTP:           clone(e.HTTP),
		Auth:           clone(e.Auth),
		HasData:        e.HasData,
		Error:          clone(e.Error),
		Errors:         clone(e.Errors),
	}
	if c.HTTP != nil {
		c.HTTP.StatusCode, c.HTTP.Duration = clone(e.StatusCode), clone(e.Duration)
	}
	if e.Data != nil {
		c.Data = make(Data, len(e.Data))
		for k, v := range e.Data {
			c.Data[k] = v
		}
	}
	return c
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// SeverityPointer returns the severity for a struct that leaves it out when it
// is nil.
func (e *Event) SeverityPointer() *Severity {
	if !e.HasSeverity {
		return nil
	}
	return &e.Severity
}

// DataPointer returns the data for a struct that leaves it out when it is nil.
func (e *Event) DataPointer() *Data {
	if !e.HasData {
		return nil
	}
	return &e.Data
}
