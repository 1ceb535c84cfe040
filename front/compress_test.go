package front_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/compress"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/forwardauth"
	"github.com/weirhq/weir/front/feature/maintenance"
	"github.com/weirhq/weir/front/feature/respond"
	"github.com/weirhq/weir/front/statuses"
	"github.com/weirhq/weir/internal/testkit"
)

// compressed sets the compression of all routes without their own.
func compressed(adjust ...func(*compress.Config)) func(*config.Config) {
	return func(c *config.Config) {
		all := compress.Default()
		for _, f := range adjust {
			f(all)
		}
		for i := range c.Routes {
			c.Routes[i].Compress = cmp.Or(c.Routes[i].Compress, all)
		}
	}
}

// plainClient returns a client that neither sends Accept-Encoding nor decodes.
func plainClient(c *http.Client) *http.Client {
	c.Transport.(*http.Transport).DisableCompression = true
	return c
}

// decoded returns a reader of the decoded body of a response.
func decoded(t testing.TB, resp *http.Response) io.Reader {
	t.Helper()
	switch name := resp.Header.Get("Content-Encoding"); name {
	case "zstd":
		d, err := zstd.NewReader(resp.Body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Close)
		return d
	case "br":
		return brotli.NewReader(resp.Body)
	case "gzip":
		d, err := gzip.NewReader(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return d
	case "":
		return resp.Body
	default:
		t.Fatalf("Content-Encoding: %s", name)
		return nil
	}
}

var pageText = strings.Repeat("a page of a site, and more of it; ", 500)

// page responds with pageText and the fields of the query.
func page(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	for name, values := range r.URL.Query() {
		h[name] = values
	}
	text := pageText
	if n, err := strconv.Atoi(h.Get("Length")); err == nil {
		text = text[:n]
	}
	status := 200
	if n, err := strconv.Atoi(h.Get("Status")); err == nil {
		status = n
	}
	if h.Get("Chunks") == "" {
		h.Set("Content-Length", strconv.Itoa(len(text)))
	}
	w.WriteHeader(status)
	if status != 204 && status != 304 {
		if h.Get("Chunks") != "" {
			w.(http.Flusher).Flush()
		}
		io.WriteString(w, text)
	}
}

// TestSuitableResponsesAreCompressed checks which responses are compressed, and their fields, over both protocols.
func TestSuitableResponsesAreCompressed(t *testing.T) {
	t.Parallel()
	back := upstream(t, page)
	d := openDoor(t, back.URL, func(c *config.Config) {
		own := config.DefaultRoute("/own", "")
		own.Respond = &respond.Config{Status: 200, Text: pageText, Type: "text/plain"}
		asked := own
		asked.Match = "/asked"
		asked.ForwardAuth = &forwardauth.Config{To: "site", Path: "/denied?Status=403", Timeout: testTimeout}
		secret := config.DefaultRoute("/secret", "site")
		secret.Compress = compress.Default()
		secret.Compress.WithCredentials = true
		off := config.DefaultRoute("/off", "site")
		off.Compress = &compress.Config{}
		gzipOnly := config.DefaultRoute("/gzip", "site")
		gzipOnly.Compress = compress.Default()
		gzipOnly.Compress.Encodings = []string{"gzip"}
		gzipOnly.Compress.Types = []string{"text/event-stream"}
		short := config.DefaultRoute("/any", "site")
		short.Compress = compress.Default()
		short.Compress.MinLength = 0
		c.Routes = append(c.Routes, own, asked, secret, off, gzipOnly, short)
	}, compressed())
	const everything = "Accept-Encoding: gzip, br, zstd"
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		plainClient(client)
		for _, c := range []struct {
			target, fields string
			encoding       string
			varies         bool
		}{
			{"/", "", "", true},
			{"/", everything, "zstd", true},
			{"/", "Accept-Encoding: gzip, br", "br", true},
			{"/", "Accept-Encoding: gzip", "gzip", true},
			{"/", "Accept-Encoding: gzip;q=0.5, identity", "", true},
			{"/?Chunks=1", everything, "zstd", true},
			{"/?Length=1023", everything, "", false},
			{"/?Length=1024", everything, "zstd", true},
			{"/any?Length=1", everything, "zstd", true},
			{"/any?Length=0", everything, "", false},
			{"/?Length=10&Chunks=1", everything, "zstd", true},
			{"/?Length=0&Chunks=1", everything, "zstd", true},
			{"/?Status=404", everything, "zstd", true},
			{"/?Status=204", everything, "", false},
			{"/?Status=304", everything, "", true},
			{"/?Status=206", everything, "", false},
			{"/?Content-Range=bytes+1-2/3", everything, "", false},
			{"/?Content-Encoding=x-own", everything, "", false},
			{"/?Content-Type=image/png", everything, "", false},
			{"/?Content-Type=", everything, "", false},
			{"/?Content-Type=text/event-stream", everything, "", false},
			{"/gzip?Content-Type=text/event-stream", everything, "gzip", true},
			{"/?Content-Type=application/vnd.api%2Bjson", everything, "zstd", true},
			{"/?Content-Type=TEXT/CSS+;charset=utf-8", everything, "zstd", true},
			{"/?Content-Type=image/vnd.microsoft.icon", everything, "zstd", true},
			{"/?Content-Type=image/x-ms-bmp", everything, "zstd", true},
			{"/?Content-Type=font/opentype", everything, "zstd", true},
			{"/?Content-Type=font/collection", everything, "zstd", true},
			{"/?Content-Type=font/sfnt", everything, "zstd", true},
			{"/?Content-Type=application/x-font-ttf", everything, "zstd", true},
			{"/?Content-Type=font/woff2", everything, "", false},
			{"/?Cache-Control=max-age=1,+no-transform", everything, "", false},
			{"/", everything + "|Cache-Control: no-transform", "", false},
			{"/?Content-MD5=x", everything, "", false},
			{"/?Repr-Digest=x", everything, "", false},
			{"/?Content-Digest=x", everything, "", false},
			{"/?Digest=x", everything, "", false},
			{"/?Vary=Origin", everything, "zstd", true},
			{"/?Vary=Origin,accept-encoding", everything, "zstd", true},
			{"/?Vary=*", everything, "zstd", true},
			{"/", everything + "|Cookie: a=b", "", true},
			{"/", everything + "|Authorization: Basic eDp5", "", true},
			{"/?Set-Cookie=a", everything, "", true},
			{"/?Cache-Control=private", everything, "", true},
			{"/?Cache-Control=public", everything + "|Cookie: a=b", "zstd", true},
			{"/?Cache-Control=public&Set-Cookie=a", everything, "", true},
			{"/own", everything + "|Cookie: a=b", "zstd", true},
			{"/asked", everything + "|Cookie: a=b", "", true},
			{"/secret?Set-Cookie=a&Cache-Control=private", everything + "|Cookie: a=b|Authorization: Basic eDp5", "zstd", true},
			{"/off", everything, "", false},
			{"/gzip?Content-Type=text/html", everything, "", false},
		} {
			for _, method := range []string{"GET", "HEAD", "POST"} {
				r, err := http.NewRequest(method, d.url(c.target), nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range strings.Split(c.fields, "|") {
					if name, value, ok := strings.Cut(f, ": "); ok {
						r.Header.Set(name, value)
					}
				}
				resp, err := client.Do(r)
				if err != nil {
					t.Fatalf("%s %s %s %s: %v", name, method, c.target, c.fields, err)
				}
				checkCompressed(t, fmt.Sprint(name, " ", method, " ", c.target, " ", c.fields), resp, c.encoding, c.varies)
				resp.Body.Close()
			}
		}
	}
}

// checkCompressed checks the fields and the body of a response of page.
func checkCompressed(t *testing.T, what string, resp *http.Response, encoding string, varies bool) {
	t.Helper()
	got := resp.Header.Get("Content-Encoding")
	if own := strings.Contains(what, "x-own"); got != encoding && !own {
		t.Errorf("%s: Content-Encoding %q, want %q", what, got, encoding)
		return
	}
	vary := strings.Join(resp.Header.Values("Vary"), ", ")
	if has := strings.Contains(strings.ToLower(vary), "accept-encoding") || vary == "*"; has != varies {
		t.Errorf("%s: Vary %q", what, vary)
	}
	if strings.Count(strings.ToLower(vary), "accept-encoding") > 1 {
		t.Errorf("%s: Vary %q has it twice", what, vary)
	}
	want := pageText
	if n, err := strconv.Atoi(resp.Header.Get("Length")); err == nil {
		want = want[:n]
	}
	if strings.Contains(what, "HEAD") || resp.StatusCode == 204 || resp.StatusCode == 304 {
		want = ""
	}
	if got == "x-own" {
		resp.Header.Del("Content-Encoding")
	}
	var body []byte
	var err error
	if encoding == "" || want != "" || !strings.Contains(what, "HEAD") {
		body, err = io.ReadAll(decoded(t, resp))
	}
	if err != nil || string(body) != want {
		t.Errorf("%s: %d bytes, %v; want %d", what, len(body), err, len(want))
	}
}

// TestCompressedResponseValidates checks the ETag of a compressed response, and that it validates.
func TestCompressedResponseValidates(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Vary", "Cookie")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(pageText))
	})
	d := openDoor(t, back.URL, compressed())
	client := plainClient(httpClient(t))
	send := func(fields ...string) *http.Response {
		r, err := http.NewRequest("GET", d.url("/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(fields); i += 2 {
			r.Header.Set(fields[i], fields[i+1])
		}
		resp, _ := do(t, client, r)
		return resp
	}
	resp := send("Accept-Encoding", "br")
	if h := resp.Header; h.Get("ETag") != `W/"one"` || h.Get("Accept-Ranges") != "" || resp.ContentLength != -1 {
		t.Errorf("compressed: %v", h)
	}
	for asked, want := range map[string]string{`W/"one"`: `W/"one"`, `"one"`: `"one"`, `"zero", W/"one"`: `W/"one"`} {
		resp = send("Accept-Encoding", "br", "If-None-Match", asked)
		vary := strings.Join(resp.Header.Values("Vary"), ", ")
		if resp.StatusCode != 304 || resp.Header.Get("ETag") != want || vary != "Cookie, Accept-Encoding" {
			t.Errorf("If-None-Match: %s: %s, ETag %s, want %s, and Vary %q", asked, resp.Status, resp.Header.Get("ETag"),
				want, vary)
		}
	}
	resp = send("Accept-Encoding", "br", "Range", "bytes=0-4")
	if h := resp.Header; resp.StatusCode != 206 || h.Get("ETag") != `"one"` || h.Get("Content-Encoding") != "" {
		t.Errorf("a range: %s %v", resp.Status, h)
	}
	resp = send("Accept-Encoding", "br", "Range", "bytes=0-4", "If-Range", `W/"one"`)
	if h := resp.Header; resp.StatusCode != 200 || h.Get("Content-Encoding") != "br" {
		t.Errorf("a range of a compressed response: %s %v", resp.Status, h)
	}
	resp = send()
	if h := resp.Header; h.Get("ETag") != `"one"` || h.Get("Accept-Ranges") != "bytes" {
		t.Errorf("not compressed: %v", h)
	}
}

