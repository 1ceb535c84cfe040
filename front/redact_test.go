package front_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/log/sink"
)

// canariesPerDoor is the number of different secrets that are sent through each
// front door. WEIR_LONG sets the promised number.
func canariesPerDoor() int {
	if os.Getenv("WEIR_LONG") != "" {
		return 10_000
	}
	return 2500
}

// canaryMark is the beginning of all canaries, which are secrets that must not
// be visible. One search finds all of them. A front door never writes the mark
// otherwise.
const canaryMark = "Kq7zWv3xJd"

// canaries generates canaries.
type canaries struct{ n int }

func (c *canaries) next() string {
	c.n++
	return fmt.Sprintf("%s%06d", canaryMark, c.n)
}

// encodings are encodings of a secret in a URL.
var encodings = []func(string) string{
	func(s string) string { return s },
	percent,
	func(s string) string { return percent(percent(s)) },
	func(s string) string { return strings.ToLower(percent(s)) },
	func(s string) string { return percent(s[:1]) + s[1:] },
	func(s string) string { return "%ff%00+" + s + "%0d%0a" },
	func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u:" + s)) },
	func(s string) string { return "a=" + s + "=b" },
}

func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

// secretKeys are spellings of the parameters in the configuration.
var secretKeys = []string{
	"token", "TOKEN", "tOkEn", "%74oken", "%54%4f%4B%65n", "%2574oken",
	"Session-Key", "session%2Dkey", "p%C3%A4sswort", "api+key", "api%20key",
}

const redactConfig = `listen: ["127.0.0.1:0"]
admin: "127.0.0.1:0"
log:
  format: %s
  events: %s
  redact: [token, session-key, "pässwort", "api key"]
  request_fields: [referer, x-original-url]
  response_fields: [location]
upstreams:
  site: {servers: [%q]}
routes:
  - {match: "/{path...}", to: site}
`

// TestSecretsStayOutOfSight sends secrets in all places where clients and
// upstreams put them, in requests that succeed and in requests that fail on
// either side. It then searches all output for them.
func TestSecretsStayOutOfSight(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "ltsv"} {
		for _, events := range []string{config.EventsAll, config.EventsCompleted} {
			t.Run(format+", "+events, func(t *testing.T) {
				t.Parallel()
				secrets := &canaries{}
				back := rawUpstream(t, func(c *rawConn) {
					for r := c.request(); r != nil; r = c.request() {
						c.send(secretAnswer(r))
					}
				})
				d := openRedactingDoor(t, fmt.Sprintf(redactConfig, format, events, "http://"+back))
				requests := 0
				for secrets.n < canariesPerDoor() {
					for _, send := range secretRequests {
						send(t, d, secrets)
						requests++
					}
				}
				d.checkAdminPages(t)
				if err := d.close(); err != nil {
					t.Error(err)
				}
				text := d.log.text.String()
				if lines := strings.Count(text, "\n"); lines < requests {
					t.Errorf("%d lines for %d requests", lines, requests)
				}
				for line := range strings.Lines(text) {
					if seen := seenIn(line); seen != "" {
						t.Fatalf("%s is in the log: %s", seen, line)
					}
				}
				if !strings.Contains(text, "[redacted]") {
					t.Error("nothing was redacted")
				}
			})
		}
	}
}

// checkAdminPages searches the pages of the admin listener for secrets.
func (d *testDoor) checkAdminPages(t *testing.T) {
	t.Helper()
	for _, path := range []string{"/", "/failures", "/metrics", "/healthz", "/readyz"} {
		_, page := get(t, httpClient(t), "http://"+d.AdminAddr().String()+path)
		if seen := seenIn(page); seen != "" || page == "" {
			t.Errorf("%s is on %s:\n%s", seen, path, page)
		}
	}
}

