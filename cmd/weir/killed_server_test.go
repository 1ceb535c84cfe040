package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/target"
)

// TestKilledServerFailsNoGET kills one of three servers again and again under load, and starts it again. No
// GET may fail, and no POST may reach the servers twice. Each server records the requests that it
// has carried out.
func TestKilledServerFailsNoGET(t *testing.T) {
	parallel(t)
	for _, engine := range []string{"loops", "goroutines"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			var servers []*recordingServer
			var urls []string
			for n := range 3 {
				s := &recordingServer{record: filepath.Join(t.TempDir(), fmt.Sprint("server", n)), addr: "127.0.0.1:0"}
				s.start(t)
				servers, urls = append(servers, s), append(urls, "http://"+s.addr)
			}
			p := door(t, fmt.Sprintf("engine: %s\nlog: {level: error}\nupstreams: {site: {servers: [%s]}}\n"+
				"routes: [{match: '/{path...}', to: site}]\n", engine, strings.Join(urls, ", ")))
			ctx, stop := context.WithCancel(t.Context())
			var loads sync.WaitGroup
			results := map[string]*load.Result{"GET": nil, "POST": nil}
			var mu sync.Mutex // guards results
			for _, method := range []string{"GET", "POST"} {
				url := p.url() + "/" + method + "/{{seq}}"
				loads.Go(func() {
					r, err := load.Run(ctx, load.Plan{
						Targets: []target.Target{{Method: method, URL: url}}, Duration: time.Hour, Timeout: patience,
						Connections: 16, Threads: 1, Process: -1,
					})
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					results[method] = r
				})
			}
			for n := range inSoak(6, 100) {
				pause(ctx, 150*time.Millisecond)
				victim := servers[n%len(servers)]
				victim.signal(syscall.SIGKILL)
				<-victim.exited
				pause(ctx, 100*time.Millisecond)
				victim.start(t)
			}
			pause(ctx, 150*time.Millisecond)
			stop()
			loads.Wait()

			gets, posts := results["GET"], results["POST"]
			if gets == nil || posts == nil {
				return
			}
			if gets.Requests != gets.Status["2xx"] || gets.Failed != 0 || gets.Requests < 100 {
				t.Errorf("%d of %d GETs were answered with 200: %v, %v", gets.Status["2xx"], gets.Requests, gets.StatusCodes,
					gets.ErrorExamples)
			}
			carriedOut := make(map[string]int)
			for _, s := range servers {
				record, err := os.ReadFile(s.record)
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(string(record)) {
					carriedOut[line]++
				}
			}
			twice := map[string]int{}
			var recorded int64
			for line, n := range carriedOut {
				method, _, _ := strings.Cut(line, " ")
				if n > 1 {
					twice[method]++
				}
				if method == "POST" {
					recorded++
				}
			}
			if twice["POST"] > 0 {
				t.Errorf("%d POSTs were carried out twice", twice["POST"])
			}
			if ok := posts.Status["2xx"]; ok == 0 || recorded < ok {
				t.Errorf("%d POSTs are recorded, but %d got 200", recorded, ok)
			}
			t.Logf("%d GETs, %d of them carried out twice; %d POSTs, %d of them failed; %v requests were sent again",
				gets.Requests, twice["GET"], posts.Requests, posts.Requests-posts.Status["2xx"],
				metric(t, p.admin(), "weir_upstream_retries_total", `result="answered"`))
		})
	}
}

// A recordingServer is a weir backend that can be started again at the same address.
type recordingServer struct {
	*process
	record, addr string
}

func (s *recordingServer) start(t *testing.T) {
	s.process = start(t, "backend", "--listen", s.addr, "--record", s.record)
	s.addr = strings.TrimPrefix(s.url(), "http://")
}