func TestHTTP10GetsNoCompression(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, page).URL, compressed())
	resp, body := ask(t, d.addr, "GET / HTTP/1.0\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n")
	if resp.Header.Get("Content-Encoding") != "" || body != pageText || resp.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("%v, %d bytes", resp.Header, len(body))
	}
}

// TestCompressedStreamArrivesInParts checks that each part of a body of unknown length arrives before the
// upstream sends the next one, and that trailers arrive.
func TestCompressedStreamArrivesInParts(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, encoding := range []string{"zstd", "br", "gzip"} {
			t.Run(name+" "+encoding, func(t *testing.T) {
				next := make(chan bool)
				back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/x-ndjson")
					w.Header().Set("Trailer", "X-End")
					for i := range 5 {
						fmt.Fprintf(w, "{\"part\": %d}\n", i)
						w.(http.Flusher).Flush()
						<-next
					}
					w.Header().Set("X-End", "yes")
				})
				d := openDoor(t, back.URL, compressed())
				r, err := http.NewRequest("GET", d.url("/stream"), nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Accept-Encoding", encoding)
				resp, err := plainClient(client).Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				count := &counted{r: resp.Body}
				resp.Body = io.NopCloser(count)
				body := decoded(t, resp)
				line := make([]byte, len("{\"part\": 0}\n"))
				for i := range 5 {
					if _, err := io.ReadFull(body, line); err != nil || string(line) != fmt.Sprintf("{\"part\": %d}\n", i) {
						t.Fatalf("part %d: %q, %v", i, line, err)
					}
					next <- true
				}
				if rest, err := io.ReadAll(body); err != nil || len(rest) > 0 {
					t.Errorf("the end: %q, %v", rest, err)
				}
				io.Copy(io.Discard, count)
				if got := resp.Trailer.Get("X-End"); got != "yes" {
					t.Errorf("trailers: %v", resp.Trailer)
				}
				if e := d.completed(t, "/stream"); e.HTTP.ResponseContentLength != count.n {
					t.Errorf("the log has %d bytes, and the client got %d", e.HTTP.ResponseContentLength, count.n)
				}
			})
		}
	}
}

