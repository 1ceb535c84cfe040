package record

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/weirhq/weir/log/internal/text"
)

// The reasons why a line is not an event.
var (
	errNeither = errors.New("neither a JSON object nor LTSV")
	errNoName  = errors.New(`no text "event"`)
	errNoTime  = errors.New(`no text "created_at"`)
)

// rooms has memory for Nodes.
var rooms = sync.Pool{New: func() any { return new([]Node) }}

// keptNodes limits the Nodes for which memory is kept, to 48 KiB.
const keptNodes = 1024

// keep returns the memory of nodes for those of another line.
func keep(nodes []Node) []Node {
	if cap(nodes) > keptNodes {
		return nil
	}
	return nodes[:0]
}

// Parse parses a line, with or without its newline: a JSON object of either
// shape, or LTSV. A line is an event if it has the texts "event" and
// "created_at", or in LTSV the labels event and time. All other members are
// optional. For any other line Parse returns an error.
//
// LTSV does not have types. A value that looks like a number, true, false,
// null, an array or {} is parsed as that, and any other as a text. A label with
// dots becomes a key with dots. Written as LTSV again, the pairs are the same.
//
// The Record does not refer to line.
func Parse(line []byte) (Record, error) {
	room := rooms.Get().(*[]Node)
	p := parser{nodes: *room}
	err := p.parse(string(line))
	*room = keep(p.nodes)
	rooms.Put(room)
	if err != nil {
		return Record{}, fmt.Errorf("not an event: %w", err)
	}
	return p.record, nil
}

// A Reader parses one line after the other into the same Record. It allocates
// less than [Parse], and can omit members that the caller does not need. The zero
// value reads all members. It is for one goroutine at a time.
type Reader struct {
	omitted set
	parser  parser
	http    HTTP
	auth    Auth
	data    []Field
}

// NewReader returns a Reader for the members with these names, such as
// "created_at", "http.status_code" and "data". Its Records may lack other
// members. They have HTTP if the event has it and one of its members is named,
// and so with Auth. Without a name, or with one that the format does not know,
// the Reader reads all members.
func NewReader(names ...string) *Reader {
	r := new(Reader)
	if wanted, ok := setOf(names); ok && len(names) > 0 {
		r.omitted = ^wanted
	}
	return r
}

// Parse is [Parse] for a Record that is valid until the next call, and only while
// line does not change.
func (r *Reader) Parse(line []byte) (*Record, error) {
	r.parser = parser{omitted: r.omitted, reader: r, nodes: keep(r.parser.nodes)}
	if err := r.parser.parse(text.View(line)); err != nil {
		return nil, err
	}
	return &r.parser.record, nil
}

// Nodes returns the members of a line that is a JSON object, an event or not:
// each member, and after it the Nodes within it. They are valid until the next
// call, and only while line does not change.
func (r *Reader) Nodes(line []byte) (nodes []Node, err error) {
	r.parser.nodes, err = appendNodes(keep(r.parser.nodes), text.View(line))
	return r.parser.nodes, err
}

// A parser reads one line.
type parser struct {
	record                 Record
	omitted                set     // members that are checked but not read; unless empty, unknown ones too
	reader                 *Reader // the owner of the memory that the record uses, or nil
	nodes                  []Node  // of the line, if it is JSON
	next                   int     // index in keys after the last key that was found
	hasEvent, hasCreatedAt bool
	hasErrors              bool   // whether "errors" was read, as opposed to "error"
	failure                *Error // the error that the next pairs of LTSV belong to
}

func (p *parser) parse(line string) error {
	s := strings.TrimSuffix(line, "\n")
	trimmed := strings.TrimLeft(s, " \t\r")
	switch {
	case strings.HasPrefix(trimmed, "{"):
		if err := p.parseJSON(trimmed); err != nil {
			return err
		}
	case strings.Contains(s, ":"):
		if err := p.parseLTSV(strings.TrimSuffix(s, "\r")); err != nil {
			return err
		}
	default:
		return errNeither
	}
	switch {
	case !p.hasEvent:
		return errNoName
	case !p.hasCreatedAt:
		return errNoTime
	}
	return nil
}

// saw notes that the key with that index had a text.
func (p *parser) saw(place int) {
	p.hasCreatedAt = p.hasCreatedAt || place == keyCreatedAt
	p.hasEvent = p.hasEvent || place == keyEvent
}

// http returns the HTTP of the record, and creates it if there is none.
func (p *parser) http() *HTTP {
	if p.record.HTTP != nil {
		return p.record.HTTP
	}
	if p.reader == nil {
		p.record.HTTP = new(HTTP)
	} else {
		p.reader.http = HTTP{}
		p.record.HTTP = &p.reader.http
	}
	return p.record.HTTP
}

// auth returns the Auth of the record, and creates it if there is none.
func (p *parser) auth() *Auth {
	if p.record.Auth != nil {
		return p.record.Auth
	}
	if p.reader == nil {
		p.record.Auth = new(Auth)
	} else {
		p.reader.auth = Auth{}
		p.record.Auth = &p.reader.auth
	}
	return p.record.Auth
}
