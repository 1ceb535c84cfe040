package proxyproto

import (
	"bufio"
	"bytes"
	"net"
	"net/netip"
	"testing"

	oracle "github.com/pires/go-proxyproto"
)

// FuzzParse compares Parse with another implementation, which must read each header that names
// endpoints in the same way. It accepts some headers that Parse refuses. It refuses some of
// version 2 that name no endpoints, and whose rest the specification ignores.
func FuzzParse(f *testing.F) {
	for _, c := range valid {
		f.Add([]byte(c.header + "GET"))
	}
	for _, c := range malformed {
		f.Add([]byte(c.header))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := Parse(b)
		if err != nil || n == 0 {
			checkPrefixes(t, b, err)
			return
		}
		if n > len(b) || n > MaxLen {
			t.Fatalf("n = %d for %d bytes", n, len(b))
		}
		r := bufio.NewReaderSize(bytes.NewReader(b), 1<<17)
		want, err := oracle.Read(r)
		if err != nil && b[0] == signature2[0] && !h.Source.IsValid() {
			return
		}
		if err != nil {
			t.Fatalf("accepted %q, which the oracle refuses: %v", b[:n], err)
		}
		if rest := r.Buffered(); rest != len(b)-n {
			t.Errorf("%q: length %d, the oracle's %d", b, n, len(b)-rest)
		}
		if h.Source.IsValid() && h != endpointsOf(want) {
			t.Errorf("%q: %v, the oracle has %v to %v", b[:n], h, want.SourceAddr, want.DestinationAddr)
		}
		for _, header := range [][]byte{AppendLine(nil, h), AppendBlock(nil, h)} {
			if again, n, err := Parse(header); err != nil || n != len(header) || again != h {
				t.Errorf("%v is written as %q, and read as %v, %v", h, header, again, err)
			}
		}
	})
}

// checkPrefixes checks that a result for b is also that for a longer or shorter input: an
// error is final, and a part of an incomplete header is not refused.
func checkPrefixes(t *testing.T, b []byte, err error) {
	if err != nil {
		if _, _, again := Parse(append(b[:len(b):len(b)], "more"...)); again == nil {
			t.Errorf("%q is refused (%v), but not with more bytes", b, err)
		}
		return
	}
	if len(b) >= MaxLen {
		t.Errorf("%d bytes are not enough", len(b))
	}
	for n := range len(b) {
		if _, used, err := Parse(b[:n]); used != 0 || err != nil {
			t.Errorf("%q is incomplete, but its first %d bytes: %d, %v", b, n, used, err)
		}
	}
}

func endpointsOf(h *oracle.Header) Header {
	return Header{endpointOf(h.SourceAddr), endpointOf(h.DestinationAddr)}
}

func endpointOf(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	e := tcp.AddrPort()
	return netip.AddrPortFrom(e.Addr().Unmap(), e.Port())
}

// FuzzOracle checks the other direction for headers that the oracle writes: Parse accepts
// them all.
func FuzzOracle(f *testing.F) {
	f.Add([]byte{192, 0, 2, 1}, []byte{198, 51, 100, 7}, uint16(1), uint16(2), true, []byte("h2"))
	f.Fuzz(func(t *testing.T, source, destination []byte, from, to uint16, binary bool, alpn []byte) {
		if len(source) != len(destination) || len(source) != 4 && len(source) != 16 || len(alpn) > 1000 {
			t.Skip()
		}
		if len(source) == 16 && (net.IP(source).To4() != nil || net.IP(destination).To4() != nil) {
			t.Skip() // the oracle writes IPv4 and announces IPv6
		}
		version := byte(1)
		if binary {
			version = 2
		}
		want := oracle.HeaderProxyFromAddrs(version, &net.TCPAddr{IP: source, Port: int(from)},
			&net.TCPAddr{IP: destination, Port: int(to)})
		if binary {
			if err := want.SetTLVs([]oracle.TLV{{Type: oracle.PP2_TYPE_ALPN, Value: alpn}}); err != nil {
				t.Fatal(err)
			}
		}
		b, err := want.Format()
		if err != nil {
			t.Fatal(err)
		}
		h, n, err := Parse(b)
		if err != nil || n != len(b) || h != endpointsOf(want) {
			t.Errorf("%q: %v, %d, %v", b, h, n, err)
		}
	})
}