// counted counts the bytes that are read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// TestCutCompressedResponseLooksIncomplete checks that a response which the upstream has cut looks incomplete, to the
// protocol and to the decoder, and that the client gets the part before the cut.
func TestCutCompressedResponseLooksIncomplete(t *testing.T) {
	t.Parallel()
	const part = "{\"part\": 1}\n"
	for _, framing := range []string{"Content-Length: 100000", "Transfer-Encoding: chunked"} {
		back := rawUpstream(t, func(c *rawConn) {
			c.request()
			c.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + framing + "\r\n\r\n")
			if strings.Contains(framing, "chunked") {
				c.send(fmt.Sprintf("%x\r\n%s\r\n", len(part), part))
			} else {
				c.send(part)
			}
			c.Close()
		})
		d := openDoor(t, "http://"+back, compressed())
		for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
			for _, encoding := range []string{"zstd", "br", "gzip"} {
				r, err := http.NewRequest("GET", d.url("/"), nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Accept-Encoding", encoding)
				resp, err := plainClient(client).Do(r)
				if err != nil {
					t.Fatalf("%s %s %s: %v", name, encoding, framing, err)
				}
				raw, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err == nil {
					t.Errorf("%s %s %s: the response looks complete", name, encoding, framing)
				}
				resp.Body = io.NopCloser(bytes.NewReader(raw))
				if body, err := io.ReadAll(decoded(t, resp)); err == nil || string(body) != part {
					t.Errorf("%s %s %s: decoded to %q, %v; want the first part and an error", name, encoding, framing, body, err)
				}
			}
		}
	}
}