func openRedactingDoor(t *testing.T, yaml string) *testDoor {
	t.Helper()
	cfg, err := config.Parse("weir.yaml", []byte(yaml), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	d := &testDoor{t: t, config: cfg, log: newLogBook(), served: make(chan error, 1)}
	if d.Door, err = front.New(cfg, sink.NewDirect(d.log)); err != nil {
		t.Fatal(err)
	}
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()
	return d
}

// secretFields returns header fields with secrets, in upper and lower case.
func secretFields(s *canaries) [][2]string {
	fields := [][2]string{
		{"Authorization", "Bearer " + s.next()},
		{"Proxy-Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+s.next()))},
		{"Cookie", "a=b; session=" + s.next() + `; quoted="` + s.next() + `"`},
		{"X-Api-Key", s.next()},
		{"X-Original-Url", "/a?" + secretQuery(s)},
		{"Referer", "http://user:" + s.next() + "@example.org/?" + secretQuery(s) + "#token=" + s.next()},
	}
	if s.n%2 == 0 {
		for i := range fields {
			fields[i][0] = strings.ToLower(fields[i][0])
		}
	}
	return fields
}

func secretQuery(s *canaries) string {
	parameters := []string{"page=2"}
	for range 3 {
		key := secretKeys[s.n%len(secretKeys)]
		parameters = append(parameters, key+"="+encodings[s.n%len(encodings)](s.next()))
	}
	return strings.Join(parameters, "&;"[s.n%2:s.n%2+1])
}

func secretHead(s *canaries, requestLine string) string {
	head := requestLine + " HTTP/1.1\r\nHost: a.example\r\n"
	for _, f := range secretFields(s) {
		head += f[0] + ": " + f[1] + "\r\n"
	}
	return head
}

// secretAnswer responds as the path requests. Its secret is the X-Api-Key of
// the request, so that each response has a different one.
func secretAnswer(r *http.Request) string {
	secret := r.Header.Get("X-Api-Key")
	switch r.URL.Path {
	case "/no-http":
		return "Set-Cookie: session=" + secret + "\r\n\r\n"
	case "/no-field":
		return "HTTP/1.1 200 OK\r\nSet-Cookie session=" + secret + "\r\nContent-Length: 2\r\n\r\nok"
	case "/bad-field":
		return "HTTP/1.1 200 OK\r\nSet-Cookie: session=" + secret + "\x00\r\nContent-Length: 2\r\n\r\nok"
	case "/bad-name":
		return "HTTP/1.1 200 OK\r\nX-Api-Key\x01" + secret + ": session=" + secret + "\r\nContent-Length: 2\r\n\r\nok"
	case "/bad-length":
		return "HTTP/1.1 200 OK\r\nSet-Cookie: session=" + secret + "\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"
	case "/surplus":
		return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokSet-Cookie: " + secret + "\r\n"
	}
	return "HTTP/1.1 200 OK\r\nLocation: http://user:" + secret + "@a.example/?page=2&token=" + secret + "\r\n" +
		"Authorization: Bearer " + secret + "\r\nProxy-Authorization: " + secret + "\r\nCookie: " + secret +
		"\r\nSet-Cookie: session=" + secret + "; Secure\r\nset-cookie: other=" + secret + "\r\n" +
		"X-Api-Key: " + secret + "\r\nContent-Length: 2\r\n\r\nok"
}

// secretRequests each send one request and read its response.
var secretRequests = []func(t *testing.T, d *testDoor, s *canaries){
	asked("GET", "/a"),
	asked("GET", "/no-http"),
	asked("GET", "/no-field"),
	asked("GET", "/bad-field"),
	asked("GET", "/bad-name"),
	asked("GET", "/bad-length"),
	asked("HEAD", "/a"),
	asked("GET", "/surplus"),
	func(t *testing.T, d *testDoor, s *canaries) { // userinfo in the target
		ask(t, d.addr, secretHead(s, "GET http://user:"+s.next()+"@a.example/x?"+secretQuery(s))+"\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // in the target of a tunnel
		ask(t, d.addr, secretHead(s, "CONNECT user:"+s.next()+"@a.example:443")+"\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // in Host
		ask(t, d.addr, "GET /?"+secretQuery(s)+" HTTP/1.1\r\nHost: user:"+s.next()+"@a.example\r\n\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // in both
		userinfo := "user:" + s.next()
		ask(t, d.addr, "GET http://"+userinfo+"@a.example/ HTTP/1.1\r\nHost: "+userinfo+"@a.example\r\n\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // an invalid field
		ask(t, d.addr, secretHead(s, "GET /a?"+secretQuery(s))+"Authorization "+s.next()+"\r\n\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // an invalid value
		ask(t, d.addr, secretHead(s, "GET /a?"+secretQuery(s))+"Authorization: a\x00"+s.next()+"\r\n\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // a folded field
		ask(t, d.addr, secretHead(s, "GET /a?"+secretQuery(s))+"Authorization: a\r\n "+s.next()+"\r\n\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // a refused path
		ask(t, d.addr, secretHead(s, "GET /a/..%2f?"+secretQuery(s))+"\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // an invalid target
		ask(t, d.addr, secretHead(s, "GET /\x01?token="+s.next())+"\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // an unknown method
		ask(t, d.addr, secretHead(s, "BREW /a?"+secretQuery(s))+"\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // a bad chunk
		ask(t, d.addr, secretHead(s, "POST /a?"+secretQuery(s))+"Transfer-Encoding: chunked\r\n\r\n"+s.next()+"\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // a trailer
		ask(t, d.addr, secretHead(s,
			"POST /a?"+secretQuery(s))+"Trailer: Authorization\r\nTransfer-Encoding: chunked\r\n\r\n"+
			"2\r\nok\r\n0\r\nAuthorization: "+s.next()+"\r\n\r\n")
	},
	func(t *testing.T, d *testDoor, s *canaries) { // a head above the limit
		conn := dial(t, d.addr)
		io.WriteString(conn,
			secretHead(s, "GET /a?"+secretQuery(s))+"X-Api-Key: "+strings.Repeat("x", 1<<20)+s.next()+"\r\n\r\n")
		io.Copy(io.Discard, conn) // either may fail, because the front door does not read all bytes
		conn.Close()
	},
	func(t *testing.T, d *testDoor, s *canaries) { // HTTP/2
		r, err := http.NewRequestWithContext(t.Context(), "GET", d.url("/a?"+secretQuery(s)), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range secretFields(s) {
			r.Header.Set(f[0], f[1])
		}
		c := h2cClient(t)
		do(t, c, r)
		c.CloseIdleConnections()
	},
}

func asked(method, path string) func(*testing.T, *testDoor, *canaries) {
	return func(t *testing.T, d *testDoor, s *canaries) {
		ask(t, d.addr, secretHead(s, method+" "+path+"?"+secretQuery(s))+"\r\n")
	}
}

// base64Marks are the encodings of the mark in base64, at each of the three
// positions in a group, without the characters at its ends that depend on the
// bytes next to it.
var base64Marks = func() (marks []string) {
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + canaryMark + "xx"))
		marks = append(marks, encoded[4:12])
	}
	return marks
}()

// seenIn returns a visible part of a canary in a line: in plain text, in the
// values of its JSON, or after decoding URL escapes up to three times.
func seenIn(line string) string {
	views := []string{line}
	var value any
	if json.Unmarshal([]byte(line), &value) == nil {
		views = append(views, fmt.Sprint(value))
	}
	for range 3 {
		for _, v := range views[len(views)-min(2, len(views)):] {
			views = append(views, unescaped(v))
		}
	}
	for _, v := range views {
		if i := strings.Index(strings.ToLower(v), strings.ToLower(canaryMark)); i >= 0 {
			return v[i:min(i+len(canaryMark)+6, len(v))]
		}
		for _, mark := range base64Marks {
			if strings.Contains(v, mark) {
				return mark
			}
		}
	}
	return ""
}

// unescaped decodes URL escapes and keeps the rest.
func unescaped(s string) string {
	pieces := strings.Split(s, "%")
	for i, p := range pieces[1:] {
		if len(p) >= 2 {
			if c, err := url.PathUnescape("%" + p[:2]); err == nil {
				pieces[i+1] = c + p[2:]
				continue
			}
		}
		pieces[i+1] = "%" + p
	}
	return strings.Join(pieces, "")
}

// TestSecretsAreSeenWithoutRedaction checks that the search finds secrets.
func TestSecretsAreSeenWithoutRedaction(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	for _, format := range []string{"json", "ltsv"} {
		yaml := strings.Replace(fmt.Sprintf(redactConfig, format, config.EventsCompleted, back.URL), "redact: [token",
			"redact: [other", 1)
		d := openRedactingDoor(t, yaml)
		for _, encode := range encodings {
			secrets := &canaries{}
			get(t, httpClient(t), d.url("/a?token="+encode(secrets.next())))
		}
		d.close()
		lines := strings.SplitAfter(d.log.text.String(), "\n")
		if len(lines) != len(encodings)+1 {
			t.Fatalf("%d lines, want %d", len(lines)-1, len(encodings))
		}
		for _, line := range lines[:len(encodings)] {
			if seenIn(line) == "" {
				t.Errorf("not seen in %s", line)
			}
		}
	}
}
