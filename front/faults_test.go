package front_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// A faultRow is a row of the table of faults in docs/upstreams.md.
type faultRow struct{ fault, result, failure, again string }

// documentedFaults reads the table.
func documentedFaults(t *testing.T) []faultRow {
	t.Helper()
	page, err := os.ReadFile("../docs/upstreams.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Faults\n")
	var rows []faultRow
	row := regexp.MustCompile("(?m)^\\| (.+) \\| `(\\w+)` \\| (?:`(\\w+)`|none) \\| `(\\w+)` \\|$")
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		rows = append(rows, faultRow{m[1], m[2], m[3], m[4]})
	}
	return rows
}

// after returns a server that reads a request and then calls play.
func after(play func(c *rawConn)) func(*testing.T) string {
	return func(t *testing.T) string {
		return "http://" + rawUpstream(t, func(c *rawConn) {
			if c.request() != nil {
				play(c)
			}
		})
	}
}

// says returns a server that reads a request, and sends a text. Then it is silent.
func says(text string) func(*testing.T) string {
	return after(func(c *rawConn) {
		io.WriteString(c, text)
		c.r.ReadByte()
	})
}

// saysAndCloses is says with the end of the connection after the text.
func saysAndCloses(text string) func(*testing.T) string {
	return after(func(c *rawConn) { io.WriteString(c, text) })
}

// inBody returns a server that reads a request, sends a text with a pause after its head, and then
// calls end. Without the pause, a fault in the body would be found before the head is passed on.
func inBody(text string, end func(c *rawConn)) func(*testing.T) string {
	return after(func(c *rawConn) {
		head, body, _ := strings.Cut(text, "\r\n\r\n")
		io.WriteString(c, head+"\r\n\r\n")
		time.Sleep(100 * time.Millisecond)
		io.WriteString(c, body)
		time.Sleep(100 * time.Millisecond)
		end(c)
	})
}

func keep(c *rawConn)  { c.r.ReadByte() }
func shut(*rawConn)    {}
func reset(c *rawConn) { c.SetLinger(0) }

const (
	lengthHead  = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
	chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	complete    = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
)

// faults start a server with the fault of a row, and return its URL.
var faults = map[string]func(*testing.T) string{
	"the connection is refused":    func(t *testing.T) string { return "http://" + testkit.ClosedAddress(t) },
	"the server cannot be reached": func(*testing.T) string { return "http://255.255.255.255:80" },
	"no response to a connection":  fullServer,
	"an expired certificate":       expiredServer,
	"reset in the request": func(t *testing.T) string {
		return "http://" + rawUpstream(t, func(c *rawConn) {
			c.r.Peek(1)
			reset(c)
		})
	},
	"reset after the request":      after(reset),
	"close after the request":      after(shut),
	"close in the head":            saysAndCloses("HTTP/1.1 200 OK\r\nContent-Le"),
	"silence before the head":      says(""),
	"silence in the head":          says("HTTP/1.1 200 OK\r\nContent-Le"),
	"a malformed head":             says("HTTP/1.1 200 OK\r\nA b\r\n\r\n"),
	"too many fields":              says("HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 300) + "\r\n"),
	"101 without a request for it": says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n"),
	"endless 1xx responses":        says(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 20)),
	"100 without a request for it": says("HTTP/1.1 100 Continue\r\n\r\n" + complete),
	"103 before the response":      says("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + complete),
	"close in the body":            inBody(lengthHead+"hello", shut),
	"reset in the body":            inBody(lengthHead+"hello", reset),
	"silence in the body":          inBody(lengthHead+"hello", keep),
	"close in a chunk":             inBody(chunkedHead+"10\r\nhello", shut),
	"a malformed chunk":            inBody(chunkedHead+"5\r\nhello\r\nxyz\r\n", keep),
	"more bytes than the length":   says(complete + complete),
	"a response before the end of the upload": func(t *testing.T) string {
		return "http://" + rawUpstream(t, func(c *rawConn) {
			if _, err := http.ReadRequest(c.r); err == nil {
				io.WriteString(c, complete)
				io.Copy(io.Discard, c.r)
			}
		})
	},
	"a response before the end of the upload, then close": func(t *testing.T) string {
		return "http://" + rawUpstream(t, func(c *rawConn) {
			if _, err := http.ReadRequest(c.r); err == nil {
				io.WriteString(c, complete)
			}
		})
	},
	"a byte at a time until `timeout.total`": after(func(c *rawConn) {
		for _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"); err == nil; _, err = io.WriteString(c, "x") {
			time.Sleep(10 * time.Millisecond)
		}
	}),
	// The first request of a connection gets a response.
	"close of a kept connection at its next request": after(func(c *rawConn) {
		io.WriteString(c, complete)
		c.request()
	}),
}