// TestCompressedBodiesArriveWhole sends bodies of random lengths, in random parts with flushes and pauses,
// through one front door at the same time, over both protocols.
func TestCompressedBodiesArriveWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	type body struct {
		parts [][]byte
		sized bool
	}
	bodies := make([]body, 60)
	for i := range bodies {
		b := &bodies[i]
		b.sized = i%3 == 0
		for range 1 + random.IntN(6) {
			part := make([]byte, random.IntN([]int{10, 1000, 50_000, 300_000}[random.IntN(4)])+1)
			for j := range part {
				part[j] = byte(random.IntN(1 + 255*(i%2)))
			}
			b.parts = append(b.parts, part)
		}
	}
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(r.URL.Path[1:])
		w.Header().Set("Content-Type", "text/plain")
		if bodies[i].sized {
			w.Header().Set("Content-Length", strconv.Itoa(len(slices.Concat(bodies[i].parts...))))
		}
		for _, part := range bodies[i].parts {
			w.Write(part)
			if !bodies[i].sized {
				w.(http.Flusher).Flush()
			}
		}
	})
	d := openDoor(t, back.URL, compressed(func(c *compress.Config) { c.MinLength = 0 }))
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		plainClient(client)
		t.Run(name, func(t *testing.T) {
			for i, b := range bodies {
				t.Run(strconv.Itoa(i), func(t *testing.T) {
					t.Parallel()
					r, err := http.NewRequest("GET", d.url("/"+strconv.Itoa(i)), nil)
					if err != nil {
						t.Fatal(err)
					}
					r.Header.Set("Accept-Encoding", []string{"zstd", "br", "gzip"}[i/3%3])
					resp, err := client.Do(r)
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
					got, err := io.ReadAll(decoded(t, resp))
					if want := slices.Concat(b.parts...); err != nil || !bytes.Equal(got, want) ||
						resp.Header.Get("Content-Encoding") == "" {
						t.Errorf("%d bytes, %v; want %d; %v", len(got), err, len(want), resp.Header)
					}
				})
			}
		})
	}
}

