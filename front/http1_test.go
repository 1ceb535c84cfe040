package front_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// TestFieldsArriveAsSent checks that the upstream gets the fields in the order and the case
// in which the client sent them.
func TestFieldsArriveAsSent(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	const fields = "x-B: 1\r\nACCEPT: */*\r\nx-a: 2\r\nX-b: 3\r\nuser-agent: tester\r\n"
	ask(t, d.addr, "GET /order HTTP/1.1\r\nX-First: 0\r\nHost: a\r\nConnection: x-dropped\r\nX-Dropped: y\r\n"+fields+"\r\n")
	got, _ := back.take()
	if !strings.Contains(got, "\r\nX-First: 0\r\n"+fields) || strings.Contains(got, "Dropped") {
		t.Errorf("the upstream got %q", got)
	}
	if e := d.completed(t, "/order"); e.HTTP.UserAgent != "tester" {
		t.Errorf("the event is %s", e.raw)
	}
}

// TestHalfClosedClientsGetTheirResponse sends requests of clients that close their side of the connection
// after the request. They get a response without a pause of a second.
func TestHalfClosedClientsGetTheirResponse(t *testing.T) {
	t.Parallel()
	var wrote sync.Map // the times of parts of bodies
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		pause := func(d time.Duration) {
			select {
			case <-time.After(d):
			case <-r.Context().Done():
			}
		}
		write := func(part string) {
			wrote.Store(r.URL.Path+part, time.Now())
			io.WriteString(w, part)
			http.NewResponseController(w).Flush()
		}
		switch path, _, _ := strings.Cut(r.URL.Path[1:], "/"); path {
		case "soon":
			pause(200 * time.Millisecond)
		case "late":
			pause(testTimeout)
		case "long":
			write("begun, ")
			pause(700 * time.Millisecond)
			write("continued, ")
			pause(700 * time.Millisecond)
		case "pause":
			write("begun, ")
			pause(testTimeout)
		}
		io.WriteString(w, "done")
	})
	d := openDoor(t, back.URL)
	for name, want := range map[string]string{
		"now": "done", "soon": "done", "long": "begun, continued, done", "late": "", "pause": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for limit := time.Now().Add(testTimeout); ; {
				path := fmt.Sprintf("/%s/%d", name, time.Now().UnixNano())
				c := dial(t, d.addr)
				c.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n")
				progress := time.Now()
				c.CloseWrite()
				var body []byte
				resp, err := http.ReadResponse(c.r, nil)
				if err == nil {
					body, err = io.ReadAll(resp.Body)
				}
				if want != "" && err == nil {
					if rest, err := io.ReadAll(c.r); resp.StatusCode != 200 || string(body) != want || len(rest) > 0 || err != nil {
						t.Errorf("%s, %q; want %q; then %q, %v", resp.Status, body, want, rest, err)
					}
					return
				}
				ended := time.Now()
				for part := range strings.SplitAfterSeq(string(body), " ") {
					if at, ok := wrote.Load(path + part); ok {
						progress = at.(time.Time)
					}
				}
				took := ended.Sub(progress)
				switch {
				case err != io.ErrUnexpectedEOF || resp != nil && name == "late":
					t.Fatalf("%q, %v; want the end of the connection", body, err)
				case took < time.Second:
					t.Fatalf("the end after %v, want a second or more", took)
				case want == "":
					if took > testTimeout/2 {
						t.Errorf("the end after %v, want a second", took)
					}
					if e := d.completed(t, path); e.Data["failure"] != "client_gone" {
						t.Errorf("the event is %s", e.raw)
					}
					return
				case ended.After(limit):
					t.Fatalf("%q before the end after %v, want %q", body, took, want)
				}
				t.Logf("the upstream was silent for a second, since the machine is busy: once more")
			}
		})
	}
}

