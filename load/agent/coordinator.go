package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/settings"
)

// Coordinator are the options of a run.
type Coordinator struct {
	Connection nats.Options // its limits of reconnecting are not used
	Subject    string       // as for the agents
	Version    string       // as for the agents

	Agents int               // the number of shares
	Labels map[string]string // an agent that is used has all of them

	Settings settings.Settings // with a Seed; its Find is Files.Find
	Files    *Files            // complete: the plan was made and checked
	Points   int               // as in a Plan

	// Progress is called several times per second, and Warn with a line about each agent that
	// is left out or lost, both from one goroutine.
	Progress func(load.Progress)
	Warn     func(line string)
}

// A NoAgentError reports that no agent executes the plan.
type NoAgentError struct {
	Why string
}

func (e *NoAgentError) Error() string { return e.Why }

// A coordinator is a run that is under way.
type coordinator struct {
	Coordinator
	run      string
	conn     *nats.Conn
	startAt  time.Time
	agents   []*remote
	warnings []string // of the result

	reported chan struct{} // has an element if an agent has reported

	mu    sync.Mutex      // guards the fields below, and those of each remote
	lines []string        // that Warn will get
	noted map[string]bool // lines that Warn gets only once
}

// later keeps a line for Warn.
func (c *coordinator) later(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, line)
}

// once keeps a line for Warn unless it did before. The coordinator's lock is held.
func (c *coordinator) once(line string) {
	if c.noted == nil {
		c.noted = map[string]bool{}
	}
	if !c.noted[line] {
		c.noted[line] = true
		c.lines = append(c.lines, line)
	}
}

// warnNow calls Warn with the kept lines.
func (c *coordinator) warnNow() {
	c.mu.Lock()
	lines := c.lines
	c.lines = nil
	c.mu.Unlock()
	for _, line := range lines {
		c.Warn(line)
	}
}

// warn adds a warning to the result and shows it.
func (c *coordinator) warn(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	c.warnings = append(c.warnings, line)
	c.later(line)
	c.warnNow()
}

// A remote is an agent that works for the run.
type remote struct {
	offer
	share   load.Share
	offset  time.Duration // of its clock, which is ahead of this one
	within  time.Duration // the error of offset is at most this
	slowest time.Duration // that it took to respond

	// The coordinator's lock guards the fields below.
	failed   string // the reason why it does not run; "" if it does
	heard    time.Time
	part     int // the number of the report that arrives
	text     bytes.Buffer
	arriving receiver
	complete bool // the part
	progress load.Progress
	partial  *load.Result  // of the last report, without Series; nil before the first one
	series   []load.Second // of all reports
	result   *load.Result  // nil until the end
}

const (
	callFor   = 5 * time.Second // for the offers
	callEvery = 250 * time.Millisecond
)

// find claims agents.
func (c *coordinator) find(ctx context.Context) error {
	c.warnNow()
	offers, err := c.call(ctx)
	if err != nil {
		return err
	}
	var others []string
	for _, o := range offers {
		if len(c.agents) == c.Agents {
			break
		}
		why := c.unfit(&o)
		if why == "" {
			_, err := c.ask(ctx, o.ID, opClaim, []byte(c.Version))
			if err == nil {
				r := &remote{offer: o, share: load.Share{Number: len(c.agents) + 1, Of: c.Agents}, heard: time.Now()}
				c.agents = append(c.agents, r)
				continue
			}
			why = err.Error()
		}
		others = append(others, fmt.Sprintf("agent %s was left out: %s", o.Name, why))
	}
	missing := c.Agents - len(c.agents)
	if missing == 0 {
		return nil
	}
	if len(c.agents) == 0 {
		if len(others) == 0 {
			return &NoAgentError{fmt.Sprintf("no agent responded at %s/%s", c.conn.ConnectedUrlRedacted(), c.Subject)}
		}
		return &NoAgentError{strings.Join(others, "; ")}
	}
	for _, line := range others {
		c.warn("%s", line)
	}
	c.warn("%d of %d agents take part: the others' shares of the load are missing", len(c.agents), c.Agents)
	return nil
}