// TestResponsesBeyondMemoryStayPlain checks that responses beyond the memory of encoders are not compressed,
// and that clients which disconnect give their encoders back.
func TestResponsesBeyondMemoryStayPlain(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, pageText)
		w.(http.Flusher).Flush()
		select {
		case <-g.ch:
		case <-r.Context().Done():
		}
	})
	d := openDoor(t, back.URL, compressed(func(c *compress.Config) { c.Level = 6 }))
	client := plainClient(httpClient(t))
	open := func() *http.Response {
		r, err := http.NewRequest("GET", d.url("/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "zstd")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	const most = 128 << 20 / (5 << 20) // an encoder counts 5 MiB
	var held []*http.Response
	for i := range most + 3 {
		resp := open()
		if got, want := resp.Header.Get("Content-Encoding") == "zstd", i < most; got != want {
			t.Errorf("response %d is compressed: %v, want %v", i, got, want)
		}
		held = append(held, resp)
	}
	if n := d.metric(t, "weir_responses_not_compressed_total"); n != 3 {
		t.Errorf("%v responses are counted as not compressed, want 3", n)
	}
	for _, resp := range held {
		resp.Body.Close()
	}
	testkit.AwaitEqual(t, "encoders free again", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 0)
	last := open()
	defer last.Body.Close()
	if last.Header.Get("Content-Encoding") != "zstd" {
		t.Error("after the clients have disconnected, no response is compressed")
	}
	g.open()
}

// TestCompressionLeavesTimeForOthers requests short responses while endless ones are compressed, at most
// as fast as the processors allow.
func TestCompressionLeavesTimeForOthers(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		part := []byte(strings.Repeat(pageText, 4))
		for r.Context().Err() == nil {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		short := config.DefaultRoute("/short", "")
		short.Respond = &respond.Config{Status: 200, Text: "short"}
		c.Routes = append(c.Routes, short)
	}, compressed(func(c *compress.Config) { c.Level = 6 }))
	client := plainClient(httpClient(t))
	for range 4 {
		r, err := http.NewRequest("GET", d.url("/endless"), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "br")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan int64)
		go func() {
			n, _ := io.Copy(io.Discard, resp.Body)
			read <- n
		}()
		defer func() {
			resp.Body.Close()
			if n := <-read; n == 0 {
				t.Error("an endless response has no bytes")
			}
		}()
	}
	for range 200 {
		if _, body := get(t, client, d.url("/short")); body != "short" {
			t.Fatalf("a short response: %q", body)
		}
	}
}