// TestResetEndsTheRequest resets a connection during a slow request, before and after the end of
// the request stream. The request ends immediately: the fastest of some ends before the second
// that a half-closed client has.
func TestResetEndsTheRequest(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	d := openDoor(t, back.URL)
	reset := func(t *testing.T, path string, halfClosed bool) time.Duration {
		c := dial(t, d.addr)
		c.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n")
		d.log.find(t, func(e event) bool { return e.Event == "proxying request" && e.HTTP.Path == path })
		if halfClosed {
			c.CloseWrite()
		}
		time.Sleep(100 * time.Millisecond) // so that the client is being watched
		began := time.Now()
		c.SetLinger(0)
		c.Close()
		if e := d.completed(t, path); e.HTTP.StatusCode != 499 {
			t.Errorf("the event is %s", e.raw)
		}
		return time.Since(began)
	}
	for _, halfClosed := range []bool{false, true} {
		t.Run(fmt.Sprintf("half-closed %v", halfClosed), func(t *testing.T) {
			tries := 0
			testkit.Await(t, "a request that ends immediately", func() bool {
				tries++
				return reset(t, fmt.Sprintf("/%v/%d", halfClosed, tries), halfClosed) < 700*time.Millisecond
			})
		})
	}
}

// TestPipelinedRequestsAreServed sends a thousand requests in one write, of which some have bodies.
func TestPipelinedRequestsAreServed(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s", r.URL.Path, body)
	})
	d := openDoor(t, back.URL)
	const requests = 1000
	var stream bytes.Buffer
	for i := range requests {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&stream, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", i)
		case 1:
			fmt.Fprintf(&stream, "PUT /%d HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody", i)
		case 2:
			fmt.Fprintf(&stream, "PUT /%d HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n", i)
		}
	}
	c := dial(t, d.addr)
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() { c.Write(stream.Bytes()) })
	for i := range requests {
		want := fmt.Sprintf("/%d body", i)
		if i%3 == 0 {
			want = fmt.Sprintf("/%d ", i)
		}
		if resp, body := c.response("PUT"); resp.StatusCode != 200 || body != want {
			t.Fatalf("response %d: %s, %q", i, resp.Status, body)
		}
	}
}

// TestChunkedUploadsArriveWhole sends bodies in chunks of random sizes, in pieces of random sizes, with
// trailers and followed by another request.
func TestChunkedUploadsArriveWhole(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		w.Header().Set("X-Trailer", fmt.Sprintf("%v %s", err, r.Trailer.Get("X-Sum")))
		w.Write(body)
	})
	d := openDoor(t, back.URL)
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		body := make([]byte, random.IntN(1<<(8+seed%11)))
		for i := range body {
			body[i] = byte(random.Uint32())
		}
		stream := bytes.NewBufferString("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
		for rest := body; len(rest) > 0; {
			n := 1 + random.IntN(min(len(rest), 1<<random.IntN(16)))
			fmt.Fprintf(stream, "%x\r\n%s\r\n", n, rest[:n])
			rest = rest[n:]
		}
		fmt.Fprintf(stream, "0\r\nX-Sum: %d\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n", seed)
		c := dial(t, d.addr)
		var sending sync.WaitGroup
		sending.Go(func() {
			for stream.Len() > 0 {
				c.Write(stream.Next(1 + random.IntN(1<<random.IntN(16))))
			}
		})
		resp, got := c.response("PUT")
		if want := fmt.Sprintf("%v %d", error(nil), seed); got != string(body) || resp.Header.Get("X-Trailer") != want {
			t.Errorf("seed %d: %d bytes of %d, or others; trailer %q", seed, len(got), len(body), resp.Header.Get("X-Trailer"))
		}
		if resp, _ := c.response("GET"); resp.StatusCode != 200 {
			t.Errorf("seed %d: the second request: %s", seed, resp.Status)
		}
		sending.Wait()
	}
}