// unfit returns the reason why an agent cannot be used; "" if it can.
func (c *coordinator) unfit(o *offer) string {
	for name, value := range c.Labels {
		if o.Labels[name] != value {
			return fmt.Sprintf("it has no label %s=%s", name, value)
		}
	}
	switch {
	case o.Version != c.Version:
		return fmt.Sprintf("it is weir %s, and this is weir %s", o.Version, c.Version)
	case o.Busy:
		return "it is busy with another run"
	}
	return ""
}

// call asks for agents until enough that fit have responded. It returns all, sorted by name,
// with those that fit first.
func (c *coordinator) call(ctx context.Context) ([]offer, error) {
	inbox, err := c.conn.SubscribeSync(c.conn.NewRespInbox())
	if err != nil {
		return nil, err
	}
	defer inbox.Unsubscribe()
	ctx, cancel := context.WithTimeout(ctx, callFor)
	defer cancel()
	known := make(map[string]offer)
	for fit := 0; fit < c.Agents && ctx.Err() == nil; {
		if err := c.conn.PublishRequest(c.Subject+".call", inbox.Subject, nil); err != nil {
			return nil, err
		}
		for until := time.Now().Add(callEvery); fit < c.Agents; {
			msg, err := inbox.NextMsg(time.Until(until))
			if err != nil {
				break // no response in time, or no agent at all
			}
			var o offer
			if json.Unmarshal(msg.Data, &o) != nil || o.ID == "" {
				continue // of another program
			}
			if _, ok := known[o.ID]; !ok && c.unfit(&o) == "" {
				fit++
			}
			known[o.ID] = o
		}
		select {
		case <-ctx.Done():
		case <-time.After(callEvery / 5):
		}
	}
	var offers []offer
	for _, o := range known {
		offers = append(offers, o)
	}
	slices.SortFunc(offers, func(a, b offer) int {
		return cmp.Or(cmp.Compare(min(1, len(c.unfit(&a))), min(1, len(c.unfit(&b)))), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.ID, b.ID))
	})
	if len(offers) == 0 && ctx.Err() == context.Canceled {
		return nil, context.Cause(ctx)
	}
	return offers, nil
}

// ask sends a request to an agent.
func (c *coordinator) ask(ctx context.Context, id, op string, data []byte) ([]byte, error) {
	return request(ctx, c.conn, &nats.Msg{Subject: c.Subject + ".agent." + id, Header: c.header(op), Data: data}, attempts)
}

func (c *coordinator) header(op string) nats.Header {
	return nats.Header{headerRun: {c.run}, headerOp: {op}}
}

// beat publishes the heartbeat until stop is called.
func (c *coordinator) beat() (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c.conn.Publish(c.Subject+".run."+c.run+".alive", nil) // an agent that misses one waits for the next
			select {
			case <-over:
				return
			case <-time.After(aliveEvery):
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// each calls f for all agents that run, at the same time. An agent with an error is left out.
func (c *coordinator) each(f func(r *remote) error) {
	var waiting sync.WaitGroup
	errs := make([]error, len(c.agents))
	for i, r := range c.agents {
		if !c.failed(r) {
			waiting.Go(func() { errs[i] = f(r) })
		}
	}
	waiting.Wait()
	for i, r := range c.agents {
		if errs[i] != nil {
			c.fail(r, errs[i].Error())
		}
	}
}

func (c *coordinator) failed(r *remote) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return r.failed != ""
}

// fail leaves an agent out. Its share of the load is missing.
func (c *coordinator) fail(r *remote, why string) {
	c.later(fmt.Sprintf("agent %s does not run: %s", r.Name, why))
	c.mu.Lock()
	defer c.mu.Unlock()
	r.failed = why
}

// prepare measures the clocks of the agents and sends them the plan.
func (c *coordinator) prepare(ctx context.Context) error {
	c.each(func(r *remote) error { return c.measureClock(ctx, r) })
	c.each(func(r *remote) error { return c.sendPlan(ctx, r) })
	return c.anyLeft(ctx)
}

// anyLeft returns an error if no agent is left.
func (c *coordinator) anyLeft(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var reasons []string
	for _, r := range c.agents {
		if r.failed != "" {
			reasons = append(reasons, fmt.Sprintf("agent %s does not run: %s", r.Name, r.failed))
		}
	}
	if len(reasons) == len(c.agents) {
		return &NoAgentError{strings.Join(slices.Compact(reasons), "; ")}
	}
	return nil
}

// clockRounds is the number of round trips by which a clock is measured.
const clockRounds = 20

// measureClock measures how far the clock of an agent is ahead. Half of a round trip limits the
// error, so that the shortest of several counts (RFC 5905, section 10).
func (c *coordinator) measureClock(ctx context.Context, r *remote) error {
	for i := range clockRounds {
		began := time.Now()
		text, err := c.ask(ctx, r.ID, opClock, nil)
		took := time.Since(began)
		if err != nil {
			return err
		}
		ns, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a time", text)
		}
		r.slowest = max(r.slowest, took)
		if i == 0 || took/2 < r.within {
			r.offset, r.within = time.Unix(0, ns).Sub(began.Add(took/2)), took/2
		}
	}
	return nil
}

