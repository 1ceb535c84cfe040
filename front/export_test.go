package front

import "github.com/weirhq/weir/proxy"

// FailListener makes the first listener fail.
func (d *Door) FailListener() { d.server.listeners[0].Listener.Close() }

// SetHook replaces the hook of the route of a GET request for the path, to
// inject a panic. No configuration can cause one. Call it before Serve.
func (d *Door) SetHook(path string, hook func(*proxy.Exchange, proxy.Event)) {
	e, _ := d.tables.Load().routes.Lookup("GET", "", path, "", nil)
	to := e.Value.action.(*forwardTo)
	changed := *to.to
	p := *changed.Proxy
	p.Hook = hook
	changed.Proxy = &p
	to.to = &changed
}

// Stdout returns the name of the file that the log uses as standard output.
func (l *Log) Stdout() string { return l.o.Stdout.Name() }
