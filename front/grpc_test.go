package front_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// grpcService is a service with the messages of gRPC as bytes. /echo sends each message back,
// /fail responds only with trailers, and /early ends before the request.
func grpcService(cancelled chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("X-Te", r.Header.Get("Te"))
		w.Header().Set("X-Timeout", r.Header.Get("Grpc-Timeout"))
		switch r.URL.Path {
		case "/fail":
			w.Header().Set("Grpc-Status", "5")
			return
		case "/early":
			http.NewResponseController(w).Flush()
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", "3")
			return
		case "/wait":
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
			close(cancelled)
			return
		}
		http.NewResponseController(w).Flush()
		buf := make([]byte, 64<<10)
		for {
			n, err := r.Body.Read(buf)
			w.Write(buf[:n])
			http.NewResponseController(w).Flush()
			if err != nil {
				break
			}
		}
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}
}

// TestGRPCStreamsPassAtOnce checks streams of messages in both directions, which must pass at once, their
// trailers, errors, early ends and cancellation.
func TestGRPCStreamsPassAtOnce(t *testing.T) {
	t.Parallel()
	cancelled := make(chan struct{})
	back := openH2C(t, grpcService(cancelled))
	d := openDoor(t, back.URL, withHTTP2, func(c *config.Config) { c.Routes[0].Timeout = testTimeout })
	c := h2cClient(t)
	open := func(ctx context.Context, path string) (*io.PipeWriter, *http.Response) {
		t.Helper()
		body, w := io.Pipe()
		req, err := http.NewRequestWithContext(ctx, "POST", d.url(path), body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/grpc")
		req.Header.Set("Te", "trailers")
		req.Header.Set("Grpc-Timeout", "10S")
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return w, resp
	}

	w, resp := open(t.Context(), "/echo")
	if resp.ProtoMajor != 2 || resp.Header.Get("X-Te") != "trailers" || resp.Header.Get("X-Timeout") != "10S" {
		t.Errorf("%s, %v", resp.Proto, resp.Header)
	}
	for _, size := range []int{1, 100, 10_000, 1 << 20} { // each message returns before the next one is sent
		message := make([]byte, size)
		go w.Write(message)
		if _, err := io.ReadFull(resp.Body, message); err != nil {
			t.Fatalf("message of %d bytes: %v", size, err)
		}
	}
	w.Close()
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 || resp.Trailer.Get("Grpc-Status") != "0" {
		t.Errorf("%d more bytes, %v, trailers %v", len(rest), err, resp.Trailer)
	}

	w, resp = open(t.Context(), "/fail")
	if _, err := io.ReadAll(resp.Body); err != nil || resp.Header.Get("Grpc-Status") != "5" {
		t.Errorf("only trailers: %v, %v", err, resp.Header)
	}
	w.Close()

	// With a wait for the rest of the request, each would take two seconds.
	testkit.Await(t, "an early end without a wait", func() bool {
		began := time.Now()
		w, resp = open(t.Context(), "/early")
		if _, err := io.ReadAll(resp.Body); err != nil || resp.Trailer.Get("Grpc-Status") != "3" {
			t.Errorf("an early end: %v, %v", err, resp.Trailer)
		}
		took := time.Since(began)
		w.Close()
		return took < 1500*time.Millisecond
	})

	ctx, cancel := context.WithCancel(t.Context())
	w, resp = open(ctx, "/wait")
	cancel()
	resp.Body.Close() // which sends RST_STREAM
	select {
	case <-cancelled:
	case <-time.After(testTimeout):
		t.Error("the service was not informed of a cancelled request")
	}
	w.Close()
}

// TestGRPCStreamEndsWithItsHead checks that the stream of a client ends with the head if that of the server
// does: clients of gRPC take an empty DATA frame after a head with the status for a broken stream.
func TestGRPCStreamEndsWithItsHead(t *testing.T) {
	t.Parallel()
	back := openFrames(t, func(s *frameServer, stream uint32) {
		s.head(stream, true, ":status", "200", "content-type", "application/grpc", "grpc-status", "9")
	})
	d := openDoor(t, back, withHTTP2)
	for _, c := range []struct {
		client *http.Client
		method string
		field  string // Content-Length
		length int64  // -1 unless the head ends the response
	}{
		{h2cClient(t), "POST", "", 0},
		{h2cClient(t), "HEAD", "", -1},
		{httpClient(t), "POST", "0", 0},
		{httpClient(t), "HEAD", "", -1},
	} {
		req, err := http.NewRequest(c.method, d.url("/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.ContentLength != c.length || resp.Header.Get("Grpc-Status") != "9" ||
			resp.Header.Get("Content-Length") != c.field {
			t.Errorf("%s over %s: length %d, %v", c.method, resp.Proto, resp.ContentLength, resp.Header)
		}
	}
}