// sendPlan sends the files and the share of the plan.
func (c *coordinator) sendPlan(ctx context.Context, r *remote) error {
	subject := c.Subject + ".agent." + r.ID
	for i, name := range c.Files.names {
		if err := c.sendFile(ctx, subject, i, name); err != nil {
			return err
		}
	}
	text, err := json.Marshal(work{Settings: texts(c.Settings), Files: c.Files.names, Share: r.share, Points: c.Points})
	if err != nil {
		return err
	}
	_, err = send(ctx, c.conn, subject, c.header(opPlan), bytes.NewReader(text), int64(len(text)), attempts)
	return err
}

func (c *coordinator) sendFile(ctx context.Context, subject string, i int, name string) error {
	file, err := os.Open(c.Files.paths[name])
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	header := c.header(opFile)
	header.Set(headerPart, strconv.Itoa(i))
	header.Set(headerName, strconv.QuoteToASCII(name))
	_, err = send(ctx, c.conn, subject, header, file, info.Size(), attempts)
	return err
}

// startIn is the time from the last preparation to the start, in which the agents open their
// connections. It grows with their number, and with the time that the slowest agent took to respond: a
// busy machine opens connections as late.
func (c *coordinator) startIn() time.Duration {
	d := 2*time.Second + time.Duration(c.Settings.Connections)*time.Millisecond
	slowest := time.Duration(0)
	for _, r := range c.agents {
		slowest = max(slowest, r.slowest)
	}
	return d + min(clockRounds*slowest, mostDelay)
}

// mostDelay is the longest time by which slow agents put off the start.
const mostDelay = 30 * time.Second

// start sets the instant of the start.
func (c *coordinator) start(ctx context.Context) error {
	c.startAt = time.Now().Add(c.startIn()).Round(time.Millisecond)
	c.each(func(r *remote) error {
		at := c.startAt.Add(r.offset)
		_, err := c.ask(ctx, r.ID, opStart, []byte(strconv.FormatInt(at.UnixNano(), 10)))
		return err
	})
	return c.anyLeft(ctx)
}

// leave ends the claims of agents that have not ended themselves. It does not wait for
// responses: an agent that does not get it notices the end of the heartbeat.
func (c *coordinator) leave() {
	for _, r := range c.agents {
		c.conn.PublishMsg(&nats.Msg{Subject: c.Subject + ".agent." + r.ID, Header: c.header(opLeave)})
	}
	c.conn.FlushTimeout(tryFor)
}

// sign adds the agent to the result of its share. The start is by the clock of this machine.
func (c *coordinator) sign(r *remote, s *load.Result) {
	share := *s.Share
	share.Agent, share.StartAt = r.Name, c.startAt
	share.ClockOffset, share.ClockError = load.Micros(r.offset.Nanoseconds())/1e3, load.Micros(r.within.Nanoseconds())/1e3
	s.Share, s.Started = &share, c.startAt.Add(c.Settings.WarmUp)
}
