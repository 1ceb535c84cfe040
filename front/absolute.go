package front

import (
	"bytes"
	"strings"
)

// heads looks at what a client sends and keeps a copy of a head that begins
// with a target in absolute form: net/http lets such a target override the
// Host without a word, and a door must see both. Bodies are not looked at. A
// head that came in one read with the one before is not seen either, and its
// request is refused.
type heads struct {
	kind headKind // of the head that is being read
	head []byte   // its beginning, while it is unknown or absolute
}

type headKind uint8

const (
	headUnknown  headKind = iota // too short to tell
	headOrdinary                 // in origin form, or none at all
	headAbsolute                 // its target begins like a URL
	headHTTP2                    // the preface of HTTP/2: no other head will follow
)

// look is shown what is read while a head is.
func (h *heads) look(p []byte) {
	switch h.kind {
	case headUnknown:
		if len(h.head) > 0 {
			h.head = append(h.head, p...)
			p = h.head
		}
		if h.kind = kindOfHead(p); len(h.head) == 0 && (h.kind == headUnknown || h.kind == headAbsolute) {
			h.head = append(h.head, p...)
		}
	case headAbsolute:
		if len(h.head) < maxHead {
			h.head = append(h.head, p...)
		}
	}
}

// next makes h ready for the next head.
func (h *heads) next() {
	h.kind, h.head = headUnknown, h.head[:0]
}

// kindOfHead tells the kind of a head by its beginning.
func kindOfHead(p []byte) headKind {
	const method = 24 // a longer one is not expected
	space := bytes.IndexByte(p[:min(len(p), method)], ' ')
	if space < 0 {
		if len(p) < method {
			return headUnknown
		}
		return headOrdinary
	}
	const scheme = "http"
	rest := p[space+1:]
	n := min(len(rest), len(scheme))
	switch {
	case !strings.EqualFold(string(rest[:n]), scheme[:n]):
		if bytes.HasPrefix(p, []byte("PRI *")) {
			return headHTTP2
		}
		return headOrdinary
	case n < len(scheme):
		return headUnknown
	}
	return headAbsolute
}

// hostOf returns the Host that stood beside a target in absolute form, and
// whether it was found, once.
func (h *heads) hostOf(target string) (host string, found bool) {
	head, _, _ := strings.Cut(string(h.head), "\r\n\r\n")
	h.head = nil
	lines := strings.Split(head, "\r\n")
	if !strings.Contains(lines[0], " "+target+" ") {
		return "", false
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "Host") {
			if found {
				return "", false
			}
			host, found = strings.Trim(value, " \t"), true
		}
	}
	return host, found
}

// makeOrigin turns a target in absolute form, RFC 9112 section 3.2.2, into
// origin form when the Host beside it agrees. Otherwise the Host is emptied,
// and the request will be refused for it.
func (h *held) makeOrigin(heads *heads) {
	host, found := heads.hostOf(h.Target)
	authority, ok := strings.CutPrefix(h.Target, h.Scheme+"://")
	path := "/"
	if i := strings.IndexAny(authority, "/?"); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	if !ok || !found || !strings.EqualFold(authority, host) {
		h.Host = ""
		return
	}
	if path[0] == '?' {
		path = "/" + path
	}
	h.Target = path
}