// TestResponsesHaveExactBytes checks the bytes of responses with each kind of body.
func TestResponsesHaveExactBytes(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/length":  "200 OK\r\nDate: x\r\nContent-Length: 4\r\n\r\nbody",
		"/empty":   "200 OK\r\nDate: x\r\nContent-Length: 0\r\n\r\n",
		"/chunked": "200 Fine\r\nDate: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n",
		"/close":   "200 OK\r\nDate: x\r\nConnection: close\r\n\r\nbody",
		"/204":     "204 No Content\r\nDate: x\r\n\r\n",
		"/304":     "304 Not Modified\r\nDate: x\r\nContent-Type: a/b\r\nContent-Length: 9\r\n\r\n",
		"/599":     "599 Odd\r\nDate: x\r\nContent-Length: 0\r\n\r\n",
		"/undated": "200 OK\r\nContent-Length: 0\r\n\r\n",
	}
	back := rawUpstream(t, func(c *rawConn) {
		for r := c.request(); r != nil; r = c.request() {
			answer := "HTTP/1.1 " + answers[r.URL.Path]
			if r.Method == "HEAD" {
				answer, _, _ = strings.Cut(answer, "\r\n\r\n")
				answer += "\r\n\r\n"
			}
			c.send(answer)
			if strings.Contains(answer, "Connection: close") {
				return
			}
		}
	})
	d := openDoor(t, "http://"+back)
	for _, c := range []struct{ request, want string }{
		{"GET /length HTTP/1.1", "HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 4\r\nX-Request-Id: i\r\n\r\nbody"},
		{"HEAD /length HTTP/1.1", "HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 4\r\nX-Request-Id: i\r\n\r\n"},
		{"GET /empty HTTP/1.1", "HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 0\r\nX-Request-Id: i\r\n\r\n"},
		{"GET /chunked HTTP/1.1", "HTTP/1.1 200 OK\r\nDate: x\r\nX-Request-Id: i\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"},
		{"HEAD /chunked HTTP/1.1", "HTTP/1.1 200 OK\r\nDate: x\r\nX-Request-Id: i\r\n\r\n"},
		{"GET /close HTTP/1.1", "HTTP/1.1 200 OK\r\nDate: x\r\nX-Request-Id: i\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"4\r\nbody\r\n0\r\n\r\n"},
		{"GET /204 HTTP/1.1", "HTTP/1.1 204 No Content\r\nDate: x\r\nX-Request-Id: i\r\n\r\n"},
		{"GET /304 HTTP/1.1", "HTTP/1.1 304 Not Modified\r\nDate: x\r\nX-Request-Id: i\r\n\r\n"},
		{"GET /599 HTTP/1.1", "HTTP/1.1 599 status code 599\r\nDate: x\r\nContent-Length: 0\r\nX-Request-Id: i\r\n\r\n"},
		{"GET /length HTTP/1.0", "HTTP/1.0 200 OK\r\nDate: x\r\nContent-Length: 4\r\nX-Request-Id: i\r\n\r\nbody"},
		{"GET /chunked HTTP/1.0", "HTTP/1.0 200 OK\r\nDate: x\r\nX-Request-Id: i\r\n\r\nbody"},
		{"GET /length HTTP/1.0\r\nConnection: keep-alive",
			"HTTP/1.0 200 OK\r\nDate: x\r\nContent-Length: 4\r\nX-Request-Id: i\r\nConnection: keep-alive\r\n\r\nbody"},
		{"GET /chunked HTTP/1.0\r\nConnection: keep-alive", "HTTP/1.0 200 OK\r\nDate: x\r\nX-Request-Id: i\r\n\r\nbody"},
		{"GET /length HTTP/1.1\r\nConnection: close",
			"HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 4\r\nX-Request-Id: i\r\nConnection: close\r\n\r\nbody"},
	} {
		conn := dial(t, d.addr)
		conn.send(c.request + "\r\nHost: a\r\nX-Request-Id: i\r\n\r\n")
		keep := !strings.Contains(c.want, ": close") && (!strings.Contains(c.want, "HTTP/1.0") ||
			strings.Contains(c.want, "keep-alive"))
		if keep {
			got := make([]byte, len(c.want))
			if n, err := io.ReadFull(conn.r, got); string(got) != c.want {
				t.Errorf("%q: %q, %v; want %q", c.request, got[:n], err, c.want)
				continue
			}
			conn.send("GET /empty HTTP/1.1\r\nHost: a\r\n\r\n")
			if resp, _ := conn.response("GET"); resp.StatusCode != 200 {
				t.Errorf("%q: the next request: %s", c.request, resp.Status)
			}
		} else if got, err := io.ReadAll(conn.r); string(got) != c.want || err != nil {
			t.Errorf("%q: %q, %v; want %q and the end", c.request, got, err, c.want)
		}
	}
	resp, _ := ask(t, d.addr, "GET /undated HTTP/1.1\r\nHost: a\r\n\r\n")
	if at, err := http.ParseTime(resp.Header.Get("Date")); err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("Date: %q, %v", resp.Header.Get("Date"), err)
	}
}

