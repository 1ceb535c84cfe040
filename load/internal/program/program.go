// Package program compiles targets into requests that are ready to be sent.
package program

import (
	"fmt"
	"io"
	"strconv"
	"sync/atomic"

	"github.com/weirhq/weir/load/internal/random"
	"github.com/weirhq/weir/load/internal/request"
	"github.com/weirhq/weir/load/target"
)

// A Program is the compiled targets of a plan. Threads share it: only the number of its messages changes.
type Program struct {
	Origin    request.Origin
	Endpoints []Endpoint
	Hash      string // of the requests

	targets []compiled
	part    uint64 // of the plan, from 0
	shares  uint64 // parts of the plan
	joined  int64  // bytes of the file contents that are kept in heads

	_    [64]byte // a cache line between what only changes here and the fields above
	sent atomic.Uint64
}

// A Message is a request of HTTP/1.1: Head, and then the first Size bytes of File
// if that is not nil.
type Message struct {
	Head []byte // request line, fields, blank line, and the body if it is a text
	File io.ReaderAt
	Size int64

	Fixed    bool    // Head never changes; else it is valid until the script's next call
	NoBody   bool    // the response has no body, because the method is HEAD
	Endpoint int32   // index in the program's Endpoints
	Target   *string // the method and the path, with templates and without the query
	Cookie   string  // of Request, for the message of a user; "" for none

	scheme, address string // of the program's origin
}

// compiled is one target. If the message is fixed it is complete; otherwise the
// head is generated from front and body for each request.
type compiled struct {
	message Message
	front   request.Template // up to the blank line, or to the value of Content-Length
	body    request.Template // nil if front is the whole head
}

// Compile checks the targets and compiles them. It reads the files of their
// templates. With noKeepAlive each request asks the server to
// close the connection.
func Compile(targets []target.Target, noKeepAlive bool, find request.Find) (*Program, error) {
	p, all, err := compileAll(targets, noKeepAlive, &request.LineFiles{Find: find}, nil)
	if err != nil {
		return nil, err
	}
	var indexes []int32
	p.Endpoints, indexes = endpointsOf(targets, all)
	for i := range p.targets {
		p.targets[i].message.Endpoint = indexes[i]
	}
	return p, nil
}

// First returns the endpoint of the first target.
func (p *Program) First() Endpoint { return p.Endpoints[p.targets[0].message.Endpoint] }

// compileAll compiles the targets without their endpoints, and returns the parsed targets, too. begin, if not nil, is
// called before each of them.
func compileAll(targets []target.Target, noKeepAlive bool, files *request.LineFiles, begin func(i int)) (*Program, []*request.Parsed, error) {
	p := &Program{targets: make([]compiled, len(targets)), shares: 1}
	all := make([]*request.Parsed, len(targets))
	for i, t := range targets {
		if begin != nil {
			begin(i)
		}
		parsed, err := request.Parse(t.Method, t.URL, t.Header, request.Body(t.Body))
		if err == nil {
			err = parsed.ReadLines(files)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("load: target %d: %w", i+1, err)
		}
		all[i] = parsed
		if i == 0 {
			p.Origin = parsed.Location.Origin
		} else if o := parsed.Location.Origin; !o.Equal(p.Origin) {
			return nil, nil, &target.OriginsError{First: p.Origin.String(), Other: o.String(), Target: i + 1}
		}
		p.targets[i] = compile(parsed, noKeepAlive)
		name := parsed.Method + " " + pathPattern(t.URL[parsed.Location.Path:])
		p.targets[i].message.Target = &name
		if err := p.join(&p.targets[i].message); err != nil {
			return nil, nil, fmt.Errorf("load: target %d: %w", i+1, err)
		}
	}
	p.Hash = requestsHash(targets, all)
	return p, all, nil
}

// Divide makes the program one of several generators' parts of it, with a number from 0.
// It is called before the first script is made. Each part has its own numbers of requests and lines of files, and begins
// at its own place among the targets.
func (p *Program) Divide(part, parts int) { p.part, p.shares = uint64(part), uint64(parts) }

// Bodies from files are kept in memory up to these sizes.
const (
	maxJoined    = 4 << 20  // of one body
	maxJoinedAll = 64 << 20 // of all
)

// join appends a small body from a file to its head, so that it is not read for
// each request.
func (p *Program) join(m *Message) error {
	if m.File == nil || !m.Fixed || m.Size > maxJoined || p.joined+m.Size > maxJoinedAll {
		return nil
	}
	whole := make([]byte, len(m.Head)+int(m.Size))
	if n, err := m.File.ReadAt(whole[copy(whole, m.Head):], 0); n < int(m.Size) {
		return fmt.Errorf("reading the body at byte %d: %w", n, err)
	}
	p.joined += m.Size
	m.Head, m.File, m.Size = whole, nil, 0
	return nil
}