// TestSlowReaderHoldsCompressionBack checks that a client which reads nothing holds the upstream back,
// and that it is cut when it falls short of the minimum speed.
func TestSlowReaderHoldsCompressionBack(t *testing.T) {
	t.Parallel()
	const most = 64 << 20
	sent := make(chan int, 1)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		random := rand.New(rand.NewPCG(1, 1))
		part := make([]byte, 32<<10)
		n := 0
		defer func() { sent <- n }()
		for n < most {
			for i := range part {
				part[i] = byte(random.IntN(256))
			}
			written, err := w.Write(part)
			if n += written; err != nil {
				return
			}
		}
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Limits.WriteTimeout = 300 * time.Millisecond
	}, compressed())
	for _, encoding := range []string{"zstd", "br", "gzip"} {
		conn := dial(t, d.addr)
		conn.send("GET /" + encoding + " HTTP/1.1\r\nHost: a\r\nAccept-Encoding: " + encoding + "\r\n\r\n")
		if n := <-sent; n >= most {
			t.Errorf("%s: all %d bytes were read from the upstream", encoding, n)
		}
		e := d.completed(t, "/"+encoding)
		if e.Data["limit"] != "download_rate" || e.Data["cut"] != true {
			t.Errorf("%s: the event has %v", encoding, e.Data)
		}
		if n := e.HTTP.ResponseContentLength; n == 0 || n >= most {
			t.Errorf("%s: %d bytes in the log", encoding, n)
		}
		conn.Close()
	}
}

func TestExplainShowsCompression(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) {
		c.Routes[0].ErrorPages = &errorpages.Config{Intercept: true,
			Pages: []errorpages.StatusPage{{Statuses: statuses.Range{First: 500, Last: 599}, Page: htmlPage("x")}}}
		closed := config.DefaultRoute("/closed", "site")
		closed.Maintenance = &maintenance.Config{Active: true}
		c.Routes = append(c.Routes, closed)
	}, compressed())
	const accept = "Accept-Encoding: br"
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{[]string{accept}, "compresses the response by br"},
		{[]string{accept, "Cookie: a=b"}, "compresses a response with Cache-Control: public by br"},
		{[]string{accept, "Cache-Control: no-transform"},
			"does not compress the response, because of Cache-Control: no-transform"},
		{nil, "does not compress the response, because of Accept-Encoding"},
	} {
		steps := d.explain(t, "GET a /", c.fields...).Routes[0].Steps
		want := []string{c.want, "replaces the bodies of errors of the upstream by pages"}
		if len(steps) < 2 || !slices.Equal(steps[:2], want) {
			t.Errorf("%q: %q, want %q", c.fields, steps, want)
		}
	}
	steps := d.explain(t, "GET a /closed", accept).Routes[0].Steps
	want := []string{"compresses the response by br", "responds with 503, because maintenance is active"}
	if !slices.Equal(steps, want) {
		t.Errorf("in maintenance: %q, want %q", steps, want)
	}
}

func TestCompressionPassesTunnels(t *testing.T) {
	t.Parallel()
	back := rawUpstream(t, func(c *rawConn) {
		c.request()
		c.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Content-Type: text/plain\r\n\r\n")
		io.Copy(c, c.r)
		c.Close()
	})
	d := openDoor(t, "http://"+back, compressed())
	conn := dial(t, d.addr)
	conn.send("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if resp, _ := conn.response("GET"); resp.StatusCode != 101 || resp.Header.Get("Content-Encoding") != "" {
		t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	conn.send("hello")
	echo := make([]byte, len("hello"))
	if _, err := io.ReadFull(conn.r, echo); err != nil || string(echo) != "hello" {
		t.Errorf("through the tunnel: %q, %v", echo, err)
	}
	conn.Close()
}
