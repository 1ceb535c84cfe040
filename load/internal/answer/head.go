package answer

import "bytes"

// head takes the lines of a head, as far as b has them. The answer is done when
// it has no body.
func (p *Parser) head(b []byte, noBody bool) (n int, done bool, err error) {
	for n < len(b) {
		line, took, whole := p.line(b[n:])
		n += took
		if p.size > maxHead {
			return n, false, p.bad("the head is longer than 64 KiB", line)
		}
		switch {
		case !whole:
			return n, false, p.promising(line)
		case p.stage == statusLine:
			err = p.statusLine(line)
		case len(line) > 0:
			err = p.field(line)
		default:
			return n, p.endHead(noBody), nil
		}
		if err != nil {
			return n, false, err
		}
		p.lines++
	}
	return n, false, nil
}

// statusLine reads "HTTP/1.1 200 OK"; of the reason nothing matters.
func (p *Parser) statusLine(line []byte) error {
	const shape = "HTTP/1.1 200"
	if len(line) < len(start) || string(line[:len(start)]) != start {
		return p.bad("it does not begin as HTTP/1", line)
	}
	if len(line) < len(shape) || !isDigit(line[7]) || line[8] != ' ' || len(line) > len(shape) && line[len(shape)] != ' ' {
		return p.bad("there is no version and status of three digits", line)
	}
	for _, c := range line[9:12] {
		if !isDigit(c) {
			return p.bad("the status is no number", line)
		}
		p.status = 10*p.status + int16(c-'0')
	}
	switch {
	case p.status < 100:
		return p.bad("there is no status below 100", line)
	case p.status == 101:
		return p.bad("nobody asked for another protocol", line)
	}
	p.old = line[7] == '0'
	p.stage = fieldLines
	return nil
}

// start is how an answer begins.
const start = "HTTP/1."

// promising tells early, of a first line that has not ended, that it is none of
// an answer: who does not speak HTTP may never end a line.
func (p *Parser) promising(line []byte) error {
	n := min(len(line), len(start))
	if p.stage == statusLine && string(line[:n]) != start[:n] {
		return p.bad("it does not begin as HTTP/1", line)
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// field reads a line of the head after the first, when it is one that says
// where the answer or the connection ends. It is not empty.
func (p *Parser) field(line []byte) error {
	switch line[0] {
	case ' ', '\t':
		// The line before goes on. What it would mean for a field that matters
		// is not worth a guess.
		if p.framing {
			return p.bad("a field that says where the answer ends goes on in another line", line)
		}
		return nil
	case 'C', 'c':
		p.framing = false
		if value, ok := fieldValue(line, "Content-Length"); ok {
			return p.contentLength(line, value)
		}
		if value, ok := fieldValue(line, "Connection"); ok {
			return p.connection(line, value)
		}
	case 'T', 't':
		p.framing = false
		if value, ok := fieldValue(line, "Transfer-Encoding"); ok {
			return p.transferEncoding(line, value)
		}
	default:
		p.framing = false
	}
	return nil
}

// fieldValue returns what follows a field's name, the colon with it, when it is
// the field called name.
func fieldValue(line []byte, name string) (value []byte, ok bool) {
	if len(line) <= len(name) || !endsName(line[len(name)]) {
		return nil, false
	}
	if got := line[:len(name)]; string(got) != name && !equalFold(got, name) {
		return nil, false
	}
	return line[len(name):], true
}

func endsName(c byte) bool { return c == ':' || c == ' ' || c == '\t' }

// equalFold compares without regard to the case of ASCII letters.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if lower(c) != lower(s[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// colon takes the colon from before a value. A space between it and the name is
// refused by RFC 9112 section 5.1, and readers do not agree about it.
func (p *Parser) colon(line, value []byte) ([]byte, error) {
	p.framing = true
	if value[0] != ':' {
		return nil, p.bad("there is no colon after the field's name", line)
	}
	return value[1:], nil
}

func (p *Parser) contentLength(line, value []byte) error {
	value, err := p.colon(line, value)
	if err != nil {
		return err
	}
	if length, ok := decimal(trim(value)); ok {
		return p.setLength(line, length)
	}
	for more := true; more && err == nil; { // a list, which is rare
		var one []byte
		one, value, more = bytes.Cut(value, []byte{','})
		length, ok := decimal(trim(one))
		if !ok {
			return p.bad("the length is no number up to 2^62", line)
		}
		err = p.setLength(line, length)
	}
	return err
}

func (p *Parser) setLength(line []byte, length int64) error {
	if p.length >= 0 && p.length != length {
		return p.bad("there are two lengths", line)
	}
	p.length = length
	return nil
}

func (p *Parser) connection(line, value []byte) error {
	value, err := p.colon(line, value)
	for more := err == nil; more; {
		var option []byte
		option, value, more = bytes.Cut(value, []byte{','})
		option = trim(option)
		p.close = p.close || equalFold(option, "close")
		p.keepAlive = p.keepAlive || equalFold(option, "keep-alive")
	}
	return err
}

// transferEncoding reads a list of codings. The last one of all says how the
// body ends; "identity", of old, says nothing.
func (p *Parser) transferEncoding(line, value []byte) error {
	value, err := p.colon(line, value)
	for more := err == nil; more; {
		var one []byte
		one, value, more = bytes.Cut(value, []byte{','})
		one, _, _ = bytes.Cut(one, []byte{';'})
		switch one = trim(one); {
		case len(one) == 0 || equalFold(one, "identity"):
		case equalFold(one, "chunked"):
			p.coding = chunked
		default:
			p.coding = unknownCoding
		}
	}
	return err
}

// endHead decides what follows a head, as RFC 9112 section 6.3 has it, and
// whether that is nothing.
func (p *Parser) endHead(noBody bool) (done bool) {
	if p.status < 200 {
		*p = Parser{Memory: p.Memory, carry: p.carry, size: p.size, length: -1, stage: statusLine}
		return false
	}
	p.close = p.close || p.old && !p.keepAlive
	if p.coding != notCoded && (p.length >= 0 || p.old) {
		// Two ways to say where the body ends, or one that HTTP/1.0 does not
		// know: someone on the way may take the other.
		p.close = true
	}
	switch {
	case noBody || p.status == 204 || p.status == 304:
		return true
	case p.coding == chunked:
		p.stage, p.size = chunkSize, 0
	case p.coding == unknownCoding || p.length < 0:
		p.stage, p.close = streamBody, true
	default:
		p.stage, p.left = body, p.length
	}
	return p.stage == body && p.length == 0
}

// decimal reads a number up to maxLength.
func decimal(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if !isDigit(c) || n > (maxLength-int64(c-'0'))/10 {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(b) > 0
}

// trim takes the space away that may stand around a value.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}