// compile lays out a request: default fields, then the target's fields in their
// order.
func compile(p *request.Parsed, noKeepAlive bool) compiled {
	var front request.Template
	add := func(texts ...string) { front = append(front, request.Literal(texts...)) }
	add(p.Method, " ")
	front = append(front, p.Path...)
	add(" HTTP/1.1\r\n")
	for _, d := range defaults(p, noKeepAlive) {
		add(d.Name, ": ", d.Value, "\r\n")
	}
	for _, f := range p.Fields {
		add(f.Name, ": ")
		front = append(front, f.Value...)
		add("\r\n")
	}
	c := compiled{message: Message{
		File: p.File, Size: p.Size, NoBody: p.Method == "HEAD",
		scheme: p.Location.Origin.Scheme, address: p.Location.Origin.Address(),
	}}
	text, fixed := p.Text.Fixed()
	switch {
	case !fixed:
		add("Content-Length: ")
		c.front, c.body = front.Joined(), p.Text.Joined()
		return c
	case p.File != nil:
		add("Content-Length: ", strconv.FormatInt(p.Size, 10), "\r\n\r\n")
	case len(text) > 0 || sendsLength(p.Method):
		add("Content-Length: ", strconv.Itoa(len(text)), "\r\n\r\n", string(text))
	default:
		add("\r\n")
	}
	if head, ok := front.Fixed(); ok {
		c.message.Head, c.message.Fixed = head, true
	} else {
		c.front = front.Joined()
	}
	return c
}

// defaults returns the default fields that the target does not set.
func defaults(p *request.Parsed, noKeepAlive bool) []target.Header {
	var fields []target.Header
	add := func(name, value string) {
		if !p.Has(name) {
			fields = append(fields, target.Header{Name: name, Value: value})
		}
	}
	add("Host", p.Location.Origin.HostPort())
	add("User-Agent", "weir-load")
	add("Accept", "*/*")
	if p.Location.Userinfo != "" {
		add("Authorization", "Basic "+p.Location.Userinfo)
	}
	if noKeepAlive {
		fields = append(fields, target.Header{Name: "Connection", Value: "close"})
	}
	return fields
}

// sendsLength reports whether a request of the method has a Content-Length even if
// its body is empty (RFC 9110 section 8.6).
func sendsLength(method string) bool {
	return method == "POST" || method == "PUT" || method == "PATCH"
}

// A Script generates the requests of a thread. It must not be shared by goroutines.
type Script struct {
	program *Program
	seed    uint64
	message Message // the last one that was not fixed
	buffer  []byte
}

// Script returns a script. All scripts of a program together send its targets in turn: the threads do not send equally
// many, and some of a list's targets would be sent more often than others if each thread had its own.
func (p *Program) Script(seed uint64) *Script { return &Script{program: p, seed: seed} }

// Next returns the next message of the program. The caller must not change it. A message
// that is not fixed is valid until the next call.
func (s *Script) Next() *Message {
	p, targets := s.program, uint64(len(s.program.targets))
	if targets == 1 && p.targets[0].message.Fixed {
		return &p.targets[0].message
	}
	n := p.sent.Add(1) - 1
	t := &p.targets[(n+targets*p.part/p.shares)%targets]
	if t.message.Fixed {
		return &t.message
	}
	seq, line := n*p.shares+p.part, n/targets*p.shares+p.part
	random := random.New(s.seed, seq)
	s.message = t.message
	s.buffer, s.message.Head = t.fill(s.buffer[:0], seq, line, &random, nil)
	return &s.message
}

// fill appends the head of a message that is not fixed. It returns the buffer and the head in it.
func (c *compiled) fill(b []byte, seq, line uint64, random *random.Source, values []string) (buffer, head []byte) {
	b = c.front.Append(b, seq, line, random, values)
	if c.body == nil {
		return b, b
	}
	return c.appendBody(b, seq, line, random, values)
}

// lengthSize is the size of the longest Content-Length with the blank line after it.
const lengthSize = len("9223372036854775807\r\n\r\n")

// appendBody appends a body with templates. Its length is known only after it was
// generated, but precedes it. So a gap is left for the longest length, and then
// the head, which is short, moves up to the actual one:
//
//	before  POST / HTTP/1.1 … Content-Length: ______________body
//	after   ______________POST / HTTP/1.1 … Content-Length: 4body
//
// It returns the buffer and the message in it.
func (c *compiled) appendBody(b []byte, seq, line uint64, random *random.Source, values []string) (buffer, head []byte) {
	var space [lengthSize]byte
	front := len(b)
	start := front + lengthSize
	b = c.body.Append(append(b, space[:]...), seq, line, random, values)

	length := strconv.AppendInt(space[:0], int64(len(b)-start), 10)
	length = append(length, "\r\n\r\n"...)
	copy(b[start-len(length):], length)
	gap := lengthSize - len(length)
	copy(b[gap:], b[:front])
	return b, b[gap:]
}
