package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Options are the options of an agent.
type Options struct {
	Connection nats.Options // its limits of reconnecting are not used
	Subject    string       // such as "weir.load", the subject of the coordinator
	Name       string       // for people; several agents may have one
	Labels     map[string]string
	Version    string // an agent works for coordinators of the same version

	// Log is called with a line about each change of state, by one goroutine at a time.
	Log func(line string)
}

// Serve waits for work and executes it until ctx is done. A run then ends as load.Run does, and the
// coordinator gets the result until then, if it responds within 3 s. Serve returns an error if the
// server refuses the connection for good, such as for a wrong password.
func Serve(ctx context.Context, o Options) error {
	a := &agent{Options: o}
	conn, closed, err := connect(o.Connection, "weir agent "+o.Name, true, a.log)
	if err != nil {
		return err
	}
	defer conn.Close()
	a.link = link{conn: conn, subject: o.Subject, agent: rand.Text()}
	if _, err := conn.Subscribe(o.Subject+".call", a.offer); err != nil {
		return err
	}
	if _, err := conn.Subscribe(o.Subject+".agent."+a.link.agent, a.handle); err != nil {
		return err
	}
	a.log("agent %s waits for work", o.Name)
	select {
	case <-ctx.Done():
	case err = <-closed:
	}
	a.mu.Lock()
	j := a.job
	a.mu.Unlock()
	if j != nil && j.started() != nil {
		j.stop()
		select {
		case <-j.ended: // the coordinator has the result
		case <-time.After(tryFor):
		}
	}
	if j != nil {
		j.end(errStopped)
		<-j.ended
	}
	return err
}

var errStopped = errors.New("the agent has been stopped")

// connect connects, and reconnects for ever. The channel gets the error of a connection that
// the server has refused.
func connect(
	o nats.Options, name string, patient bool, log func(format string, args ...any),
) (*nats.Conn, <-chan error, error) {
	closed := make(chan error, 1)
	o.Name, o.MaxReconnect, o.ReconnectWait, o.RetryOnFailedConnect = name, -1, 500*time.Millisecond, patient
	o.PingInterval, o.MaxPingsOut = 2*time.Second, 2 // a cut connection is noticed within 6 s
	o.DisconnectedErrCB = func(c *nats.Conn, err error) {
		if err != nil {
			log("the connection to NATS is lost: %v", err)
		}
	}
	connected := func(c *nats.Conn) { log("connected to NATS at %s", c.ConnectedUrlRedacted()) }
	o.ConnectedCB, o.ReconnectedCB = nil, connected
	if patient {
		o.ConnectedCB = connected
	}
	o.ClosedCB = func(c *nats.Conn) { closed <- c.LastError() }
	o.AsyncErrorCB = func(_ *nats.Conn, _ *nats.Subscription, err error) { log("NATS: %v", err) }
	conn, err := o.Connect()
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to NATS at %s: %w", strings.Join(servers(o), ", "), err)
	}
	if !conn.IsConnected() {
		log("no NATS server responds at %s yet", strings.Join(servers(o), ", "))
	}
	return conn, closed, nil
}

// servers returns the addresses of the servers. They have no passwords: the options have.
func servers(o nats.Options) []string {
	if o.Url != "" {
		return []string{o.Url}
	}
	return o.Servers
}

// An agent is a connection that waits for work.
type agent struct {
	Options
	link link

	mu  sync.Mutex // guards the fields below, and calls of Log
	job *job       // nil while it waits for work
}

func (a *agent) log(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Log(fmt.Sprintf(format, args...))
}

// offer responds to a call.
func (a *agent) offer(msg *nats.Msg) {
	a.mu.Lock()
	busy := a.job != nil
	a.mu.Unlock()
	data, err := json.Marshal(offer{ID: a.link.agent, Name: a.Name, Labels: a.Labels, Version: a.Version, Busy: busy})
	respond(msg, data, err)
}

// handle handles a request of a coordinator. Its calls do not overlap.
func (a *agent) handle(msg *nats.Msg) {
	run, op := msg.Header.Get(headerRun), msg.Header.Get(headerOp)
	if op == opClock {
		respond(msg, []byte(strconv.FormatInt(time.Now().UnixNano(), 10)), nil)
		return
	}
	a.mu.Lock()
	j := a.job
	a.mu.Unlock()
	switch {
	case j == nil && op == opClaim:
		respond(msg, nil, a.claim(run, string(msg.Data)))
	case j == nil:
		respond(msg, nil, errors.New("it has given up the run"))
	case j.run != run:
		respond(msg, nil, errors.New("it is busy with another run"))
	default:
		respond(msg, nil, j.handle(op, msg))
	}
}

// claim begins to work for a run.
func (a *agent) claim(run, version string) error {
	if version != a.Version {
		return fmt.Errorf("it is of version %s, not %s", a.Version, version)
	}
	j, err := newJob(a.link, run, a.log)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.job = j
	a.mu.Unlock()
	go func() { // Serve awaits j.ended
		defer close(j.ended)
		why := j.attend()
		a.mu.Lock()
		a.job = nil
		a.mu.Unlock()
		if why != nil {
			a.log("the run has ended: %v", why)
		}
		if !errors.Is(why, errStopped) {
			a.log("agent %s waits for work", a.Name)
		}
	}()
	return nil
}

// FormatLabels returns labels as text, such as "zone=a,disk=fast".
func FormatLabels(labels map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, name+"="+labels[name])
	}
	return strings.Join(parts, ",")
}