// overHTTP2 begins the names of faults of a server with HTTP/2.
const overHTTP2 = "HTTP/2: "

// frames returns a server with HTTP/2 that plays a fault on each stream.
func frames(play func(s *frameServer, stream uint32), settings ...http2.Setting) func(*testing.T) string {
	return func(t *testing.T) string { return openFrames(t, play, settings...) }
}

// inFrames is frames for a fault that follows a head and the beginning of a body.
func inFrames(play func(s *frameServer, stream uint32)) func(*testing.T) string {
	return frames(func(s *frameServer, stream uint32) {
		s.head(stream, false, ":status", "200")
		s.WriteData(stream, false, []byte("hello"))
		time.Sleep(100 * time.Millisecond)
		play(s, stream)
	})
}

func init() {
	maps.Copy(faults, map[string]func(*testing.T) string{
		"HTTP/2: GOAWAY, the stream is processed": frames(func(s *frameServer, stream uint32) {
			s.WriteGoAway(stream, http2.ErrCodeNo, nil)
			s.ok(stream)
		}),
		"HTTP/2: GOAWAY, the stream is not processed": frames(func(s *frameServer, stream uint32) {
			s.WriteGoAway(stream-1, http2.ErrCodeNo, nil)
		}),
		"HTTP/2: REFUSED_STREAM": frames(func(s *frameServer, stream uint32) {
			s.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		}),
		"HTTP/2: RST_STREAM before the head": frames(func(s *frameServer, stream uint32) {
			s.WriteRSTStream(stream, http2.ErrCodeInternal)
		}),
		"HTTP/2: RST_STREAM in the body": inFrames(func(s *frameServer, stream uint32) {
			s.WriteRSTStream(stream, http2.ErrCodeInternal)
		}),
		"HTTP/2: close before the head": frames(func(s *frameServer, _ uint32) { s.nc.Close() }),
		"HTTP/2: close in the body":     inFrames(func(s *frameServer, _ uint32) { s.nc.Close() }),
		"HTTP/2: silence in the body":   inFrames(func(*frameServer, uint32) {}),
		"HTTP/2: a malformed frame":     frames(func(s *frameServer, _ uint32) { s.WriteRawFrame(http2.FramePing, 0, 0, nil) }),
		"HTTP/2: header list too long": frames(func(s *frameServer, stream uint32) {
			s.head(stream, true, ":status", "200", "x-a", strings.Repeat("a", 70<<10))
		}),
		"HTTP/2: SETTINGS that shrink the window during the upload": frames(func(s *frameServer, stream uint32) {
			s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
			s.ok(stream)
		}),
		"HTTP/2: a window that never opens, for a body": frames(func(*frameServer, uint32) {},
			http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}),
	})
}

// fullServer returns a server that does not accept connections and whose backlog is full.
func fullServer(t *testing.T) string {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprint("127.0.0.1:", bound.(*syscall.SockaddrInet4).Port)
	for {
		c, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
		if err != nil {
			return "http://" + addr
		}
		t.Cleanup(func() { c.Close() })
	}
}

// expired returns a certificate for 127.0.0.1 that was valid until a minute ago.
var expired = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(-time.Minute),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
})

func expiredServer(t *testing.T) string {
	own := &tls.Config{Certificates: []tls.Certificate{expired()}}
	return "https://" + rawUpstream(t, func(c *rawConn) { tls.Server(c, own).Handshake() })
}

