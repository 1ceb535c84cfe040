package proxy

import (
	"net/netip"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// Trust lists the networks of the proxies whose word is taken for where a
// request came from. The rule, for every request:
//
// When the peer (the other end of the TCP connection) is not in the list, what
// the request says of its own way is thrown away: every Forwarded, X-Real-Ip
// and X-Forwarded-* field, in any spelling that a CGI-like upstream would take
// for it (x_forwarded_for). The client is the peer.
//
// When it is in the list, X-Forwarded-For and Forwarded are continued,
// X-Forwarded-Host and X-Forwarded-Proto are kept where they hold one plain
// value, and the client is the last address of X-Forwarded-For that is not in
// the list itself; where that field is missing or the address is not one, it
// is the nearest that could be read. Other X-Forwarded-* fields and X-Real-Ip
// are thrown away all the same.
//
// Either way the upstream gets exactly one X-Forwarded-For, X-Forwarded-Host,
// X-Forwarded-Proto and Forwarded. A nil Trust trusts nobody.
type Trust []netip.Prefix

func (t Trust) trusts(addr netip.Addr) bool {
	addr = addr.Unmap()
	for _, p := range t {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// Client returns the address of the client that a request with the given
// header came from.
func (t Trust) Client(peer netip.Addr, header []Field) netip.Addr {
	peer = peer.Unmap()
	if len(t) == 0 || !t.trusts(peer) {
		return peer
	}
	for i := len(header) - 1; i >= 0; i-- {
		if !httpsyntax.EqualFold(header[i].Name, "X-Forwarded-For") {
			continue
		}
		list := header[i].Value
		for list != "" {
			comma := strings.LastIndexByte(list, ',')
			addr, ok := parseHop(list[comma+1:])
			if !ok {
				return peer
			}
			if peer = addr; !t.trusts(addr) {
				return addr
			}
			list = list[:max(comma, 0)]
		}
	}
	return peer
}

// parseHop parses one element of X-Forwarded-For: an address, perhaps with a
// port or in brackets, as some proxies write it.
func parseHop(s string) (netip.Addr, bool) {
	s = strings.Trim(s, " \t")
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().WithZone("").Unmap(), true
	}
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}, false
	}
	return addr.WithZone("").Unmap(), true
}

// ofItsWay tells whether a field says where a request came from.
func isForwarding(name string) bool {
	const prefix = "X-Forwarded"
	return len(name) >= len(prefix) && sameToCGI(name[:len(prefix)], prefix) ||
		sameToCGI(name, "Forwarded") || sameToCGI(name, "X-Real-Ip")
}

// sameToCGI compares two names as an upstream does that turns fields into
// variables: without regard to case, "_" equal to "-".
func sameToCGI(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if x, y := httpsyntax.Lower(a[i]), httpsyntax.Lower(b[i]); x != y && !(x == '_' && y == '-') {
			return false
		}
	}
	return true
}

// A hop is the part of a request's way that this server has seen itself.
type hop struct {
	peer         netip.Addr
	host, scheme string
}

// appendForwarded writes the four fields.
func (t Trust) appendForwarded(b []byte, header []Field, from hop) []byte {
	var trusted bool
	if len(t) > 0 {
		trusted = t.trusts(from.peer)
	}
	b = append(b, "X-Forwarded-For: "...)
	if trusted {
		b = appendHops(b, header, "X-Forwarded-For")
	}
	b = appendPeer(b, from.peer.Unmap())
	host, proto := from.host, from.scheme
	if trusted {
		host = single(header, "X-Forwarded-Host", host)
		proto = single(header, "X-Forwarded-Proto", proto)
	}
	b = append(b, "\r\nX-Forwarded-Host: "...)
	b = append(b, host...)
	b = append(b, "\r\nX-Forwarded-Proto: "...)
	b = append(b, proto...)
	b = append(b, "\r\nForwarded: "...)
	if trusted {
		b = appendHops(b, header, "Forwarded")
	}
	return appendElement(b, from)
}

// appendPeer writes the peer's address. A client on a Unix socket has none.
func appendPeer(b []byte, peer netip.Addr) []byte {
	if !peer.IsValid() {
		return append(b, "unknown"...)
	}
	return peer.AppendTo(b)
}

// appendHops copies what came under name, each followed by a comma.
func appendHops(b []byte, header []Field, name string) []byte {
	for i := range header {
		if v := header[i].Value; v != "" && httpsyntax.EqualFold(header[i].Name, name) {
			b = append(b, v...)
			b = append(b, ", "...)
		}
	}
	return b
}

// single returns the value under name when there is one and it is plain, else
// the alternative.
func single(header []Field, name, alternative string) string {
	value := ""
	for i := range header {
		if httpsyntax.EqualFold(header[i].Name, name) {
			if value != "" || strings.ContainsAny(header[i].Value, ", \t") {
				return alternative
			}
			value = header[i].Value
		}
	}
	if value == "" {
		return alternative
	}
	return value
}

// appendElement writes the element of Forwarded for this hop, RFC 7239.
func appendElement(b []byte, from hop) []byte {
	if peer := from.peer.Unmap(); peer.Is6() {
		b = append(b, `for="[`...)
		b = peer.AppendTo(b)
		b = append(b, `]"`...)
	} else {
		b = append(b, "for="...)
		b = appendPeer(b, peer)
	}
	b = append(b, `;host="`...)
	for i := 0; i < len(from.host); i++ {
		if c := from.host[i]; c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, from.host[i])
	}
	b = append(b, `";proto=`...)
	b = append(b, from.scheme...)
	return append(b, "\r\n"...)
}
