package front

import "github.com/weirhq/weir/front/stage"

// FailListener makes the first listener fail.
func (d *Door) FailListener() { d.server.listeners[0].Listener.Close() }

// WrapAction wraps the action of the route of a GET request for the path, to inject a
// panic. No configuration can cause one. Call it before Serve.
func (d *Door) WrapAction(path string, wrap func(stage.Action) stage.Action) {
	e, _ := d.tables.Load().routes.Lookup("GET", "", path, "", nil)
	e.Value.action = wrap(e.Value.action)
}
