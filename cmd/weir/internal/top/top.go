// Package top is weir top: the state of a running front door in a terminal.
package top

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/snapshot"
)

// Command is weir top.
type Command struct {
	Admin string `arg:"" optional:"" type:"nonempty" default:"${admin}" help:"The admin address of the front door (default ${default})."`
}

// Help implements kong.HelpProvider.
func (Command) Help() string {
	return `Shows the state of a running front door every second, until Ctrl-C: problems, requests and their latency, servers,
limits, refusals, the log and the process. The dashboard at the admin address has the same numbers. If stdout is not a
terminal, each second is one line. ADMIN is host:port, or :port for this machine, as admin of the configuration.

Examples:
  weir top
  weir top 127.0.0.1:9901
  weir top | grep --line-buffered problems`
}

// Run shows the state until a signal.
func (c *Command) Run(s cli.Streams) error {
	if err := cli.CheckAdmin(c.Admin, "top"); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals, stop := cli.Interrupts()
	defer stop()
	go func() { // ends with the process
		<-signals
		cancel()
	}()
	v := view{out: s.Out, admin: c.Admin, pen: page.Pen{Colored: cli.IsScreen(s.Out) && os.Getenv("NO_COLOR") == ""}}
	if v.screen = cli.IsScreen(s.Out); v.screen {
		fmt.Fprint(s.Out, enterScreen)
		defer fmt.Fprint(s.Out, leaveScreen)
	}
	return follow(ctx, &v)
}

const (
	retryEvery = time.Second
	// silence is the time without a snapshot after which a connection is lost.
	silence = 10 * time.Second
)

// follow shows snapshots until ctx ends. After the first one it connects again when it has lost the front door.
func follow(ctx context.Context, v *view) error {
	for connected := false; ; {
		err := read(ctx, v.admin, func(d *snapshot.Door) error {
			connected = true
			return v.show(d)
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case !connected:
			return fmt.Errorf("the front door with the admin address %s sends no state: %w", v.admin, err)
		case errors.As(err, new(writeError)):
			return err
		}
		if err := v.lost(err); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryEvery):
		}
	}
}

// read reads the events of one connection.
func read(parent context.Context, admin string, show func(*snapshot.Door) error) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	silent := time.AfterFunc(silence, func() { cancel(fmt.Errorf("no snapshot within %v", silence)) })
	defer silent.Stop()
	resp, err := cli.GetAdmin(ctx, admin, "/events")
	if err != nil {
		return cause(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		return fmt.Errorf("the response to GET /events is %s, %q", resp.Status, resp.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		text, found := strings.CutPrefix(lines.Text(), "data: ")
		if !found {
			continue
		}
		silent.Reset(silence)
		d := new(snapshot.Door)
		if err := json.Unmarshal([]byte(text), d); err != nil {
			return fmt.Errorf("a snapshot: %w", err)
		}
		if err := show(d); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return cause(ctx, err)
	}
	return errors.New("the front door has closed the connection")
}

// cause returns why a context has ended, or err if it has not.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	return err
}
