package proxying

import (
	"net/netip"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// Trust lists the networks of the proxies that are trusted to report the origin
// of a request. The following rule applies to every request.
//
// If the peer (the remote end of the TCP connection) is not in the list, the
// fields about the request's way are discarded: every Forwarded, X-Real-Ip and
// X-Forwarded-* field, in any spelling that a CGI-like upstream would treat as
// one of these (x_forwarded_for). The client is the peer.
//
// If the peer is in the list, X-Forwarded-For and Forwarded are extended, and
// X-Forwarded-Host is kept if it holds one plain value. The client is the last
// address of X-Forwarded-For that is not in the list. If that field is missing
// or contains something else than an address, the client is the nearest address
// that could be read. X-Forwarded-Proto is kept if it holds one plain value; of
// a list, the element of the proxy that has reported the client is kept.
// Forwarded is not read. Other X-Forwarded-* fields and X-Real-Ip are discarded
// in this case too.
//
// In both cases the upstream gets exactly one X-Forwarded-For,
// X-Forwarded-Host, X-Forwarded-Proto and Forwarded. A nil Trust trusts no
// peer.
type Trust []netip.Prefix

// Trusts reports whether a peer may report the address and the scheme of a client.
func (t Trust) Trusts(addr netip.Addr) bool {
	addr = addr.Unmap()
	for _, p := range t {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// Client returns the address of the client that sent a request with the given
// header.
func (t Trust) Client(peer netip.Addr, header []Field) netip.Addr {
	if len(t) == 0 || !t.Trusts(peer) {
		return peer.Unmap()
	}
	client, _ := t.origin(peer, header)
	return client
}

// origin returns the address of the client of a trusted peer, and the place of
// its element in X-Forwarded-For, counted from the end. Without such an element,
// the place is 0.
func (t Trust) origin(peer netip.Addr, header []Field) (client netip.Addr, place int) {
	client, read := peer.Unmap(), 0
	for i := len(header) - 1; i >= 0; i-- {
		if !httpsyntax.EqualFold(header[i].Name, "X-Forwarded-For") {
			continue
		}
		list := header[i].Value
		for list != "" {
			comma := strings.LastIndexByte(list, ',')
			addr, ok := parseHop(list[comma+1:])
			if !ok {
				return client, max(read-1, 0)
			}
			read++
			if client = addr; !t.Trusts(addr) {
				return client, read - 1
			}
			list = list[:max(comma, 0)]
		}
	}
	return client, max(read-1, 0)
}

// Scheme returns the scheme that the client used, for a request with the given header that
// arrived over scheme. It is https also for a WebSocket over TLS, for which some proxies
// report wss, and http for ws.
func (t Trust) Scheme(peer netip.Addr, header []Field, scheme string) string {
	if len(t) == 0 || !t.Trusts(peer) {
		return scheme
	}
	switch proto := t.proto(peer, header, scheme); {
	case httpsyntax.EqualFold(proto, "wss"):
		return "https"
	case httpsyntax.EqualFold(proto, "ws"):
		return "http"
	default:
		return proto
	}
}

// proto returns the X-Forwarded-Proto of the client of a trusted peer, or scheme if
// there is none. Of a list, to which each proxy has appended an element, it returns the
// element at the place that the client has in X-Forwarded-For, because the same proxy
// has written both. The client may have invented the elements before it. If that element
// is missing or not plain, proto returns the last one that could be read before.
func (t Trust) proto(peer netip.Addr, header []Field, scheme string) string {
	if proto := single(header, "X-Forwarded-Proto", ""); proto != "" {
		return proto
	}
	_, place := t.origin(peer, header)
	for i := len(header) - 1; i >= 0 && place >= 0; i-- {
		if !httpsyntax.EqualFold(header[i].Name, "X-Forwarded-Proto") {
			continue
		}
		for list := header[i].Value; list != "" && place >= 0; place-- {
			comma := strings.LastIndexByte(list, ',')
			element := strings.Trim(list[comma+1:], " \t")
			if element == "" || strings.ContainsAny(element, " \t") {
				return scheme
			}
			scheme = element
			list = list[:max(comma, 0)]
		}
	}
	return scheme
}

// parseHop parses one element of X-Forwarded-For: an address, optionally with a
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

// IsForwarding reports whether a field describes the origin of a request.
func IsForwarding(name string) bool {
	const prefix = "X-Forwarded"
	return len(name) >= len(prefix) && sameToCGI(name[:len(prefix)], prefix) ||
		sameToCGI(name, "Forwarded") || sameToCGI(name, "X-Real-Ip")
}

// sameToCGI compares two names like an upstream that turns fields into
// variables: case-insensitively, with "_" equal to "-".
func sameToCGI(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if toCGI(a[i]) != toCGI(b[i]) {
			return false
		}
	}
	return true
}

func toCGI(c byte) byte {
	if c == '_' {
		return '-'
	}
	return httpsyntax.Lower(c)
}

// A hop holds the facts about a request that this server has observed itself.
type hop struct {
	peer         netip.Addr
	host, scheme string
}

// appendForwarded appends X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Proto
// and Forwarded, except the end of the last line.
func (t Trust) appendForwarded(b []byte, header []Field, from hop) []byte {
	var trusted bool
	if len(t) > 0 {
		trusted = t.Trusts(from.peer)
	}
	b = append(b, "X-Forwarded-For: "...)
	if trusted {
		b = appendHops(b, header, "X-Forwarded-For")
	}
	b = appendPeer(b, from.peer.Unmap())
	host, proto := from.host, from.scheme
	if trusted {
		host = single(header, "X-Forwarded-Host", host)
		proto = t.proto(from.peer, header, proto)
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

// appendPeer appends the peer's address. A client on a Unix socket has none.
func appendPeer(b []byte, peer netip.Addr) []byte {
	if !peer.IsValid() {
		return append(b, "unknown"...)
	}
	return peer.AppendTo(b)
}

// appendHops appends the values of the fields called name, each followed by a
// comma.
func appendHops(b []byte, header []Field, name string) []byte {
	for i := range header {
		if v := header[i].Value; v != "" && httpsyntax.EqualFold(header[i].Name, name) {
			b = append(b, v...)
			b = append(b, ", "...)
		}
	}
	return b
}

// single returns the value of the field called name if there is exactly one and
// it is plain, or else the alternative.
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

// appendElement appends the element of Forwarded for this hop, RFC 7239.
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
	host := from.host
	for i := strings.IndexAny(host, `"\`); i >= 0; i = strings.IndexAny(host, `"\`) {
		b = append(append(b, host[:i]...), '\\', host[i])
		host = host[i+1:]
	}
	b = append(b, host...)
	b = append(b, `";proto=`...)
	b = append(b, from.scheme...)
	return append(b, "\r\n"...)
}
