package proxyproto

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// block returns a header of version 2.
func block(versionCommand, family byte, rest string) string {
	b := []byte(signature2)
	b = append(b, versionCommand, family)
	b = binary.BigEndian.AppendUint16(b, uint16(len(rest)))
	return string(b) + rest
}

// withChecksum appends an extension with the checksum of the header.
func withChecksum(versionCommand, family byte, rest string) string {
	b := []byte(block(versionCommand, family, rest+"\x03\x00\x04\x00\x00\x00\x00"))
	binary.BigEndian.PutUint32(b[len(b)-4:], checksum(b, len(b)-4))
	return string(b)
}

const (
	tcp4 = "\xc0\x00\x02\x01\xc6\x33\x64\x07\xdb\xd8\x01\xbb" // 192.0.2.1:56280 to 198.51.100.7:443
	tcp6 = "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x04\x00\x00\x50"
)

var valid = []struct {
	name, header        string
	source, destination string // "" for those of the connection
}{
	{"v1 IPv4", "PROXY TCP4 192.0.2.1 198.51.100.7 56280 443\r\n", "192.0.2.1:56280", "198.51.100.7:443"},
	{"v1 IPv6", "PROXY TCP6 2001:db8::1 2001:db8::2 1024 80\r\n", "[2001:db8::1]:1024", "[2001:db8::2]:80"},
	{"v1 least ports", "PROXY TCP4 0.0.0.0 255.255.255.255 0 65535\r\n", "0.0.0.0:0", "255.255.255.255:65535"},
	{"v1 mapped", "PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n", "192.0.2.1:1", "[::1]:2"},
	{"v1 longest IPv6",
		"PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
		"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"},
	{"v1 unknown", "PROXY UNKNOWN\r\n", "", ""},
	{"v1 unknown with addresses", "PROXY UNKNOWN 192.0.2.1 198.51.100.7 56280 443\r\n", "", ""},
	{"v1 longest", "PROXY UNKNOWN " + strings.Repeat("f", maxLine-16) + "\r\n", "", ""},
	{"v2 IPv4", block(0x21, 0x11, tcp4), "192.0.2.1:56280", "198.51.100.7:443"},
	{"v2 IPv6", block(0x21, 0x21, tcp6), "[2001:db8::1]:1024", "[2001:db8::2]:80"},
	{"v2 extension", block(0x21, 0x11, tcp4+"\x02\x00\x03abc\x04\x00\x00"), "192.0.2.1:56280", "198.51.100.7:443"},
	{"v2 checksum", withChecksum(0x21, 0x11, tcp4+"\x01\x00\x02h2"), "192.0.2.1:56280", "198.51.100.7:443"},
	{"v2 local", block(0x20, 0x00, ""), "", ""},
	{"v2 local with addresses", block(0x20, 0x11, tcp4), "", ""},
	{"v2 local of a family that must be ignored", block(0x20, 0xff, "x"), "", ""},
	{"v2 unspecified", block(0x21, 0x00, "xx"), "", ""},
	{"v2 datagram", block(0x21, 0x12, tcp4), "", ""},
	{"v2 datagram of IPv6", block(0x21, 0x22, tcp6), "", ""},
	{"v2 Unix", block(0x21, 0x31, strings.Repeat("x", 216)), "", ""},
	{"v2 Unix datagram", block(0x21, 0x32, strings.Repeat("x", 216)), "", ""},
	{"v2 longest", block(0x20, 0x00, strings.Repeat("x", MaxLen-fixedLen)), "", ""},
}

func TestParseReadsBothVersions(t *testing.T) {
	for _, c := range valid {
		for _, after := range []string{"", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\x16\x03\x01", "PRI * HTTP/2.0\r\n"} {
			h, n, err := Parse([]byte(c.header + after))
			if err != nil || n != len(c.header) {
				t.Fatalf("%s, then %q: n = %d of %d, %v", c.name, after, n, len(c.header), err)
			}
			if got := [2]string{text(h.Source), text(h.Destination)}; got != [2]string{c.source, c.destination} {
				t.Errorf("%s: %q, want %q to %q", c.name, got, c.source, c.destination)
			}
		}
		for n := range len(c.header) {
			if h, used, err := Parse([]byte(c.header[:n])); h != (Header{}) || used != 0 || err != nil {
				t.Errorf("%s, %d bytes: %v, %d, %v; want to need more", c.name, n, h, used, err)
			}
		}
	}
}

func text(e netip.AddrPort) string {
	if !e.IsValid() {
		return ""
	}
	return e.String()
}

