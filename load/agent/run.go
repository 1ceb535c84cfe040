package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/load"
)

// Run executes the plan of the settings on agents, and merges their results. When ctx is done,
// the agents stop as load.Run does, and Run returns the result until then. An agent that is
// missing, that fails or that is lost is a warning of the result.
func Run(ctx context.Context, o Coordinator) (*load.Result, error) {
	c := &coordinator{Coordinator: o, run: rand.Text(), reported: make(chan struct{}, 1)}
	log := func(format string, args ...any) { c.later(fmt.Sprintf(format, args...)) }
	conn, _, err := connect(o.Connection, "weir load", false, log)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	c.conn = conn
	if warning := exposure(conn, o.Settings); warning != "" {
		c.later(warning)
	}
	if err := c.find(ctx); err != nil {
		return nil, err
	}
	defer c.leave()
	if _, err := conn.Subscribe(o.Subject+".run."+c.run, c.receive); err != nil {
		return nil, err
	}
	stop := c.beat()
	defer stop()
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	c.await(ctx)
	result, err := c.result()
	if result == nil && ctx.Err() != nil {
		return nil, context.Cause(ctx) // it was interrupted before the start
	}
	return result, err
}

// result merges the results of the agents.
func (c *coordinator) result() (*load.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var shares []*load.Result
	var reasons []string
	for _, r := range c.agents {
		if s := c.shareOf(r); s != nil {
			shares = append(shares, s)
		} else {
			reasons = append(reasons, fmt.Sprintf("agent %s did not run: %s", r.Name, cmp.Or(r.failed, "it is lost")))
		}
	}
	if len(shares) == 0 {
		return nil, &NoAgentError{strings.Join(reasons, "; ")}
	}
	result, err := load.Merge(shares)
	if err != nil {
		return nil, err
	}
	result.Warnings = slices.Concat(c.warnings, reasons, result.Warnings)
	return result, nil
}

// shareOf returns the result of an agent, or that of its last report if it is lost; nil
// without one.
func (c *coordinator) shareOf(r *remote) *load.Result {
	s := r.result
	if s == nil && r.partial == nil {
		return nil
	}
	if s == nil {
		lost := *r.partial
		s = &lost
		s.Series = r.series
	}
	c.sign(r, s)
	if r.result == nil {
		s.Share.Lost = cmp.Or(r.failed, fmt.Sprintf("no message for %v", silence))
	}
	return s
}
