package proxying_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
)

// capture sends a raw request through a door. It returns the request that the
// upstream received and the response that the client received.
func capture(t *testing.T, trust proxying.Trust, request, answer string) (up, client *message) {
	t.Helper()
	got := make(chan *message, 1)
	o := openOrigin(t, answering(answer, got))
	d := openDoor(t, func(p *proxying.Proxy) { p.Trust = trust }, o.url)
	client = d.dial().roundTrip(t, request)
	select {
	case up = <-got:
	default:
		t.Fatalf("nothing reached the upstream; the client got %q", client.raw)
	}
	return up, client
}

// TestRequestIsForwardedAsSent checks that the upstream receives the request with the four
// forwarding fields, and no other additions.
func TestRequestIsForwardedAsSent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, request, first string
		fields               []string // without the forwarding fields, sorted
	}{
		{"bare", "GET /a/%2f/b?x=%20&y HTTP/1.1\r\nHost: example.org:81\r\n\r\n",
			"GET /a/%2f/b?x=%20&y HTTP/1.1", []string{"Host: example.org:81"}},
		{"HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\n\r\n", "GET / HTTP/1.1", []string{"Host: a"}},
		{"own method", "PURGE /x HTTP/1.1\r\nHost: a\r\n\r\n", "PURGE /x HTTP/1.1", []string{"Host: a"}},
		{"empty body is said", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
			"POST / HTTP/1.1", []string{"Content-Length: 0", "Host: a"}},
		{"empty body is not said", "POST / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1", []string{"Host: a"}},
		{"small body without a type", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
			"POST / HTTP/1.1", []string{"Content-Length: 2", "Host: a"}},
		{"GET with a body", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
			"GET / HTTP/1.1", []string{"Content-Length: 2", "Host: a"}},
		{"chunks stay chunks", "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
			"PUT / HTTP/1.1", []string{"Host: a", "Transfer-Encoding: chunked"}},
		{"same name twice", "GET / HTTP/1.1\r\nHost: a\r\nAccept: b\r\nAccept: c\r\nX: \r\n\r\n",
			"GET / HTTP/1.1", []string{"Accept: b", "Accept: c", "Host: a", "X:"}},
		{"hop by hop", "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, X-Mine , close\r\nX-Mine: 1\r\n" +
			"X-Other: 2\r\n" +
			"Keep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\n" +
			"TE: gzip\r\nUpgrade: h2c\r\n\r\n",
			"GET / HTTP/1.1", []string{"Host: a", "X-Other: 2"}},
		{"as many options as may be", "GET / HTTP/1.1\r\nHost: a\r\nConnection: x" + strings.Repeat(",y", 63) +
			"\r\nX: 1\r\nY: 2\r\n\r\n",
			"GET / HTTP/1.1", []string{"Host: a"}},
		{"Connection cannot name the way",
			"GET / HTTP/1.1\r\nHost: a\r\nConnection: Host, X-Forwarded-For, Content-Length\r\n" +
				"Content-Length: 2\r\n\r\nhi",
			"GET / HTTP/1.1", []string{"Content-Length: 2", "Host: a"}},
		{"trailers wanted", "GET / HTTP/1.1\r\nHost: a\r\nTE: trailers, deflate\r\nConnection: TE\r\n\r\n",
			"GET / HTTP/1.1", []string{"Connection: TE", "Host: a", "TE: trailers"}},
		{"framing in disguise",
			"POST / HTTP/1.1\r\nHost: a\r\nContent_Length: 5\r\nTransfer_Encoding: chunked\r\n" +
				"Content-Length: 2\r\n\r\nhi",
			"POST / HTTP/1.1", []string{"Content-Length: 2", "Host: a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			up, client := capture(t, nil, test.request, ok)
			if client.body != "ok" {
				t.Errorf("the client got %q", client.raw)
			}
			var fields []string
			for _, line := range up.lines {
				if !strings.HasPrefix(line, "X-Forwarded-") && !strings.HasPrefix(line, "Forwarded") {
					fields = append(fields, strings.TrimSpace(line))
				}
			}
			slices.Sort(fields)
			if up.first != test.first || !slices.Equal(fields, test.fields) {
				t.Errorf("the upstream received %q %q\nwant %q %q", up.first, fields, test.first, test.fields)
			}
			wantWay(t, up, map[string]string{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http"})
		})
	}
}

// wantWay checks that each of the four forwarding fields occurs exactly once,
// with the values in want.
func wantWay(t *testing.T, up *message, want map[string]string) {
	t.Helper()
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded"} {
		values := up.values(name)
		if len(values) != 1 {
			t.Errorf("%s is there %d times: %q", name, len(values), values)
		} else if w, ok := want[name]; ok && values[0] != w {
			t.Errorf("%s: %s; want %s", name, values[0], w)
		}
	}
}

