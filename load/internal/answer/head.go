package answer

import "bytes"

// head reads the lines of a head in b. done reports that the answer has ended, because it
// has no body.
func (p *Parser) head(b []byte, noBody bool) (n int, done bool, err error) {
	for n < len(b) {
		line, took, whole := p.line(b[n:])
		n += took
		if p.size > maxHead {
			return n, false, p.bad("the head is longer than 64 KiB", line)
		}
		switch {
		case !whole:
			return n, false, p.checkStart(line)
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

// statusLine reads a line such as "HTTP/1.1 200 OK". The reason is ignored.
func (p *Parser) statusLine(line []byte) error {
	const shape = "HTTP/1.1 200"
	if len(line) < len(start) || string(line[:len(start)]) != start {
		return p.bad("it does not begin as HTTP/1", line)
	}
	if len(line) < len(shape) || !isDigit(line[7]) || line[8] != ' ' ||
		len(line) > len(shape) && line[len(shape)] != ' ' {
		return p.bad("there is no version and status of three digits", line)
	}
	for _, c := range line[9:12] {
		if !isDigit(c) {
			return p.bad("the status is not a number", line)
		}
		p.status = 10*p.status + int16(c-'0')
	}
	switch {
	case p.status < 100:
		return p.bad("there is no status below 100", line)
	case p.status == 101:
		return p.bad("the request did not ask for another protocol", line)
	}
	p.old = line[7] == '0'
	p.stage = fieldLines
	return nil
}

// start is the beginning of every answer.
const start = "HTTP/1."

// checkStart returns an error if the beginning of a first line is not HTTP. A server of
// another protocol may never end the line.
func (p *Parser) checkStart(line []byte) error {
	n := min(len(line), len(start))
	if p.stage == statusLine && string(line[:n]) != start[:n] {
		return p.bad("it does not begin as HTTP/1", line)
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// field reads a line of the head after the first. It looks only at fields that determine
// the end of the answer or of the connection. The line is not empty.
func (p *Parser) field(line []byte) error {
	switch line[0] {
	case ' ', '\t':
		// A continuation of the previous line. If that has determined the end of the
		// answer, the meaning is unclear.
		if p.framing {
			return p.bad("a field that determines the end of the answer continues in another line", line)
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

// fieldValue returns the line after the name, with the colon; ok is false if the line has
// another field.
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

// equalFold compares and ignores the case of ASCII letters.
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

// colon removes the colon before a value. A space before the colon is an error (RFC 9112
// section 5.1), since implementations interpret it differently.
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
	for more := true; more && err == nil; { // a list
		var one []byte
		one, value, more = bytes.Cut(value, []byte{','})
		length, ok := decimal(trim(one))
		if !ok {
			return p.bad("the length is not a number up to 2^62", line)
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

// transferEncoding reads a list of codings. The last one determines the end of the body.
// The obsolete "identity" is ignored.
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

// endHead determines the body (RFC 9112 section 6.3). done reports that there is none.
func (p *Parser) endHead(noBody bool) (done bool) {
	if p.status < 200 {
		*p = Parser{Memory: p.Memory, carry: p.carry, size: p.size, length: -1, stage: statusLine}
		return false
	}
	p.close = p.close || p.old && !p.keepAlive
	if p.coding != notCoded && (p.length >= 0 || p.old) {
		// Two different ends of the body, or a coding that HTTP/1.0 does not have: an
		// intermediary may interpret the answer differently.
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

// trim removes the space around a value.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}
