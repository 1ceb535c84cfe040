package answer

// A Memory keeps the last head that came in one piece, and what it said. Its
// zero value is empty. It is for one goroutine.
type Memory struct {
	head   []byte
	noBody bool
	done   bool
	then   Parser // after the head
}

// mostRemembered is how long a head may be that is kept.
const mostRemembered = 4 << 10

// firstHead takes the head that b begins with, if the Parser has a Memory: at
// once, when the Memory has the same one.
func (p *Parser) firstHead(b []byte, noBody bool) (n int, done bool, err error) {
	m := p.Memory
	if m == nil {
		return 0, false, nil
	}
	if h := len(m.head); h > 0 && h <= len(b) && m.noBody == noBody && string(b[:h]) == string(m.head) {
		carry := p.carry
		*p = m.then
		p.Memory, p.carry = m, carry
		return h, m.done, nil
	}
	n, done, err = p.head(b, noBody)
	if whole := done || p.stage > fieldLines; whole && err == nil && n <= mostRemembered {
		m.head = append(m.head[:0], b[:n]...)
		m.noBody, m.done, m.then = noBody, done, *p
	}
	return n, done, err
}
