package files

const (
	// leastSent is the length from which a part of a file is sent by sendfile(2). A shorter one is
	// read, and sent in one write with the head.
	leastSent = 32 << 10
	// mostSent is how much is sent at once.
	mostSent = 1 << 20
)

// Range implements proxying.FileBody.
func (b *fileBody) Range() (fd int, at int64, n int) {
	part := b.next()
	if part == nil || part.Text != "" || part.Length < leastSent && !b.sends {
		return 0, 0, 0
	}
	n = int(min(part.Length, mostSent))
	if !b.file.Cached(part.From, n) {
		n = b.fetch(part.From, n)
	}
	return b.file.Descriptor(), part.From, n
}

func (b *fileBody) fetch(at int64, n int) (fetched int) {
	b.x.Block(func() { fetched = b.file.Fetch(at, n) })
	return fetched
}

// Skip implements proxying.FileBody.
func (b *fileBody) Skip(n int) {
	if n > 0 {
		part := &b.parts[0]
		part.From += int64(n)
		part.Length -= int64(n)
		b.sends = true
	}
}
