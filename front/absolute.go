package front

import "strings"

// makeOrigin turns a target in absolute form, RFC 9112 section 3.2.2, into
// origin form. That the Host beside it agrees was seen by framing; net/http
// shows the target's in its place. A target that says anything else than this
// scheme and a host empties the Host, and the request will be refused for it.
func (h *held) makeOrigin() {
	authority, ok := strings.CutPrefix(h.Target, h.Scheme+"://")
	path := "/"
	if i := strings.IndexAny(authority, "/?"); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	if !ok || authority != h.Host {
		h.Host = ""
		return
	}
	if path[0] == '?' {
		path = "/" + path
	}
	h.Target = path
}
