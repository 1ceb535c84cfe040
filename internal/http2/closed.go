package http2

// An ending is how a stream has ended.
type ending uint8

const (
	unknownEnding ending = iota
	endedBoth            // both sides have sent END_STREAM
	endedByUs            // this side has sent RST_STREAM, so frames may still arrive
	endedByPeer          // the peer has sent RST_STREAM
)

// A closedRing remembers the streams that have ended last. RFC 9113, section 5.1,
// distinguishes them from those that were never opened.
type closedRing struct {
	ids  [32]uint32
	how  [32]ending
	next uint8
}

func (r *closedRing) add(id uint32, how ending) {
	r.ids[r.next], r.how[r.next] = id, how
	r.next = (r.next + 1) % uint8(len(r.ids))
}

// ending returns how a stream has ended, if that is known.
func (r *closedRing) ending(id uint32) ending {
	for i, known := range r.ids {
		if known == id {
			return r.how[i]
		}
	}
	return unknownEnding
}
