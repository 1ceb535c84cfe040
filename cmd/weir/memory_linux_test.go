package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestLargeBodiesUseLittleMemory transfers 100 MB in every way and checks the peak memory of the
// door.
func TestLargeBodiesUseLittleMemory(t *testing.T) {
	t.Parallel()
	const size = 100 << 20
	mayGrow := int64(20 << 20)
	if raceEnabled {
		mayGrow = 60 << 20 // with the race detector, sync.Pool drops a quarter of the buffers put into it
	}
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := door(t, allTo(b.url()))
	c := client(t)
	echoed := fmt.Sprintf("(a body of %d bytes)", size)
	for range 10 { // memory that is allocated once is not growth
		get(t, c, p.url()+"/warm?size=100000")
	}
	for _, way := range []struct {
		name, path string
		request    func(url string) (*http.Request, error)
		check      func(t *testing.T, resp *http.Response)
	}{
		{"download", fmt.Sprintf("/down?size=%d", size), func(url string) (*http.Request, error) {
			return http.NewRequest("GET", url, nil)
		}, func(t *testing.T, resp *http.Response) {
			if n, err := io.Copy(io.Discard, resp.Body); n != size || err != nil {
				t.Errorf("%d bytes arrived, %v; want %d", n, err, size)
			}
		}},
		{"upload", "/up", func(url string) (*http.Request, error) {
			req, err := http.NewRequest("POST", url, zeros(size))
			req.ContentLength = size
			return req, err
		}, wantBody(echoed)},
		{"upload of unknown length", "/chunks", func(url string) (*http.Request, error) {
			return http.NewRequest("POST", url, zeros(size))
		}, wantBody(echoed)},
	} {
		t.Run(way.name, func(t *testing.T) {
			before := peakMemory(t, p)
			req, err := way.request(p.url() + way.path)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Fatalf("%s", resp.Status)
			}
			way.check(t, resp)
			grown := peakMemory(t, p) - before
			t.Logf("the process has grown by %d kB", grown>>10)
			if grown >= mayGrow {
				t.Errorf("the process has grown by %d MB, want less than %d MB", grown>>20, mayGrow>>20)
			}
			h := p.awaitEvent(completed, req.URL.Path).HTTP
			if h.ResponseContentLength != size && h.RequestContentLength != size {
				t.Errorf("the log knows of %d bytes in and %d bytes out, want %d in one of them",
					h.RequestContentLength, h.ResponseContentLength, size)
			}
		})
	}
}

// zeros returns a body that takes no memory.
func zeros(n int64) io.Reader { return io.LimitReader(endlessZeros{}, n) }

type endlessZeros struct{}

func (endlessZeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func wantBody(part string) func(*testing.T, *http.Response) {
	return func(t *testing.T, resp *http.Response) {
		body, err := io.ReadAll(resp.Body)
		if err != nil || !bytes.Contains(body, []byte(part)) {
			t.Errorf("%q, %v; want %q in it", body, err, part)
		}
	}
}

// peakMemory returns the peak resident memory of the process in bytes.
func peakMemory(t *testing.T, p *process) int64 {
	t.Helper()
	kB, err := strconv.ParseInt(strings.TrimSuffix(procStatus(t, p, "VmHWM"), " kB"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}

// residentMemory returns the resident memory of the process in bytes.
func residentMemory(t *testing.T, p *process) int64 {
	t.Helper()
	var kB int64
	if _, err := fmt.Sscan(procStatus(t, p, "VmRSS"), &kB); err != nil {
		t.Fatal(err)
	}
	return kB << 10
}

// procStatus returns a field of /proc/PID/status.
func procStatus(t *testing.T, p *process, name string) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + name + `:\s*(.*)$`).FindSubmatch(status)
	if m == nil {
		t.Fatalf("no %s in:\n%s", name, status)
	}
	return string(m[1])
}
