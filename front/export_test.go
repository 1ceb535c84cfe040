package front

import "github.com/weirhq/weir/proxy"

// FailListener has the first listener fail.
func (d *Door) FailListener() { d.server.listeners[0].TCPListener.Close() }

// SetHook replaces the hook of the route that a GET of the path reaches. It is
// called before Serve: nothing that a user can configure panics.
func (d *Door) SetHook(path string, hook func(*proxy.Exchange, proxy.Event)) {
	e, _ := d.tables.Load().routes.Lookup("GET", "", path, "", nil)
	route := e.Value
	p := *route.proxy
	p.Hook = hook
	route.proxy = &p
}
