package serve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/sibling"
)

// The requests to a running weir serve.
const (
	controlReload  = "reload"
	controlUpgrade = "upgrade"
)

// A controlResponse is the result of a request.
type controlResponse struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"` // the message for the user; may have several lines
	Hint string `json:"hint,omitempty"`
	PID  int    `json:"pid"` // of the process that serves now
}

// A controlRequest is a request of weir reload or weir upgrade. The receiver calls respond
// once.
type controlRequest struct {
	what    string
	respond func(controlResponse)
}

// A controlSocket receives requests for the process that serves a configuration. Only the
// user of the process, and root, can send some.
type controlSocket struct {
	requests chan controlRequest
	close    func() // stops, without waiting for requests in progress; may be called again
}

// A served names the process that serves a configuration, or, without one, the process with an admin listener.
type served struct{ config, admin string }

// socket returns the name of the process's socket. A path may be longer than the name of a socket.
func (s served) socket() (string, error) {
	if s.config == "" {
		return "weir/admin/" + s.admin, nil
	}
	path, err := filepath.Abs(s.config)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("weir/config/%x", sha256.Sum256([]byte(path))), nil
}

// String returns the command that has started the process.
func (s served) String() string {
	if s.config == "" {
		return "weir serve without a file and with the admin address " + s.admin
	}
	path, _ := filepath.Abs(s.config)
	return "weir serve --config " + path
}

// controlTimeout is the time limit for a request and for its response.
const controlTimeout = 2 * time.Second

// openControl opens the socket of a process. While another process has it, it tries again.
func openControl(s served) (*controlSocket, error) {
	name, err := s.socket()
	if err != nil {
		return nil, err
	}
	c := &controlSocket{requests: make(chan controlRequest)}
	ctx, cancel := context.WithCancel(context.Background())
	c.close = cancel
	go func() {
		l, err := sibling.ListenInTurn(ctx, name)
		if err != nil {
			return // there are no such sockets here, and only signals remain, or ctx has ended
		}
		c.serve(ctx, l)
	}()
	return c, nil
}

// serve accepts connections until ctx ends.
func (c *controlSocket) serve(ctx context.Context, l *net.UnixListener) {
	defer l.Close()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		conn, _, err := sibling.Accept(l)
		if err != nil {
			return
		}
		go c.receive(ctx, conn)
	}
}

// receive reads one request and passes it on.
func (c *controlSocket) receive(ctx context.Context, conn *net.UnixConn) {
	var r struct{ Do string }
	conn.SetDeadline(time.Now().Add(controlTimeout))
	if json.NewDecoder(io.LimitReader(conn, 1<<10)).Decode(&r) != nil {
		conn.Close()
		return
	}
	end := sync.OnceFunc(func() { conn.Close() })
	request := controlRequest{what: r.Do, respond: func(a controlResponse) {
		conn.SetDeadline(time.Now().Add(controlTimeout))
		json.NewEncoder(conn).Encode(a)
		end()
	}}
	select {
	case c.requests <- request:
	case <-ctx.Done():
		end()
	}
}

// ask sends a request to a process, and returns its response.
func ask(s served, what string) (a controlResponse, err error) {
	name, err := s.socket()
	if err != nil {
		return a, err
	}
	conn, err := sibling.Dial(name)
	if err != nil {
		return a, notFound(s, what, err)
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(map[string]string{"do": what}); err != nil {
		return a, err
	}
	if err := json.NewDecoder(conn).Decode(&a); err != nil {
		return a, fmt.Errorf("%s has not responded: %w", s, err)
	}
	return a, nil
}

// asSameUser is the end of the hints for a process that was not found.
const asSameUser = "run this as the same user or root, in the same container; a front door that drains does not respond"

// notFound returns the error for a process that a verb cannot reach.
func notFound(s served, verb string, err error) error {
	var other *sibling.OtherUser
	switch {
	case errors.As(err, &other):
		return otherUser(s, verb, other)
	case errors.Is(err, errors.ErrUnsupported):
		return cli.WithHint(errors.New("this needs Linux"), "send SIGHUP to the process to reload")
	case errors.Is(err, syscall.ECONNREFUSED) && s.config == "":
		return cli.WithHint(fmt.Errorf("no %s runs here", s),
			"name the file that it was started with, or its --admin; "+asSameUser)
	case errors.Is(err, syscall.ECONNREFUSED):
		return cli.WithHint(fmt.Errorf("no %s runs here", s),
			"name the file that it was started with, and "+asSameUser)
	}
	return fmt.Errorf("reaching %s: %w", s, err)
}

// otherUser returns the error for a process that belongs to another user.
func otherUser(s served, verb string, other *sibling.OtherUser) error {
	owner := userName(other.UID)
	as := "sudo"
	if other.UID != 0 {
		as += " -u " + owner
	}
	flag := "--admin " + s.admin
	if s.config != "" {
		path, _ := filepath.Abs(s.config)
		flag = "--config " + path
	}
	return cli.WithHint(fmt.Errorf("%s is the process %d of the user %s, and this user is %s", s, other.PID, owner,
		userName(os.Geteuid())), fmt.Sprintf("%s weir %s %s", as, verb, flag))
}

// userName returns the name of a user, or the id if it has none here.
func userName(id int) string {
	text := strconv.Itoa(id)
	if u, err := user.LookupId(text); err == nil {
		return u.Username
	}
	return text
}