// askFaulty sends a request, and returns the status, or "cut" for an incomplete response.
func askFaulty(t *testing.T, c *rawConn, method, path string, uploads bool) string {
	t.Helper()
	head := method + " " + path + " HTTP/1.1\r\nHost: a\r\n"
	switch {
	case uploads:
		c.send(head + "Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 50000)) // the rest never comes
	case method == "POST":
		c.send(head + "Content-Length: 2\r\n\r\nhi")
	default:
		c.send(head + "\r\n")
	}
	for {
		resp, err := http.ReadResponse(c.r, &http.Request{Method: method})
		if err != nil {
			t.Errorf("no response: %v", err)
			return ""
		}
		if resp.StatusCode == 103 {
			continue
		}
		defer resp.Body.Close()
		if _, err := io.ReadAll(resp.Body); err != nil {
			return "cut"
		}
		return fmt.Sprint(resp.StatusCode)
	}
}

// TestDocumentedFaultsHaveTheirOutcome plays each fault of the table in docs/upstreams.md.
func TestDocumentedFaultsHaveTheirOutcome(t *testing.T) {
	t.Parallel()
	rows := documentedFaults(t)
	documented := make(map[string]bool)
	for _, row := range rows {
		documented[row.fault] = true
		if faults[row.fault] == nil {
			t.Errorf("no test plays the fault %q", row.fault)
			continue
		}
		t.Run(row.fault, func(t *testing.T) {
			t.Parallel()
			checkFault(t, row)
		})
	}
	for fault := range faults {
		if !documented[fault] {
			t.Errorf("docs/upstreams.md lacks the fault %q", fault)
		}
	}
}

func checkFault(t *testing.T, row faultRow) {
	const brief = 600 * time.Millisecond
	bad := faults[row.fault](t)
	uploads, stale := strings.Contains(row.fault, "upload"), row.again == "stale"
	open := func(others ...string) *testDoor {
		return openDoor(t, bad, func(c *config.Config) {
			up := &c.Upstreams[0]
			if strings.HasPrefix(bad, "https:") {
				up.TLS = &upstreams.TLS{Roots: []*x509.Certificate{expired().Leaf}}
			}
			up.HTTP2 = strings.HasPrefix(row.fault, overHTTP2)
			if row.again == "refused" && others == nil {
				up.Retry.Attempts = 1 // otherwise the same server gets the request again
			}
			for _, url := range others {
				up.Servers = append(up.Servers, upstreams.Server{URL: url})
			}
			r := &c.Routes[0]
			r.Timeout = brief
			if strings.Contains(row.fault, "timeout.total") {
				r.TotalTimeout = 2 * brief
			}
			if row.again == "timeout" && others != nil {
				r.TryTimeout = brief / 2
			}
		})
	}
	alone := open()
	c := dial(t, alone.addr) // one connection: each loop has connections of its own to the server
	if stale {
		askFaulty(t, c, "GET", "/first", false)
		time.Sleep(100 * time.Millisecond) // longer than the reuse delay
	}
	if got := askFaulty(t, c, "POST", "/post", uploads); got != row.result {
		t.Errorf("a POST got %s, want %s", got, row.result)
	}
	e := alone.completed(t, "/post")
	if failure, _ := e.Data["failure"].(string); failure != row.failure || e.Data["retried"] != nil {
		t.Errorf("want failure %q and no retry in %s", row.failure, e.raw)
	}
	if row.failure != "" && row.failure != "overdue" {
		failures := fmt.Sprintf(`weir_upstream_errors_total{kind=%q,upstream="site"}`, row.failure)
		testkit.AwaitEqual(t, "the failure is counted", func() float64 { return alone.metric(t, failures) }, 1)
	}

	good := upstream(t, hello).URL
	if strings.HasPrefix(row.fault, overHTTP2) {
		good = openH2C(t, hello).URL
	}
	pair := open(good)
	c = dial(t, pair.addr)
	method, want, retried := "GET", "200", row.again
	switch row.again {
	case "connect":
		method, retried = "POST", ""
	case "refused":
		method = "POST"
	case "no":
		want, retried = row.result, ""
		if uploads {
			method = "POST"
		}
	case "stale": // the server with the fault gets the first and the third request
		for _, path := range []string{"/first", "/second"} {
			askFaulty(t, c, "GET", path, false)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if got := askFaulty(t, c, method, "/pair", uploads); got != want {
		t.Errorf("with another server, a %s got %s, want %s", method, got, want)
	}
	e = pair.completed(t, "/pair")
	if got, _ := e.Data["retried"].(string); got != retried {
		t.Errorf("sent again because of %q, want %q: %s", got, retried, e.raw)
	}
}
