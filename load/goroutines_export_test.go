package load

// OnGoroutines returns the plan without the loops that the system may have.
func OnGoroutines(p Plan) Plan {
	p.onGoroutines = true
	return p
}