// TestForwardingFieldsDependOnTrust checks that the fields are extended if the peer is
// trusted, and replaced otherwise. (D10)
func TestForwardingFieldsDependOnTrust(t *testing.T) {
	t.Parallel()
	const request = "GET / HTTP/1.1\r\nHost: a.example\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-For: 10.1.1.1\r\n" +
		"X-Forwarded-Host: shop.example\r\nX-Forwarded-Proto: https\r\nForwarded: for=192.0.2.7\r\n\r\n"
	loopback := proxying.Trust{netip.MustParsePrefix("127.0.0.0/8")}
	const own = `for=127.0.0.1;host="a.example";proto=http`
	tests := []struct {
		name    string
		trust   proxying.Trust
		request string
		want    map[string]string
	}{
		{"no trusted peer", nil, request, map[string]string{"X-Forwarded-For": "127.0.0.1",
			"X-Forwarded-Host": "a.example", "X-Forwarded-Proto": "http", "Forwarded": own}},
		{"another trusted", proxying.Trust{netip.MustParsePrefix("10.0.0.0/8")}, request, map[string]string{
			"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "a.example", "X-Forwarded-Proto": "http",
			"Forwarded": own}},
		{"peer trusted", loopback, request, map[string]string{"X-Forwarded-For": "192.0.2.7, 10.1.1.1, 127.0.0.1",
			"X-Forwarded-Host": "shop.example", "X-Forwarded-Proto": "https", "Forwarded": "for=192.0.2.7, " + own}},
		{"peer trusted and silent", loopback, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", map[string]string{
			"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "a.example", "X-Forwarded-Proto": "http",
			"Forwarded": own}},
		{"peer trusted, lists", loopback, "GET / HTTP/1.1\r\nHost: a.example\r\nX-Forwarded-Host: x, y\r\n" +
			"X-Forwarded-Proto: http\r\nX-Forwarded-Proto: https\r\n\r\n", map[string]string{
			"X-Forwarded-Host": "a.example", "X-Forwarded-Proto": "https"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			up, _ := capture(t, test.trust, test.request, ok)
			wantWay(t, up, test.want)
		})
	}
}

// spoofs are fields with which a client claims another identity.
func spoofs() []string {
	const evil = "203.0.113.66"
	forms := []string{
		"Forwarded: for=" + evil, `Forwarded: for="` + evil + `"`, `Forwarded: for="[2001:db8::bad]"`,
		"Forwarded: for=127.0.0.1, for=" + evil, "Forwarded: host=evil.example;proto=https",
		"forwarded: for=" + evil, "FORWARDED: FOR=" + evil, "Forwarded: for=" + evil + "\r\nForwarded: for=" + evil,
		"X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https", "X-Forwarded-Port: 443",
		"X-Forwarded-Server: evil.example", "X-Forwarded-Scheme: https", "X-Forwarded-Ssl: on",
		"X-Forwarded-By: " + evil, "X-Forwarded-Prefix: /evil", "X-Forwarded-Uri: /evil",
		"X-Forwarded-Method: DELETE", "X-Forwarded-User: root", "X-Forwarded-Email: root@evil.example",
		"X-Forwarded-Client-Cert: By=evil", "X-Forwarded: for=" + evil, "X_Forwarded_Host: evil.example",
		"X-Forwarded_Proto: https", "Connection: X-Forwarded-For", "Connection: Forwarded\r\nForwarded: for=" + evil,
		"Connection: X-Real-IP, X-Forwarded-For\r\nX-Forwarded-For: " + evil,
	}
	for _, name := range []string{"X-Forwarded-For", "x-forwarded-for", "X_FORWARDED_FOR", "X-Forwarded_For",
		"x_forwarded-for", "X-Real-IP", "x-real-ip", "X_Real_IP", "X-Real_IP", "X-REAL-IP"} {
		forms = append(forms, name+": "+evil, name+": "+evil+", 127.0.0.1", name+": 127.0.0.1\r\n"+name+": "+evil)
	}
	for _, value := range []string{"", "unknown", "::ffff:" + evil, "[2001:db8::bad]:1", evil + ":80", "\t" + evil,
		"a b", ",,,", "127.0.0.1"} {
		forms = append(forms, "X-Forwarded-For: "+value)
	}
	return forms
}

