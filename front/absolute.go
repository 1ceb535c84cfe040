package front

import (
	"bytes"
	"strings"
)

// absoluteHeads looks at what a client sends and keeps a copy of a head that
// begins with a target in absolute form: net/http lets such a target override
// the Host without a word, and a door must see both.
type absoluteHeads struct {
	first byte   // a byte that was read alone, ahead of its request
	alone bool   // there is one
	head  []byte // as far as it was read
}

// look is shown all that is read from the connection.
func (a *absoluteHeads) look(p []byte) {
	switch {
	case len(a.head) > 0 && !bytes.Contains(a.head, []byte("\r\n\r\n")):
		if len(a.head) < maxHead {
			a.head = append(a.head, p...)
		}
		return
	case len(p) == 1 && !a.alone:
		a.first, a.alone = p[0], true
		return
	}
	if beginsAbsolute(p) {
		a.head = a.head[:0]
		if a.alone {
			a.head = append(a.head, a.first)
		}
		a.head = append(a.head, p...)
	}
	a.alone = false
}

// beginsAbsolute tells whether p can be the beginning, or all but the first
// byte, of a request with a target in absolute form.
func beginsAbsolute(p []byte) bool {
	const method = 24 // no method is longer
	space := bytes.IndexByte(p[:min(len(p), method)], ' ')
	if space < 0 {
		return len(p) < method
	}
	const scheme = "http"
	rest := p[space+1:]
	n := min(len(rest), len(scheme))
	return strings.EqualFold(string(rest[:n]), scheme[:n])
}

// hostOf returns the Host that stood beside a target in absolute form, and
// whether it was found, once.
func (a *absoluteHeads) hostOf(target string) (host string, found bool) {
	head, _, _ := strings.Cut(string(a.head), "\r\n\r\n")
	a.head = nil
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
func (h *held) makeOrigin(heads *absoluteHeads) {
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
