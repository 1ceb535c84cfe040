package proxying

import "time"

// Check sends the request of a health check to a server of the upstream, and passes the response
// to x.Client, as [Proxy.Serve] does. It uses a new connection, which it closes, or with HTTP/2 a
// new stream. It does not change the state of the server, and is not observed.
func (u *Upstream) Check(s *Server, x *Exchange) {
	x.checked = s
	(&Proxy{Upstream: u}).Serve(x)
	x.checked = nil
}

// check sends the request of a health check.
func (t *transfer) check(s *Server) error {
	x := t.x
	x.Server, t.now = s, time.Now()
	x.Chosen = t.now
	c, err := x.dial(s, newConnOnly, x.timeout())
	if err != nil {
		return x.dialError(s, err)
	}
	t.c = c
	x.attach(c)
	failed := t.run()
	t.c = nil
	x.attach(nil)
	if c.Stream != nil {
		t.releaseStream(c)
		return failed
	}
	x.response.GiveBack()
	c.Close()
	return failed
}
