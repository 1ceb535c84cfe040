package front_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/logfiles"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log/stream"
)

// A logServer stores the lines of a log. Its clients are made from URLs, whose password it
// checks.
type logServer struct {
	password string

	mu     sync.Mutex
	lines  []string
	closed int
}

// open implements the functions of logto.Options.Servers.
func (s *logServer) open(url string) (stream.Destination, error) {
	if strings.Contains(url, "refused") {
		return nil, errors.New("refused by the client")
	}
	return &logClient{s, strings.Contains(url, ":"+s.password+"@")}, nil
}

type logClient struct {
	*logServer
	admitted bool
}

func (c *logClient) Deliver(_ context.Context, b stream.Batch) error {
	if !c.admitted {
		return &stream.UnavailableError{Err: errors.New("401")}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for line := range bytes.Lines(b.Lines) {
		c.lines = append(c.lines, string(line))
	}
	return nil
}

func (c *logClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed++
	return nil
}

// TestLogToServerSurvivesReload logs requests to a server and to stdout. The server rejects the password
// at first. A reload with another password keeps the events that wait, and a reload without
// the server delivers all of them. The password is not visible anywhere.
func TestLogToServerSurvivesReload(t *testing.T) {
	t.Parallel()
	server := &logServer{password: "right-secret"}
	cfg := doorConfig(upstream(t, hello).URL, func(c *config.Config) {
		c.Log.To = []string{logto.ToStdout, "otlp+http://weir:wrong-secret@collector:4318/v1?x=secret"}
		c.Log.Heartbeat = 0
	})
	stdout := logfiles.Create(t, t.TempDir()+"/stdout")
	out, err := logto.Open(cfg.Log.Config, logto.Options{
		Stdout:   stdout,
		Complain: func(err error) { t.Error(err) },
		Servers:  map[string]func(string) (stream.Destination, error){"otlp+http": server.open},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := serveDoor(t, cfg, out)
	client := httpClient(t)
	const requests = 20
	for i := range requests {
		get(t, client, d.url(fmt.Sprintf("/%d", i)))
	}
	const name = "otlp+http://collector:4318/v1"
	testkit.Await(t, "the error", func() bool {
		state := out.Destinations()[1]
		return state.To == name && state.Stats.LastError != nil && state.Stats.Waiting == 3*requests
	})
	d.reload(func(c *config.Config) {
		c.Log.To = []string{logto.ToStdout, "otlp+http://weir:right-secret@collector:4318/v1"}
	})
	testkit.AwaitEqual(t, "the events", func() uint64 { return out.Destinations()[1].Stats.Written }, 3*requests)
	for _, page := range []string{"/metrics", "/log"} {
		resp, err := http.Get("http://" + d.AdminAddr().String() + page)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || bytes.Contains(text, []byte("secret")) || !bytes.Contains(text, []byte(name)) {
			t.Errorf("%s: %v, %s", page, err, text)
		}
	}
	get(t, client, d.url("/last"))
	testkit.AwaitEqual(t, "the last events", func() uint64 { return out.Destinations()[1].Stats.Written }, 3*requests+3)
	d.reload(func(c *config.Config) { c.Log.To = []string{logto.ToStdout} })
	get(t, client, d.url("/after"))
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if err := out.Close(t.Context()); err != nil {
		t.Error(err)
	}
	written := logfiles.Lines(t, stdout.Name())
	if got, want := strings.Join(server.lines, ""), strings.Join(written[:len(written)-3], "\n")+"\n"; got != want {
		t.Errorf("the server has %d lines, stdout has %d", len(server.lines), len(written))
	}
	for _, line := range server.lines {
		if !json.Valid([]byte(line)) || strings.Contains(line, "secret") {
			t.Errorf("line %q", line)
		}
	}
	if server.closed != 2 {
		t.Errorf("%d clients are closed, want 2", server.closed)
	}
}

// TestLogSpillKeepsEventsOfEndedDoor logs to a server that rejects the password, with a spill. The events of a front
// door that ends wait on the disk, and the next one delivers them. A reload can remove the
// server and add it again.
func TestLogSpillKeepsEventsOfEndedDoor(t *testing.T) {
	t.Parallel()
	server := &logServer{password: "right"}
	const name = "otlp+http://collector"
	folder := filepath.Join(t.TempDir(), "spill")
	cfg := doorConfig(upstream(t, hello).URL, func(c *config.Config) {
		c.Log.To, c.Log.Heartbeat = []string{logto.ToStdout, "otlp+http://u:wrong@collector"}, 0
		c.Log.Spill.Folder = folder
	})
	open := func() (*testDoor, *logto.Log) {
		out, err := logto.Open(cfg.Log.Config, logto.Options{
			Stdout:   logfiles.Create(t, t.TempDir()+"/stdout"),
			Complain: func(err error) { t.Error(err) },
			Servers:  map[string]func(string) (stream.Destination, error){"otlp+http": server.open},
		})
		if err != nil {
			t.Fatal(err)
		}
		return serveDoor(t, cfg, out), out
	}
	const requests = 20
	load := func(d *testDoor) {
		client := httpClient(t)
		for i := range requests {
			get(t, client, d.url(fmt.Sprintf("/%d", i)))
		}
	}
	toServer := func(out *logto.Log) logto.Destination {
		for _, d := range out.Destinations() {
			if d.To == name {
				return d
			}
		}
		return logto.Destination{}
	}
	end := func(d *testDoor, out *logto.Log) {
		if err := d.close(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), quickly)
		defer cancel()
		if err := out.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	setTo := func(d *testDoor, to ...string) { d.reload(func(c *config.Config) { c.Log.To = to }) }

	d, out := open()
	load(d)
	testkit.AwaitEqual(t, "the events on the disk", func() uint64 { return toServer(out).OnDisk.Events }, 3*requests)
	moved := *cfg
	moved.Log.Spill.Folder = t.TempDir()
	if unchanged, err := d.Reload(&moved); err != nil || !slices.Equal(unchanged, []string{"log.spill.folder"}) {
		t.Errorf("a reload with another folder: %q, %v", unchanged, err)
	}
	end(d, out)
	if s := toServer(out); s.OnDisk.Events != 3*requests || s.Stats.Waiting != 3*requests || s.OnDisk.Bytes == 0 {
		t.Errorf("at the end, %+v", s)
	}

	cfg.Log.To = []string{logto.ToStdout, "otlp+http://u:wrong@collector"}
	d, out = open()
	load(d)
	if got := d.metric(t, "weir_log_events_recovered_total"); got != 3*requests {
		t.Errorf("%v events are recovered", got)
	}
	testkit.AwaitEqual(t, "the events on the disk", func() uint64 { return toServer(out).OnDisk.Events }, 6*requests)
	setTo(d, logto.ToStdout)
	stillWrong := *d.config
	stillWrong.Log.To = []string{logto.ToStdout, "otlp+http://u:wrong@collector"}
	testkit.Await(t, "the server again, though its events wait", func() bool {
		_, err := d.Reload(&stillWrong)
		return err == nil
	})
	testkit.AwaitEqual(t, "the events on the disk", func() uint64 { return toServer(out).OnDisk.Events }, 6*requests)
	setTo(d, logto.ToStdout, "otlp+http://u:right@collector")
	testkit.AwaitEqual(t, "the delivery", func() uint64 { return toServer(out).Stats.Written }, 6*requests)
	setTo(d, logto.ToStdout)
	load(d)
	testkit.AwaitEqual(t, "the events on stdout", func() uint64 { return out.Destinations()[0].Stats.Written }, 6*requests)
	again := *d.config
	again.Log.To, again.Log.Spill.Size = []string{logto.ToStdout, "otlp+http://u:right@collector"}, 1<<20
	testkit.Await(t, "the server again", func() bool { // when it is closed
		_, err := d.Reload(&again)
		return err == nil
	})
	load(d)
	testkit.AwaitEqual(t, "the last events", func() uint64 { return toServer(out).Stats.Written }, 9*requests)
	end(d, out)
	s := toServer(out).Stats
	if s.Emitted != 9*requests || s.Waiting+s.Lost() != 0 || len(server.lines) != 9*requests {
		t.Errorf("the server has %d lines; %+v", len(server.lines), s)
	}
}
