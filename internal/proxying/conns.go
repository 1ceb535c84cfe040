package proxying

import "github.com/weirhq/weir/internal/proxying/internal/pool"

// Conns limits the number of open connections to servers, including unused
// ones. Upstreams share one through [Options.Conns]. It is safe for concurrent
// use.
//
// At the limit, an exchange that needs a connection closes an unused one of any
// server. It therefore never waits, provided that there are at most as many
// concurrent exchanges as connections. An exchange beyond that fails with kind
// TooManyConns.
type Conns struct{ limit *pool.Limit }

// NewConns returns a limit of max connections.
func NewConns(max int) *Conns { return &Conns{pool.NewLimit(max)} }

// Stats returns the number of open connections and its limit.
func (c *Conns) Stats() (open, max int) { return c.limit.Stats() }

// SetMax changes the limit. Connections beyond it stay open until they are closed.
func (c *Conns) SetMax(max int) { c.limit.SetMax(max) }

// CloseUnused closes an unused connection to free its file. It reports whether
// there was one.
func (c *Conns) CloseUnused() bool { return c.limit.CloseUnused() }
