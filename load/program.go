package load

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
)

// A program is a Plan's targets, checked and made ready to be sent. Threads share
// it. Nothing of it changes but the targets' counters of lines.
type program struct {
	origin  origin
	targets []compiled
	joined  int64 // bytes of bodies from files that heads hold

	endpoints []endpoint
	hash      string // of the requests
}

// A message is a request as HTTP/1.1 has it: head, and then the first size
// bytes of file when that is not nil.
type message struct {
	head []byte // request line, fields, blank line, and the body when it is a text
	file io.ReaderAt
	size int64

	fixed  bool // head stays as it is for ever; else until the script's next call
	noBody bool // the answer has no body, whatever it says: the method is HEAD

	scheme, address string // of the program's origin
	endpoint        int32  // an index of the program's
}

// compiled is one target. Its message is all there is when it is fixed;
// otherwise the head is made of front and body for each request.
type compiled struct {
	message message
	front   template // up to the blank line, or to the value of Content-Length
	body    template // nil when front holds all

	// lines is the number of requests that have taken a line of the target's files;
	// nil without such files. Threads do not send equally many requests, so that no
	// thread can have lines of its own.
	lines *atomic.Uint64
}

// compile checks the targets and makes a program of them. Files that their
// templates name are read, below the folder. With noKeepAlive each request asks
// the server to close the connection.
func compile(targets []Target, noKeepAlive bool, folder string) (*program, error) {
	p := &program{targets: make([]compiled, len(targets))}
	files := &lineFiles{folder: folder}
	all := make([]*parsedTarget, len(targets))
	for i := range targets {
		parsed, err := parseTarget(&targets[i])
		if err == nil {
			err = parsed.resolve(files)
		}
		all[i] = parsed
		if err != nil {
			return nil, fmt.Errorf("load: target %d: %w", i+1, err)
		}
		if i == 0 {
			p.origin = parsed.location.origin
		} else if o := parsed.location.origin; !o.equal(p.origin) {
			return nil, fmt.Errorf("load: the targets have several origins: %v (target 1) and %v (target %d); a run has one, which load.Rebase gives them all",
				p.origin, o, i+1)
		}
		p.targets[i] = parsed.compile(noKeepAlive)
		if parsed.hasLines() {
			p.targets[i].lines = new(atomic.Uint64)
		}
		if err := p.join(&p.targets[i].message); err != nil {
			return nil, fmt.Errorf("load: target %d: %w", i+1, err)
		}
	}
	p.setEndpoints(targets, all)
	p.hash = requestsHash(targets, all)
	return p, nil
}

// Bodies from files are read once when they are small, and not too many.
const (
	maxJoined    = 4 << 20
	maxJoinedAll = 64 << 20
)

// join puts a small body from a file behind its head, so that it need not be
// read for each request.
func (p *program) join(m *message) error {
	if m.file == nil || !m.fixed || m.size > maxJoined || p.joined+m.size > maxJoinedAll {
		return nil
	}
	whole := make([]byte, len(m.head)+int(m.size))
	if n, err := m.file.ReadAt(whole[copy(whole, m.head):], 0); n < int(m.size) {
		return fmt.Errorf("reading the body at byte %d: %w", n, err)
	}
	p.joined += m.size
	m.head, m.file, m.size = whole, nil, 0
	return nil
}