// TestCutResponsesLookIncomplete cuts responses with each kind of body. None looks complete.
func TestCutResponsesLookIncomplete(t *testing.T) {
	t.Parallel()
	back := rawUpstream(t, func(c *rawConn) {
		if r := c.request(); r.URL.Path == "/length" {
			c.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbody")
		} else {
			c.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n")
		}
	})
	d := openDoor(t, "http://"+back)
	for _, request := range []string{"GET /length HTTP/1.1", "GET /chunked HTTP/1.1", "GET /length HTTP/1.0",
		"GET /chunked HTTP/1.0"} {
		c := dial(t, d.addr)
		c.send(request + "\r\nHost: a\r\n\r\n")
		resp, err := http.ReadResponse(c.r, nil)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
		}
		if err == nil {
			t.Errorf("%s: the response looks complete", request)
		}
	}
}

// TestEarlyResponseReachesTheClient refuses a request with a long body that the client sends completely
// before it reads. The client gets the response, and the end of the connection.
func TestEarlyResponseReachesTheClient(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) {
		c.Routes = []config.Route{config.DefaultRoute("/known", "site")}
	})
	for _, size := range []int{100, 20 << 10, 1 << 20, 8 << 20} { // more than the buffers of both sockets, and soon sent
		for _, framing := range []string{
			fmt.Sprintf("Content-Length: %d\r\n\r\n", size),
			fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", size),
		} {
			c := dial(t, d.addr)
			c.send("POST /unknown HTTP/1.1\r\nHost: a\r\n" + framing)
			if _, err := c.Write(make([]byte, size)); err != nil {
				t.Errorf("%q: %v", framing, err)
			}
			if strings.HasPrefix(framing, "T") {
				c.send("\r\n0\r\n\r\n")
			}
			resp, _ := c.response("POST")
			if resp.StatusCode != 404 {
				t.Errorf("%q: %s, want 404", framing, resp.Status)
			}
			if !resp.Close {
				continue // the connection is kept after a short body
			}
			if _, err := io.Copy(io.Discard, c.r); err != nil {
				t.Errorf("%q: %v at the end", framing, err)
			}
		}
	}
}