// TestSpoofedIdentityIsIgnored checks that the claims of an untrusted client change
// neither its recorded address nor a byte that the upstream receives. (D11)
func TestSpoofedIdentityIsIgnored(t *testing.T) {
	t.Parallel()
	forms := spoofs()
	if len(forms) < 50 {
		t.Fatalf("only %d forms", len(forms))
	}
	got := make(chan *message, 1)
	o := openOrigin(t, answering(ok, got))
	trust := proxying.Trust{netip.MustParsePrefix("10.0.0.0/8")}
	clients := make(chan netip.Addr, 1)
	d := openDoor(t, func(p *proxying.Proxy) {
		p.Trust = trust
		p.Hook = func(x *proxying.Exchange, e proxying.Event) {
			if e == proxying.Done {
				clients <- trust.Client(x.Peer, x.Header)
			}
		}
	}, o.url)
	c := d.dial()
	for _, form := range forms {
		if m := c.roundTrip(t, "GET / HTTP/1.1\r\nHost: a.example\r\n"+form+"\r\n\r\n"); m.first != "HTTP/1.1 200 OK" {
			t.Errorf("%q: %s", form, m.first)
		}
		up := <-got
		want := []string{"Host: a.example", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: a.example",
			"X-Forwarded-Proto: http", `Forwarded: for=127.0.0.1;host="a.example";proto=http`}
		if !slices.Equal(up.lines, want) {
			t.Errorf("%q: the upstream was told\n%s", form, strings.Join(up.lines, "\n"))
		}
		if client := <-clients; client != netip.MustParseAddr("127.0.0.1") {
			t.Errorf("%q: taken for %s", form, client)
		}
	}
}

// TestSpoofedIdentityIsCutFromTrailers checks the same for trailers.
func TestSpoofedIdentityIsCutFromTrailers(t *testing.T) {
	t.Parallel()
	up, _ := capture(t, nil, "POST / HTTP/1.1\r\nHost: a\r\nTrailer: X-Sum, X-Forwarded-For, X_Real_Ip\r\n"+
		"Transfer-Encoding: chunked\r\n\r\n"+
		"2\r\nhi\r\n0\r\nX-Sum: 1\r\nX-Forwarded-For: 203.0.113.66\r\nX_Real_Ip: 203.0.113.66\r\n\r\n", ok)
	if !slices.Equal(up.trailers, []string{"X-Sum: 1"}) {
		t.Errorf("trailers %q; want only X-Sum", up.trailers)
	}
}

