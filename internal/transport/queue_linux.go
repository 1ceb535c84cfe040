package transport

// A runnable is a coroutine to resume, or an idle connection to handle.
type runnable interface{ run() }

// A queue holds runnables in a ring buffer.
type queue struct {
	ring    []runnable // its length is a power of two
	head, n int
}

func (q *queue) push(r runnable) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = r
	q.n++
}

func (q *queue) pushFront(r runnable) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.head = (q.head - 1) & (len(q.ring) - 1)
	q.ring[q.head] = r
	q.n++
}

func (q *queue) grow() {
	ring := make([]runnable, max(2*len(q.ring), 64))
	n := copy(ring, q.ring[q.head:])
	copy(ring[n:], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

func (q *queue) pop() runnable {
	r := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return r
}
