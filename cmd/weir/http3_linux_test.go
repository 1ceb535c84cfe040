package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestHTTP3UpgradeFailsNoRequest upgrades and restarts a door under load over HTTP/3. No request fails.
// An upload that has begun before continues with the old process.
func TestHTTP3UpgradeFailsNoRequest(t *testing.T) {
	t.Parallel()
	delay := 2 * time.Second
	for !upgradesOverHTTP3(t, delay) {
		delay *= 2
	}
}

// upgradesOverHTTP3 reports whether the restarted process listened before the delay of the one before was over. If not,
// the machine was too busy for this delay, and a request that failed is no fault.
func upgradesOverHTTP3(t *testing.T, delay time.Duration) (inTime bool) {
	t.Helper()
	site := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprint(w, len(body))
	}))
	file, addr, root, _ := http3Folder(t, site.URL)
	admin := peer.FreeAddress(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// The upload is silent while processes start and serve: a busy machine takes longer than the usual timeout.
	more := fmt.Sprintf("admin: %s\ndrain: {delay: %v, timeout: 10m}\nlog: {events: completed}\ndefaults: {limits: {client_timeouts: {read: 10m}}}\n",
		admin, delay)
	if err := os.WriteFile(file, append([]byte(more), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := startDoor(t, file, "http://"+admin)

	var answered atomic.Int64
	var ends drainEnds
	failures := make(chan error, 4)
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
				resp, err := ends.get(c, "https://localhost/")
				if err != nil {
					failures <- fmt.Errorf("client %d: %w", i, err)
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
		testkit.Await(t, "requests", func() bool { return answered.Load() > before+100 || len(failures) > 0 })
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
			began := time.Now()
			if err := syscall.Kill(old, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			testkit.Await(t, "the drain", func() bool {
				resp, err := http.Get("http://" + admin + "/readyz")
				if err == nil {
					resp.Body.Close()
				}
				return err == nil && resp.StatusCode == 503
			})
			pid = startDoor(t, file, "http://"+admin)
			inTime = time.Since(began) < delay
		}
		progress()
		io.WriteString(w, block)
		w.Close()
		if got := <-length; got != "200000" {
			t.Errorf("the upload during the end of process %d: %s, want 200000 bytes", old, got)
		}
		testkit.Await(t, "the end of the old process", func() bool { return hasEnded(old) })
		progress()
	}
	close(done)
	clients.Wait()
	stop(t, pid)
	if !inTime {
		t.Logf("a process took longer than %v to start: once more", delay)
		return false
	}
	for close(failures); len(failures) > 0; {
		t.Error(<-failures)
	}
	ends.check(t)
	return true
}

// drainEnds are requests over HTTP/3 that have failed because the door has ended their connection.
type drainEnds struct {
	mu      sync.Mutex // guards the fields below
	failed  int
	slowest time.Duration // of all requests
}

// get repeats a request that fails in this way. A connection that drains ends a second after its last request, so that
// the client has got a rejection of its next request before, and repeats it by itself. If the door or the client gets no
// processor for so long, the client sees only the end.
func (d *drainEnds) get(c *http.Client, url string) (*http.Response, error) {
	for {
		began := time.Now()
		resp, err := c.Get(url)
		var end *http3.Error
		failed := errors.As(err, &end) && end.Remote && end.ErrorCode == http3.ErrCodeNoError
		d.mu.Lock()
		d.slowest = max(d.slowest, time.Since(began))
		if failed {
			d.failed++
		}
		d.mu.Unlock()
		if !failed {
			return resp, err
		}
	}
}

// check fails the test if requests have failed although the machine had time for them.
func (d *drainEnds) check(t *testing.T) {
	t.Helper()
	if d.failed > 0 && d.slowest < 500*time.Millisecond {
		t.Errorf("%d requests failed by the end of their connection, and none took longer than %v", d.failed, d.slowest)
	}
}

// TestSecondUpgradeFailsNoRequest upgrades a door again while the process before it drains, under load over HTTP/1,
// HTTP/2 and, in one case, HTTP/3. Without HTTP/3, the second upgrade succeeds. With it, that upgrade is refused until
// the first process has ended. No request fails.
func TestSecondUpgradeFailsNoRequest(t *testing.T) {
	t.Parallel()
	for name, http3 := range map[string]bool{"TCP": false, "HTTP3": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
			}))
			file, addr, root, _ := http3Folder(t, site.URL)
			admin := peer.FreeAddress(t)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			more := fmt.Sprintf("admin: %s\ndrain: {delay: 2s, timeout: 5m}\nlog: {events: completed}\n", admin)
			config := more + strings.Replace(string(text), "http3: true", fmt.Sprint("http3: ", http3), 1)
			if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			first := startDoor(t, file, "http://"+admin)

			tcp := func(h2 bool) *http.Client {
				protocols := new(http.Protocols)
				protocols.SetHTTP1(!h2)
				protocols.SetHTTP2(h2)
				tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: root.Pool()}, Protocols: protocols}
				t.Cleanup(tr.CloseIdleConnections)
				return &http.Client{Transport: tr, Timeout: patience}
			}
			clients := map[string]*http.Client{"https://" + addr + "/1": tcp(false), "https://" + addr + "/2": tcp(true)}
			if http3 {
				clients["https://localhost/3"] = http3Client(t, root, addr)
				clients["https://localhost/4"] = http3Client(t, root, addr)
			}
			var running sync.WaitGroup
			var ends drainEnds
			done := make(chan struct{})
			answered := make(map[string]*atomic.Int64)
			for url, c := range clients {
				n := new(atomic.Int64)
				answered[url] = n
				running.Go(func() {
					for {
						select {
						case <-done:
							return
						default:
						}
						resp, err := ends.get(c, url)
						if err != nil {
							t.Errorf("%s: %v", url, err)
							return
						}
						io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
						if n.Add(1); strings.HasSuffix(url, "4") || resp.Close {
							c.CloseIdleConnections() // the next request needs a connection
						}
					}
				})
			}
			progress := func() {
				t.Helper()
				for url, n := range answered {
					before := n.Load()
					testkit.Await(t, "requests of "+url, func() bool { return n.Load() > before+20 || t.Failed() })
				}
			}
			upgrade := func() int {
				t.Helper()
				next, err := strconv.Atoi(runs(t, 0, "upgrade", "--config", file).says(`the process (\d+) serves now`))
				if err != nil {
					t.Fatal(err)
				}
				killAtEnd(t, next)
				return next
			}
			progress()
			upload, uploaded := openUpload(t, clients)
			second := upgrade()
			progress()
			last := second
			if http3 {
				runs(t, 1, "upgrade", "--config", file).says(`a process that drains still serves HTTP/3`)
				progress()
			} else {
				last = upgrade()
			}
			if hasEnded(first) {
				t.Error("the first process has ended before its upload")
			}
			close(upload)
			if err := <-uploaded; err != nil {
				t.Errorf("the upload: %v", err)
			}
			testkit.Await(t, "the end of the first process", func() bool { return hasEnded(first) })
			if http3 {
				last = upgrade()
			}
			progress()
			testkit.Await(t, "the end of the other processes", func() bool { return hasEnded(first) && hasEnded(second) })
			progress()
			close(done)
			running.Wait()
			ends.check(t)
			stop(t, last)
		})
	}
}

// openUpload begins an upload with a client of HTTP/3, or of HTTP/1 if there is none. It ends when end is closed, and
// keeps its process until then.
func openUpload(t *testing.T, clients map[string]*http.Client) (end chan struct{}, result chan error) {
	t.Helper()
	url, c := "https://localhost/3", clients["https://localhost/3"]
	for u, other := range clients {
		if c == nil && strings.HasSuffix(u, "/1") {
			url, c = u, other
		}
	}
	r, w := io.Pipe()
	end, result = make(chan struct{}), make(chan error, 1)
	go func() {
		resp, err := c.Post(url, "", r)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode != 200 {
				err = fmt.Errorf("status %d", resp.StatusCode)
			}
		}
		result <- err
	}()
	io.WriteString(w, "begins")
	go func() { // fast enough for upload_rate
		defer w.Close()
		for {
			select {
			case <-end:
				return
			case <-t.Context().Done():
				return
			case <-time.After(50 * time.Millisecond):
				io.WriteString(w, strings.Repeat("x", 1000))
			}
		}
	}()
	return end, result
}
