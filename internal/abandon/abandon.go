// Package abandon leaves calls that may never return: a disk that hangs holds up each call to it, and no context
// ends one.
package abandon

import "context"

// Call calls f in a goroutine and returns its error. If ctx ends first, Call returns the error of ctx, and f
// continues, perhaps until the process ends: nothing else may then use the variables that f writes.
func Call(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
