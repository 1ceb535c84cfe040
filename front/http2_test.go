package front_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/certtest"
)

// A rawHTTP2 is an HTTP/2 client that sends any fields.
type rawHTTP2 struct {
	conn   *rawConn
	framer *http2.Framer
	stream uint32 // the last one
}

func dialHTTP2(t testing.TB, addr string) *rawHTTP2 {
	t.Helper()
	c := dial(t, addr)
	c.send(http2.ClientPreface)
	f := http2.NewFramer(c, c.r)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := f.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return &rawHTTP2{conn: c, framer: f}
}

// begin sends the head of a request with alternating names and values.
func (h *rawHTTP2) begin(end bool, fields ...string) (stream uint32) {
	h.conn.t.Helper()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	h.stream = h.stream + 1 + h.stream%2 // 1, 3, 5
	err := h.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: h.stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: end,
	})
	if err != nil {
		h.conn.t.Fatal(err)
	}
	return h.stream
}

// get sends a request without a body and returns the status of the response, or
// 0 if the stream was reset.
func (h *rawHTTP2) get(fields ...string) (status int) {
	h.conn.t.Helper()
	status, _ = h.finish(h.begin(true, fields...))
	return status
}

// finish reads to the end of a stream. whole is false if the stream or the
// connection was reset.
func (h *rawHTTP2) finish(stream uint32) (status int, whole bool) {
	h.conn.t.Helper()
	for {
		f, err := h.framer.ReadFrame()
		if err != nil {
			if err != io.EOF {
				h.conn.t.Logf("reading a frame: %v", err)
			}
			return status, false
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				h.framer.WriteSettingsAck()
			}
			continue
		case *http2.MetaHeadersFrame:
			if f.StreamID == stream && f.PseudoValue("status") != "" {
				status = statusOf(f)
			}
		case *http2.RSTStreamFrame:
			if f.StreamID == stream {
				return status, false
			}
		}
		if h := f.Header(); h.StreamID == stream && h.Flags.Has(http2.FlagDataEndStream) {
			return status, true
		}
	}
}

func statusOf(f *http2.MetaHeadersFrame) int {
	status, _ := strconv.Atoi(f.PseudoValue("status"))
	return status
}

// TestOneByteFramesArriveWhole sends a body in frames of one byte. A read of one byte is
// not always the background read of net/http.
func TestOneByteFramesArriveWhole(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); n != 50 || err != nil {
			t.Errorf("the upstream got %d bytes, %v", n, err)
		}
	})
	d := openDoor(t, back.URL)
	h2 := dialHTTP2(t, d.addr)
	stream := h2.begin(false, ":method", "POST", ":scheme", "http", ":authority", "a", ":path", "/")
	for i := range 50 {
		if err := h2.framer.WriteData(stream, i == 49, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if status, whole := h2.finish(stream); status != 200 || !whole {
		t.Errorf("%d, whole %v", status, whole)
	}
}

// TestHTTP2ClientsAreServed has independent clients send requests with prior knowledge and over TLS.
func TestHTTP2ClientsAreServed(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("0123456789abcdef", 20<<10) // more than any initial window
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		if r.Method == "POST" && (err != nil || string(got) != body) {
			t.Errorf("the upstream got %d bytes, %v", len(got), err)
		}
		w.Header().Set("X-Method", r.Method)
		io.WriteString(w, body)
	})
	d := openTLSDoor(t, back.URL)
	plain, secure := "http://"+d.addr+"/", "https://localhost:"+portOf(t, d.secure)+"/"
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, certtest.PEM(d.root.Chain()...), 0o600); err != nil {
		t.Fatal(err)
	}
	upload := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(upload, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		want string // the output contains it
	}{
		{"curl", []string{"curl", "-sS", "--http2-prior-knowledge", "-w", "<%{http_code} HTTP/%{http_version}>", plain}, body + "<200 HTTP/2>"},
		{"curl, upload", []string{"curl", "-sS", "--http2-prior-knowledge", "--data-binary", "@" + upload, plain}, body},
		{"curl, Expect", []string{"curl", "-sS", "--http2-prior-knowledge", "-H", "Expect: 100-continue", "-T", upload,
			"-X", "POST", plain}, body},
		{"curl, HEAD", []string{"curl", "-sS", "--http2-prior-knowledge", "-I", plain}, "HTTP/2 200"},
		{"curl, TLS", []string{"curl", "-sS", "--http2", "--cacert", roots, "--data-binary", "@" + upload, "-w",
			"<%{http_code} HTTP/%{http_version}>", secure}, body + "<200 HTTP/2>"},
		{"curl, TLS 1.2", []string{"curl", "-sS", "--http2", "--tls-max", "1.2", "--cacert", roots, "-w",
			"<%{http_code} HTTP/%{http_version}>", secure}, body + "<200 HTTP/2>"},
		{"nghttp", []string{"nghttp", "-d", upload, plain}, body},
		{"h2load", []string{"h2load", "-n", "80", "-c", "4", "-m", "20", "-d", upload, plain}, "80 succeeded, 0 failed"},
		{"h2load, TLS", []string{"h2load", "-n", "80", "-c", "4", "-m", "20", secure}, "80 succeeded, 0 failed"},
		{"node", []string{"node", "testdata/http2client.mjs", plain, upload}, "20 responses of " + strconv.Itoa(len(body))},
		{"node, TLS", []string{"node", "testdata/http2client.mjs", secure, upload, roots}, "20 responses of " + strconv.Itoa(len(body))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.args[0]); err != nil {
				t.Skipf("%s is not installed", c.args[0])
			}
			out, err := exec.Command(c.args[0], c.args[1:]...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, %d bytes: %.500q", err, len(out), out)
			}
		})
	}
	t.Run("net/http, TLS", func(t *testing.T) {
		c := httpClient(t)
		tr := c.Transport.(*http.Transport)
		tr.TLSClientConfig, tr.ForceAttemptHTTP2 = d.client("localhost"), true
		resp, got := get(t, c, secure)
		if resp.ProtoMajor != 2 || got != body {
			t.Errorf("%s, %d bytes", resp.Proto, len(got))
		}
	})
	d.close()
	for _, e := range d.log.events(t) {
		if e.Event == "http request completed" && (e.HTTP.Protocol != "HTTP/2.0" || e.HTTP.StatusCode != 200) {
			t.Errorf("completed: %s", e.raw)
		}
	}
}

func portOf(t *testing.T, addr string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return port
}