func TestTrustFindsTheClient(t *testing.T) {
	t.Parallel()
	trust := proxying.Trust{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	tests := []struct {
		peer string
		xff  []string
		want string
	}{
		{"192.0.2.1", []string{"203.0.113.1"}, "192.0.2.1"},
		{"10.0.0.1", nil, "10.0.0.1"},
		{"10.0.0.1", []string{"203.0.113.1"}, "203.0.113.1"},
		{"::ffff:10.0.0.1", []string{"203.0.113.1"}, "203.0.113.1"},
		{"fd00::1", []string{"2001:db8::1"}, "2001:db8::1"},
		{"10.0.0.1", []string{"1.1.1.1, 203.0.113.1"}, "203.0.113.1"},
		{"10.0.0.1", []string{"1.1.1.1", "203.0.113.1, 10.0.0.2"}, "203.0.113.1"},
		{"10.0.0.1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"10.0.0.1", []string{"203.0.113.1, junk"}, "10.0.0.1"},
		{"10.0.0.1", []string{"203.0.113.1, junk, 10.0.0.2"}, "10.0.0.2"},
		{"10.0.0.1", []string{"203.0.113.1:4711"}, "203.0.113.1"},
		{"10.0.0.1", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"10.0.0.1", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"10.0.0.1", []string{"::ffff:203.0.113.1"}, "203.0.113.1"},
		{"10.0.0.1", []string{"fe80::1%eth0"}, "fe80::1"},
		{"10.0.0.1", []string{"203.0.113.1,"}, "10.0.0.1"},
		{"10.0.0.1", []string{",203.0.113.1"}, "203.0.113.1"},
	}
	for _, test := range tests {
		header := []proxying.Field{{Name: "Accept", Value: "*/*"}}
		for _, v := range test.xff {
			header = append(header, proxying.Field{Name: "X-Forwarded-For", Value: v})
		}
		if got := trust.Client(netip.MustParseAddr(test.peer), header).String(); got != test.want {
			t.Errorf("peer %s, X-Forwarded-For %q: client %s; want %s", test.peer, test.xff, got, test.want)
		}
	}
}

func FuzzTrustClient(f *testing.F) {
	f.Add("10.0.0.1", "203.0.113.1, 10.0.0.2")
	f.Add("192.0.2.1", "203.0.113.1")
	f.Add("fd00::1", "[::1]:80,,")
	trust := proxying.Trust{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	f.Fuzz(func(t *testing.T, peerText, xff string) {
		peer, err := netip.ParseAddr(peerText)
		if err != nil {
			return
		}
		peer = peer.Unmap()
		trusted := trust[0].Contains(peer) || trust[1].Contains(peer)
		got := trust.Client(peer, []proxying.Field{{Name: "x-forwarded-for", Value: xff}})
		switch {
		case !trusted && got != peer:
			t.Errorf("%s is not trusted, and was taken for %s", peer, got)
		case got != peer && got.IsValid() && !strings.Contains(xff, ":") && !strings.Contains(xff, got.String()):
			t.Errorf("%s is not in %q", got, xff)
		case !got.IsValid():
			t.Errorf("no address for %s and %q", peer, xff)
		}
	})
}

// TestResponseLosesOnlyHopByHopFields checks that hop-by-hop fields of a response are removed and
// the others passed on.
func TestResponseLosesOnlyHopByHopFields(t *testing.T) {
	t.Parallel()
	const date = "Date: Mon, 02 Jan 2006 15:04:05 GMT\r\n"
	tests := []struct {
		name, answer string
		fields       []string // sorted
	}{
		{"no type is guessed", "HTTP/1.1 200 OK\r\n" + date + "Content-Length: 6\r\n\r\n<html>",
			[]string{"Content-Length: 6"}},
		{"cookies stay apart", "HTTP/1.1 200 OK\r\n" + date +
			"Set-Cookie: a=1\r\nset-cookie: b=2\r\nContent-Length: 0\r\n\r\n",
			[]string{"Content-Length: 0", "Set-Cookie: a=1", "Set-Cookie: b=2"}},
		{"hop by hop", "HTTP/1.1 200 OK\r\n" + date +
			"Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nX-Other: 2\r\nKeep-Alive: timeout=5\r\n" +
			"Proxy-Connection: x\r\nProxy-Authenticate: Basic\r\nUpgrade: h2c\r\nTE: x\r\nContent-Length: 0\r\n\r\n",
			[]string{"Content-Length: 0", "X-Other: 2"}},
		{"hop by hop in odd spellings", "HTTP/1.1 200 OK\r\n" + date +
			"cONNECTION: kEEP-aLIVE, x-mINE\r\nx-Mine: 1\r\nkEEP-aLIVE: x\r\ncontent-LENGTH: 0\r\n\r\n",
			[]string{"Content-Length: 0"}},
		{"as many options as may be", "HTTP/1.1 200 OK\r\n" + date + "Connection: x" + strings.Repeat(",y", 63) +
			"\r\nX: 1\r\nY: 2\r\nContent-Length: 0\r\n\r\n",
			[]string{"Content-Length: 0"}},
		{"bytes beyond ASCII", "HTTP/1.1 200 OK\r\n" + date + "X: caf\xe9 \xff\r\nContent-Length: 0\r\n\r\n",
			[]string{"Content-Length: 0", "X: caf\xe9 \xff"}},
		{"no reason", "HTTP/1.1 200\r\n" + date + "Content-Length: 0\r\n\r\n", []string{"Content-Length: 0"}},
		{"its own Server", "HTTP/1.1 200 OK\r\n" + date + "Server: mine\r\nContent-Length: 0\r\n\r\n",
			[]string{"Content-Length: 0", "Server: mine"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, client := capture(t, nil, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", test.answer)
			if client.first != "HTTP/1.1 200 OK" || client.get("Date") != "Mon, 02 Jan 2006 15:04:05 GMT" {
				t.Errorf("the client got %q", client.raw)
			}
			fields := slices.DeleteFunc(client.lines, func(l string) bool { return strings.HasPrefix(l, "Date:") })
			slices.Sort(fields)
			if !slices.Equal(fields, test.fields) {
				t.Errorf("the client got %q; want %q", fields, test.fields)
			}
		})
	}
}

// TestAmbiguousRequestReachesNoUpstream checks that an ambiguous request is rejected
// before the upstream is dialled.
func TestAmbiguousRequestReachesNoUpstream(t *testing.T) {
	t.Parallel()
	for _, request := range []string{
		"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: close" + strings.Repeat(", a", 64) + "\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("Connection: a\r\n", 65) + "\r\n",
	} {
		o := openOrigin(t, answering(ok, nil))
		d := openDoor(t, nil, o.url)
		if m := d.dial().roundTrip(t, request); m.first != "HTTP/1.1 400 Bad Request" {
			t.Errorf("%q: %s", request, m.first)
		}
		if got := d.outcome(); got.kind != proxying.BadRequest || o.connections() != 0 {
			t.Errorf("%q: %v after %d connections", request, got.err, o.connections())
		}
	}
}

// TestExchangeCannotBreakTheRequest fills an Exchange as another server than
// net/http might. It checks that bytes that would break a line are rejected in
// every field.
func TestExchangeCannotBreakTheRequest(t *testing.T) {
	t.Parallel()
	trust := proxying.Trust{netip.MustParsePrefix("127.0.0.0/8")}
	o := openOrigin(t, answering(ok, nil))
	up := openUpstream(t, proxying.Options{}, o.url)
	p := &proxying.Proxy{Upstream: up, Trust: trust}
	breaks := map[string]func(*proxying.Exchange){
		"method": func(x *proxying.Exchange) { x.Method = "GET /\r\n" },
		"target": func(x *proxying.Exchange) { x.Target = "/ HTTP/1.1\r\nX: y" },
		"host":   func(x *proxying.Exchange) { x.Host = "a\r\nX: y" },
	}
	for _, name := range []string{"X", "Trailer", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "Te"} {
		breaks["value of "+name] = func(x *proxying.Exchange) {
			x.Header = append(x.Header, proxying.Field{Name: name, Value: "a\r\nX: y"})
		}
	}
	breaks["name"] = func(x *proxying.Exchange) {
		x.Header = append(x.Header, proxying.Field{Name: "X: y\r\nX", Value: "z"})
	}
	breaks["sent field"] = func(x *proxying.Exchange) {
		x.Send = append(x.Send, proxying.Field{Name: "X-Request-Id", Value: "a\r\nX: y"})
	}
	for name, spoil := range breaks {
		t.Run(name, func(t *testing.T) {
			x := newExchange()
			spoil(x)
			p.Serve(x)
			if x.Status != 400 || o.connections() != 0 {
				t.Errorf("status %d after %d connections; want 400 and none", x.Status, o.connections())
			}
		})
	}
}
