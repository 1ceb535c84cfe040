package front

import (
	"syscall"

	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/log/sink"
)

// Spans returns the counts of spans.
func (d *Door) Spans() sink.Stats { return d.spans.Stats() }

// FailListener makes the first listener fail.
func (d *Door) FailListener() {
	_, listeners := d.server.Listeners()
	if raw, err := listeners[0].SyscallConn(); err == nil { // the server may have a copy
		raw.Control(func(fd uintptr) { syscall.Shutdown(int(fd), syscall.SHUT_RD) })
	}
	listeners[0].Close()
}

// WrapAction wraps the action of the route of a GET request for the path, to inject a
// panic. No configuration can cause one. Call it before Serve.
func (d *Door) WrapAction(path string, wrap func(stage.Action) stage.Action) {
	e, _ := d.tables.Load().routes.Lookup("GET", "", path, "", nil)
	e.Value.action = wrap(e.Value.action)
}
