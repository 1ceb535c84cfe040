package http2

// A reading is a task that reads from a connection.
type reading Conn

// Run implements transport.Task.
func (r *reading) Run() { (*Conn)(r).Serve() }
