package watch

// A mark is a moment that the caller knows. It is answered when a sample has
// been taken at it.
type mark struct {
	begins   bool // the load begins; otherwise it ends
	answered chan struct{}
}

// send returns when the mark has been answered.
func send(marks chan<- mark, begins bool) {
	m := mark{begins: begins, answered: make(chan struct{})}
	marks <- m
	<-m.answered
}