// compile lays the request out. The fields come in the order that they were
// given in, behind those that every request has.
func (p *parsedTarget) compile(noKeepAlive bool) compiled {
	var front template
	add := func(texts ...string) {
		front = append(front, templatePart{text: []byte(strings.Join(texts, ""))})
	}
	add(p.method, " ")
	front = append(front, p.path...)
	add(" HTTP/1.1\r\n")
	for _, d := range p.defaults(noKeepAlive) {
		add(d.Name, ": ", d.Value, "\r\n")
	}
	for _, f := range p.fields {
		add(f.name, ": ")
		front = append(front, f.value...)
		add("\r\n")
	}
	c := compiled{message: message{
		file: p.file, size: p.size, noBody: p.method == "HEAD",
		scheme: p.location.origin.scheme, address: p.location.origin.address(),
	}}
	text, fixed := p.text.fixed()
	switch {
	case !fixed:
		add("Content-Length: ")
		c.front, c.body = front.joined(), p.text.joined()
		return c
	case p.file != nil:
		add("Content-Length: ", strconv.FormatInt(p.size, 10), "\r\n\r\n")
	case len(text) > 0 || p.wantsBody():
		add("Content-Length: ", strconv.Itoa(len(text)), "\r\n\r\n", string(text))
	default:
		add("\r\n")
	}
	if head, ok := front.fixed(); ok {
		c.message.head, c.message.fixed = head, true
	} else {
		c.front = front.joined()
	}
	return c
}

// defaults are the fields that the target does not have itself.
func (p *parsedTarget) defaults(noKeepAlive bool) []Header {
	var fields []Header
	add := func(name, value string) {
		if !p.has(name) {
			fields = append(fields, Header{name, value})
		}
	}
	add("Host", p.location.origin.hostport())
	add("User-Agent", "weir-load")
	add("Accept", "*/*")
	if p.location.userinfo != "" {
		add("Authorization", "Basic "+p.location.userinfo)
	}
	if noKeepAlive {
		fields = append(fields, Header{"Connection", "close"})
	}
	return fields
}

// wantsBody tells of the methods that say what their body is even when it is
// empty, RFC 9110 section 8.6.
func (p *parsedTarget) wantsBody() bool {
	return p.method == "POST" || p.method == "PUT" || p.method == "PATCH"
}

// A script is one thread's part of a program. It belongs to one goroutine.
type script struct {
	program *program
	seed    uint64
	thread  uint64
	threads uint64
	sent    uint64  // messages so far
	message message // the last one that was not fixed
	buffer  []byte
}

// script returns the messages of a thread, of which the i-th is the request
// number i*threads+thread of the run. Each thread takes the targets in turn, from
// another one on than its neighbour: threads do not send equally many.
func (p *program) script(thread, threads int, seed uint64) *script {
	return &script{program: p, seed: seed, thread: uint64(thread), threads: uint64(threads)}
}

// next returns the thread's next message. It may not be changed; what is not
// fixed is the caller's until the next call.
func (s *script) next() *message {
	n, targets := s.sent, uint64(len(s.program.targets))
	s.sent++
	target := &s.program.targets[(s.thread+n)%targets]
	if target.message.fixed {
		return &target.message
	}
	seq := n*s.threads + s.thread
	var line uint64
	if target.lines != nil {
		line = target.lines.Add(1) - 1
	}
	random := requestRandom(s.seed, seq)
	s.message = target.message
	b := target.front.append(s.buffer[:0], seq, line, &random)
	if target.body == nil {
		s.buffer, s.message.head = b, b
		return &s.message
	}
	s.buffer, s.message.head = target.appendBody(b, seq, line, &random)
	return &s.message
}

// lengthRoom holds the longest Content-Length and the blank line after it.
const lengthRoom = len("9223372036854775807\r\n\r\n")

// appendBody completes a message whose body has templates. How long it is, is
// known only when it was made, and its length stands before it: between the two
// there is room for the longest one, and the head, which is short, moves up to
// its length.
//
//	before  POST / HTTP/1.1 … Content-Length: ______________body
//	after   ______________POST / HTTP/1.1 … Content-Length: 4body
//
// It returns the buffer, and the message in it.
func (c *compiled) appendBody(b []byte, seq, line uint64, random *random) (buffer, head []byte) {
	var room [lengthRoom]byte
	front := len(b)
	start := front + lengthRoom
	b = c.body.append(append(b, room[:]...), seq, line, random)

	length := strconv.AppendInt(room[:0], int64(len(b)-start), 10)
	length = append(length, "\r\n\r\n"...)
	copy(b[start-len(length):], length)
	gap := lengthRoom - len(length)
	copy(b[gap:], b[:front])
	return b, b[gap:]
}
