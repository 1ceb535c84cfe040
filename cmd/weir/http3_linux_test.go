package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestHTTP3Upgrades upgrades and restarts a door under load over HTTP/3. No request fails.
// An upload that has begun before continues with the old process.
func TestHTTP3Upgrades(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprint(w, len(body))
	}))
	t.Cleanup(site.Close)
	file, addr, root, _ := http3Folder(t, site.URL)
	admin := freePort(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	more := fmt.Sprintf("admin: %s\ndrain: {delay: 2s, timeout: 1m}\nlog: {events: completed}\n", admin)
	if err := os.WriteFile(file, append([]byte(more), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := startDoor(t, file, "http://"+admin)

	var answered atomic.Int64
	var clients sync.WaitGroup
	done := make(chan struct{})
	for i := range 4 {
		c := http3Client(t, root, addr)
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				resp, err := c.Get("https://localhost/")
				if err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
				resp.Body.Close()
				answered.Add(1)
				if i == 0 {
					c.CloseIdleConnections() // the next request needs a connection
				}
			}
		})
	}
	progress := func() {
		t.Helper()
		before := answered.Load()
		await(t, "requests", func() bool { return answered.Load() > before+100 || t.Failed() })
	}
	progress()
	for i := range 2 {
		r, w := io.Pipe()
		length := make(chan string)
		go func() {
			resp, err := http3Client(t, root, addr).Post("https://localhost/", "", r)
			if err != nil {
				length <- err.Error()
				return
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			length <- string(body)
		}()
		block := strings.Repeat("x", 100_000)
		io.WriteString(w, block)
		old := pid
		if i == 0 {
			next := runs(t, 0, "upgrade", "--config", file).says(`the process (\d+) serves now`)
			if pid, err = strconv.Atoi(next); err != nil {
				t.Fatal(err)
			}
			killAtEnd(t, pid)
		} else {
			if err := syscall.Kill(old, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			await(t, "the drain", func() bool {
				resp, err := http.Get("http://" + admin + "/readyz")
				if err == nil {
					resp.Body.Close()
				}
				return err == nil && resp.StatusCode == 503
			})
			pid = startDoor(t, file, "http://"+admin)
		}
		progress()
		io.WriteString(w, block)
		w.Close()
		if got := <-length; got != "200000" {
			t.Errorf("the upload during the end of process %d: %s, want 200000 bytes", old, got)
		}
		await(t, "the end of the old process", func() bool { return hasEnded(old) })
		progress()
	}
	close(done)
	clients.Wait()
	stop(t, pid)
}
