package answer

// A Memory caches the last head that came in one piece, and the parser's state after it.
// The zero value is empty. Goroutines must not share a Memory.
type Memory struct {
	head   []byte
	noBody bool
	done   bool
	then   Parser // after the head
}

// mostRemembered is the longest head that is cached.
const mostRemembered = 4 << 10

// firstHead reads the head at the start of b, if the Parser has a Memory. A head that is
// in the Memory is only compared.
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
