package response

// A Memory caches the last head that came in one piece, and the parser's state after it.
// The zero value is empty. Goroutines must not share a Memory.
type Memory struct {
	head   []byte
	noBody bool
	done   bool
	then   state // after the head
}

// mostRemembered is the longest head that is cached.
const mostRemembered = 4 << 10

// firstHead begins a response and reads the head at the start of b. A head that is in the
// Memory is only compared.
func (p *Parser) firstHead(b []byte, noBody bool) (n int, done bool, err error) {
	m := p.Memory
	if m != nil {
		if h := len(m.head); h > 0 && h <= len(b) && m.noBody == noBody && string(b[:h]) == string(m.head) {
			if p.state = m.then; p.stage == chunkBody {
				p.chunks.MaxFields = maxHead
				p.chunks.Reset()
			}
			return h, m.done, nil
		}
	}
	p.begin()
	n, done, err = p.feedHead(b, noBody)
	if whole := done || p.stage > inHead; m != nil && whole && err == nil && n <= mostRemembered {
		m.head = append(m.head[:0], b[:n]...)
		m.noBody, m.done, m.then = noBody, done, p.state
	}
	return n, done, err
}