var malformed = []struct{ name, header string }{
	{"protocol", "PROXY TCP5 192.0.2.1 198.51.100.7 1 2\r\n"},
	{"protocol in lower case", "PROXY tcp4 192.0.2.1 198.51.100.7 1 2\r\n"},
	{"UDP", "PROXY UDP4 192.0.2.1 198.51.100.7 1 2\r\n"},
	{"no protocol", "PROXY \r\n"},
	{"two spaces", "PROXY  TCP4 192.0.2.1 198.51.100.7 1 2\r\n"},
	{"two spaces between addresses", "PROXY TCP4 192.0.2.1  198.51.100.7 1 2\r\n"},
	{"a tab", "PROXY TCP4\t192.0.2.1 198.51.100.7 1 2\r\n"},
	{"a space at the end", "PROXY TCP4 192.0.2.1 198.51.100.7 1 2 \r\n"},
	{"a part too many", "PROXY TCP4 192.0.2.1 198.51.100.7 1 2 3\r\n"},
	{"only a family", "PROXY TCP4\r\n"},
	{"one port", "PROXY TCP4 192.0.2.1 198.51.100.7 1\r\n"},
	{"no ports", "PROXY TCP4 192.0.2.1 198.51.100.7\r\n"},
	{"IPv6 for TCP4", "PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n"},
	{"IPv4 for TCP6", "PROXY TCP6 192.0.2.1 198.51.100.7 1 2\r\n"},
	{"two families", "PROXY TCP4 192.0.2.1 2001:db8::2 1 2\r\n"},
	{"a leading zero", "PROXY TCP4 192.0.2.01 198.51.100.7 1 2\r\n"},
	{"an octal address", "PROXY TCP4 0300.0.2.1 198.51.100.7 1 2\r\n"},
	{"a short address", "PROXY TCP4 192.0.1 198.51.100.7 1 2\r\n"},
	{"a large octet", "PROXY TCP4 192.0.2.256 198.51.100.7 1 2\r\n"},
	{"a zone", "PROXY TCP6 fe80::1%eth0 fe80::2 1 2\r\n"},
	{"brackets", "PROXY TCP6 [2001:db8::1] [2001:db8::2] 1 2\r\n"},
	{"a name", "PROXY TCP4 localhost localhost 1 2\r\n"},
	{"a large port", "PROXY TCP4 192.0.2.1 198.51.100.7 65536 2\r\n"},
	{"a port with a zero", "PROXY TCP4 192.0.2.1 198.51.100.7 01 2\r\n"},
	{"a port with a sign", "PROXY TCP4 192.0.2.1 198.51.100.7 +1 2\r\n"},
	{"a negative port", "PROXY TCP4 192.0.2.1 198.51.100.7 -1 2\r\n"},
	{"LF", "PROXY TCP4 192.0.2.1 198.51.100.7 1 2\n"},
	{"CR", "PROXY TCP4 192.0.2.1 198.51.100.7 1 2\rGET"},
	{"NUL", "PROXY UNKNOWN \x00\r\n"},
	{"UTF-8", "PROXY UNKNOWN \u00e4\r\n"},
	{"108 bytes", "PROXY UNKNOWN " + strings.Repeat("f", maxLine-15) + "\r\n"},
	{"no end", "PROXY UNKNOWN " + strings.Repeat("f", maxLine)},
	{"version 1 in binary", block(0x11, 0x11, tcp4)},
	{"version 3", block(0x31, 0x11, tcp4)},
	{"a command", block(0x22, 0x11, tcp4)},
	{"a family", block(0x21, 0x41, tcp4)},
	{"a protocol", block(0x21, 0x13, tcp4)},
	{"a protocol without a family", block(0x21, 0x01, tcp4)},
	{"short addresses", block(0x21, 0x11, tcp4[:11])},
	{"short IPv6 addresses", block(0x21, 0x21, tcp6[:35])},
	{"short Unix addresses", block(0x21, 0x31, strings.Repeat("x", 215))},
	{"an incomplete extension", block(0x21, 0x11, tcp4+"\x04\x00")},
	{"an extension beyond the header", block(0x21, 0x11, tcp4+"\x04\x00\x05abcd")},
	{"a wrong checksum", block(0x21, 0x11, tcp4+"\x03\x00\x04abcd")},
	{"a short checksum", block(0x21, 0x11, tcp4+"\x03\x00\x03abc")},
	{"longer than 4 KiB", block(0x20, 0x00, strings.Repeat("x", MaxLen-fixedLen+1))},
}

func TestMalformedHeadersAreRejected(t *testing.T) {
	for _, c := range malformed {
		var reason Malformed
		if h, _, err := Parse([]byte(c.header)); !errors.As(err, &reason) {
			t.Errorf("%s: %v, %v; want it to be malformed", c.name, h, err)
		}
	}
}

func TestMissingHeaderIsReported(t *testing.T) {
	for _, begin := range []string{"GET / HTTP/1.1\r\n", "POST", "PRI * HTTP/2.0", "PROXYX", "PROXY\r\n", "proxy TCP4",
		"\x16\x03\x01", "\r\nGET", "\r\n\r\nGET", "\n", "\x00", signature2[:11] + "\r"} {
		if _, _, err := Parse([]byte(begin)); err != ErrAbsent {
			t.Errorf("%q: %v, want ErrAbsent", begin, err)
		}
	}
}

func TestAppendedHeaderIsReadBack(t *testing.T) {
	for _, c := range []struct{ source, destination, wantSource, wantDestination string }{
		{"192.0.2.1:56280", "198.51.100.7:443", "192.0.2.1:56280", "198.51.100.7:443"},
		{"[2001:db8::1]:1", "[2001:db8::2]:2", "[2001:db8::1]:1", "[2001:db8::2]:2"},
		{"[fe80::1%eth0]:1", "[2001:db8::2]:2", "[fe80::1]:1", "[2001:db8::2]:2"},
		{"192.0.2.1:1", "[2001:db8::2]:2", "192.0.2.1:1", "[2001:db8::2]:2"},
		{"[::ffff:192.0.2.1]:1", "198.51.100.7:2", "192.0.2.1:1", "198.51.100.7:2"},
		{"", "198.51.100.7:2", "", ""},
	} {
		var h Header
		h.Source, _ = netip.ParseAddrPort(c.source)
		h.Destination = netip.MustParseAddrPort(c.destination)
		for version, header := range map[int][]byte{1: AppendLine(nil, h), 2: AppendBlock(nil, h)} {
			got, n, err := Parse(header)
			ends := [2]string{text(got.Source), text(got.Destination)}
			if err != nil || n != len(header) || ends != [2]string{c.wantSource, c.wantDestination} {
				t.Errorf("version %d of %v: %q is read as %v, %v", version, h, header, got, err)
			}
		}
	}
}
