package log

const (
	firstBuffer     = 1 << 10
	maxPooledBuffer = 64 << 10 // larger buffers are not kept
)

// recycle empties b, or drops it if it is too big to keep.
func recycle(b *[]byte) {
	if cap(*b) > maxPooledBuffer {
		*b = nil
	}
	*b = (*b)[:0]
}

// clip shortens a text to maxBytes. More than that never fits into an event, so
// the buffer need not hold it.
func clip[T string | []byte](value T, maxBytes int) T {
	if len(value) > maxBytes {
		return value[:maxBytes]
	}
	return value
}