// TestDrainServesAPartialHead stops a front door while a kept connection has sent a part of a head. The
// request is served, and an idle connection is closed.
func TestDrainServesAPartialHead(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	first := "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	partial, idle := dial(t, d.addr), dial(t, d.addr)
	partial.send(first)
	partial.response("GET")
	partial.send("GET / HTTP/1.1\r\nHo")
	idle.send(first)
	idle.response("GET")
	time.Sleep(10 * time.Millisecond) // so that the head has arrived
	d.drain()
	if n, err := idle.r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("an idle connection: %d bytes, %v; want it closed", n, err)
	}
	partial.send("st: a\r\n\r\n")
	if resp, body := partial.response("GET"); resp.StatusCode != 200 || body != "hello" || !resp.Close {
		t.Errorf("%s, %q, Connection: close %v", resp.Status, body, resp.Close)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// TestDrainEndsStalledHeads stops a front door while kept connections have sent a part of a head, or an empty line. The
// head gets 408 when it is due, and the other connection is idle.
func TestDrainEndsStalledHeads(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, limited(func(l *config.Limits) { l.HeaderTimeout = 2 * time.Second }))
	first := "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	partial, empty := dial(t, d.addr), dial(t, d.addr)
	for _, c := range []struct {
		conn  *rawConn
		later string
	}{{partial, "GET / HTTP/1.1\r\nHo"}, {empty, "\r\n"}} {
		c.conn.send(first)
		c.conn.response("GET")
		c.conn.send(c.later)
	}
	time.Sleep(10 * time.Millisecond) // so that both have arrived
	d.drain()
	if n, err := empty.r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a connection with an empty line: %d bytes, %v; want it closed", n, err)
	}
	if resp, _ := partial.response("GET"); resp.StatusCode != 408 || !resp.Close {
		t.Errorf("%s, Connection: close %v", resp.Status, resp.Close)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// TestLongResponsesArriveWhole sends responses of several sizes through the front door, whole and in
// chunks, to a client that reads in small pieces.
func TestLongResponsesArriveWhole(t *testing.T) {
	t.Parallel()
	body := make([]byte, 3<<20)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		var chunked bool
		fmt.Sscanf(r.URL.Path, "/%d/%t", &n, &chunked)
		if !chunked {
			w.Header().Set("Content-Length", fmt.Sprint(n))
		}
		w.Write(body[:n])
		http.NewResponseController(w).Flush()
	})
	d := openDoor(t, back.URL)
	c := dial(t, d.addr)
	c.r = bufio.NewReaderSize(c.TCPConn, 1<<10)
	for _, n := range []int{0, 1, 1000, 4095, 4096, 16 << 10, 32 << 10, 40 << 10, 41 << 10, 200_000, 3 << 20} {
		for _, chunked := range []bool{false, true} {
			c.send(fmt.Sprintf("GET /%d/%t HTTP/1.1\r\nHost: a\r\n\r\n", n, chunked))
			if _, got := c.response("GET"); got != string(body[:n]) {
				t.Errorf("%d bytes, chunked %v: got %d, or others", n, chunked, len(got))
			}
		}
	}
}

// TestDisconnectedClientEndsTheExchange closes the connection of a client in the middle of a long
// response. The exchange ends.
func TestDisconnectedClientEndsTheExchange(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { io.CopyN(w, zeros{}, 100<<20) })
	d := openDoor(t, back.URL)
	c := dial(t, d.addr)
	c.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
	if _, err := io.ReadFull(c.r, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if e := d.completed(t, "/long"); e.Data["failure"] != "client_gone" || e.Data["cut"] != true {
		t.Errorf("the event is %s", e.raw)
	}
}

// TestContinueIsSentAfterAPause sends a request that expects 100 on a connection on which the write
// deadline of an earlier response has passed.
func TestContinueIsSentAfterAPause(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	d := openDoor(t, back.URL, limited(quick))
	c := dial(t, d.addr)
	c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	c.response("GET")
	time.Sleep(2 * quickly)
	c.send("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	if resp, _ := c.response("PUT"); resp.StatusCode != 100 {
		t.Fatalf("%s, want 100", resp.Status)
	}
	c.send("body")
	if resp, body := c.response("PUT"); resp.StatusCode != 200 || body != "body" {
		t.Errorf("%s, %q", resp.Status, body)
	}
}

// TestPrefaceInPiecesIsRecognized sends the preface of HTTP/2 byte by byte. The front door responds with
// a frame of settings.
func TestPrefaceInPiecesIsRecognized(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	c := dial(t, d.addr)
	for _, b := range "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" {
		c.send(string(b))
	}
	frame := make([]byte, 9)
	if _, err := io.ReadFull(c.r, frame); err != nil || frame[3] != 4 {
		t.Errorf("frame %x, %v; want settings", frame, err)
	}
}

