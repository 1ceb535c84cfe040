package proxyproto

import (
	"net/netip"
	"strconv"
	"strings"
)

// parseLine parses the line of version 1 between "PROXY " and CRLF.
func parseLine(line string) (Header, error) {
	family, rest, more := strings.Cut(line, " ")
	switch {
	case family == "UNKNOWN":
		return Header{}, nil // the rest must be ignored
	case family != "TCP4" && family != "TCP6":
		return Header{}, Malformed("the protocol is not TCP4, TCP6 or UNKNOWN")
	case !more:
		return Header{}, Malformed("the addresses are missing")
	}
	parts := strings.Split(rest, " ")
	if len(parts) != 4 {
		return Header{}, Malformed("the line does not have two addresses and two ports")
	}
	source, sourceOK := parseEndpoint(family, parts[0], parts[2])
	destination, destinationOK := parseEndpoint(family, parts[1], parts[3])
	if !sourceOK || !destinationOK {
		return Header{}, Malformed("an address or a port is invalid")
	}
	return Header{source, destination}, nil
}

func parseEndpoint(family, address, port string) (_ netip.AddrPort, ok bool) {
	addr, err := netip.ParseAddr(address)
	if err != nil || addr.Zone() != "" || addr.Is4() != (family == "TCP4") {
		return netip.AddrPort{}, false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || len(port) > 1 && port[0] == '0' {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), true
}

// AppendLine appends a header of version 1. If an endpoint is invalid, the header says that
// the endpoints are unknown.
func AppendLine(b []byte, h Header) []byte {
	source, destination, ok := h.sameFamily()
	if !ok {
		return append(b, "PROXY UNKNOWN\r\n"...)
	}
	family := "PROXY TCP6 "
	if source.Addr().Is4() {
		family = "PROXY TCP4 "
	}
	b = append(b, family...)
	b = source.Addr().AppendTo(b)
	b = append(b, ' ')
	b = destination.Addr().AppendTo(b)
	b = append(b, ' ')
	b = strconv.AppendUint(b, uint64(source.Port()), 10)
	b = append(b, ' ')
	b = strconv.AppendUint(b, uint64(destination.Port()), 10)
	return append(b, "\r\n"...)
}

// sameFamily returns both endpoints as IPv4 or both as IPv6, as a header requires. ok is
// false if one is invalid.
func (h Header) sameFamily() (source, destination netip.AddrPort, ok bool) {
	from, to := h.Source.Addr().Unmap().WithZone(""), h.Destination.Addr().Unmap().WithZone("")
	if !from.IsValid() || !to.IsValid() {
		return source, destination, false
	}
	if from.Is4() != to.Is4() {
		from, to = netip.AddrFrom16(from.As16()), netip.AddrFrom16(to.As16())
	}
	return netip.AddrPortFrom(from, h.Source.Port()), netip.AddrPortFrom(to, h.Destination.Port()), true
}
