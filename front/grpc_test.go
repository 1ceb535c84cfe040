package front_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
)

// grpcClient returns a client for HTTP/2 without TLS.
func grpcClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

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

// TestGRPC checks streams of messages in both directions, which must pass at once, their
// trailers, errors, early ends and cancellation.
func TestGRPC(t *testing.T) {
	cancelled := make(chan struct{})
	back := openH2C(t, grpcService(cancelled))
	d := openDoor(t, back.URL, withHTTP2, func(c *config.Config) { c.Routes[0].Timeout = testTimeout })
	c := grpcClient(t)
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

	began := time.Now()
	w, resp = open(t.Context(), "/early")
	if _, err := io.ReadAll(resp.Body); err != nil || resp.Trailer.Get("Grpc-Status") != "3" {
		t.Errorf("an early end: %v, %v", err, resp.Trailer)
	}
	if took := time.Since(began); took > 1500*time.Millisecond {
		t.Errorf("an early end took %v", took)
	}
	w.Close()

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