// TestOldDeadlinesFailNoResponse sends requests on connections that have been idle for longer than the
// deadlines of their last body and response. None of the responses fails because of them.
func TestOldDeadlinesFailNoResponse(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hints" {
			w.WriteHeader(http.StatusEarlyHints)
		}
		io.Copy(w, r.Body)
	})
	d := openDoor(t, back.URL, limited(quick))
	for request, want := range map[string][]int{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n":                             {200},
		"GET /hints HTTP/1.1\r\nHost: a\r\n\r\n":                        {103, 200},
		"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody":    {200},
		"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n":                          {400},
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n":        {400},
		"PUT / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n":                {417},
		"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: other\r\n\r\n": {501},
	} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			c := dial(t, d.addr)
			c.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n" + strings.Repeat("x", 30000))
			c.response("PUT")
			time.Sleep(2 * quickly)
			c.send(request)
			for _, status := range want {
				if resp, _ := c.response("GET"); resp.StatusCode != status {
					t.Errorf("%s, want %d", resp.Status, status)
				}
			}
		})
	}
}

// TestBodyOfAnyMethodIsForwarded sends requests of several methods with and without a body on one
// connection. The upstream gets the bodies, and no bytes that follow a request which
// closes the connection.
func TestBodyOfAnyMethodIsForwarded(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Request", fmt.Sprintf("%s %d %q", r.Method, r.ContentLength, body))
	})
	d := openDoor(t, back.URL)
	for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS", "X-OWN"} {
		c := dial(t, d.addr)
		for _, test := range []struct{ rest, want string }{
			{"\r\n", ` 0 ""`},
			{"Content-Length: 0\r\n\r\n", ` 0 ""`},
			{"Content-Length: 4\r\n\r\nbody", ` 4 "body"`},
			{"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", ` -1 "body"`},
			{"Connection: close\r\n\r\nGET /rest HTTP/1.1\r\nHost: a\r\n\r\n", ` 0 ""`},
		} {
			c.send(method + " / HTTP/1.1\r\nHost: a\r\n" + test.rest)
			resp, _ := c.response(method)
			if got := resp.Header.Get("X-Request"); resp.StatusCode != 200 || got != method+test.want {
				t.Errorf("%s %q: %s, the upstream got %s", method, test.rest, resp.Status, got)
			}
		}
		if rest, err := io.ReadAll(c.r); len(rest) > 0 || err != nil {
			t.Errorf("%s: %q, %v after the end", method, rest, err)
		}
	}
}

// TestTunnelLosesNoByte opens tunnels that are idle for longer than all timeouts of requests. No byte
// is lost: neither those that the client sends with its request, nor those after the end of
// the other direction.
func TestTunnelLosesNoByte(t *testing.T) {
	t.Parallel()
	d := openDoor(t, rawTunnels(t), limited(quick))
	for _, first := range []string{"", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"} {
		c := dial(t, d.addr)
		if c.send(first); first != "" {
			c.response("GET")
		}
		c.send("GET /tunnel HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly,")
		resp, err := http.ReadResponse(c.r, nil)
		if err != nil || resp.StatusCode != 101 {
			t.Fatalf("upgrade: %v, %v", resp, err)
		}
		time.Sleep(quickly * 3 / 2)
		c.send("late,")
		time.Sleep(quickly * 3 / 2)
		c.send("last")
		c.CloseWrite()
		if got, err := io.ReadAll(c.r); string(got) != "begun,early,late,last" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if e := d.completed(t, "/tunnel"); e.HTTP.StatusCode != 101 {
			t.Errorf("the event is %s", e.raw)
		}
	}
}

// rawTunnels starts an upstream that returns the bytes of a tunnel after their end.
func rawTunnels(t *testing.T) string {
	return "http://" + rawUpstream(t, func(c *rawConn) {
		for r := c.request(); r != nil; r = c.request() {
			if r.URL.Path != "/tunnel" {
				c.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				continue
			}
			c.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nbegun,")
			got, err := io.ReadAll(c.r)
			if err != nil {
				t.Errorf("in the tunnel: %v", err)
			}
			c.send(string(got))
			return
		}
	})
}
