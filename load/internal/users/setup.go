package users

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir/load/internal/program"
)

// A SetupError reports that a step of the setup has failed, so that nothing else was sent.
type SetupError struct {
	Step string
	Err  error
}

func (e *SetupError) Error() string {
	return fmt.Sprintf("load: the setup's step %q: %v", e.Step, e.Err)
}

func (e *SetupError) Unwrap() error { return e.Err }

// SetUp executes the setup. exchange sends a message, passes the response to the user, and returns the status.
func (f *Flows) SetUp(ctx context.Context, exchange func(u *User, m *program.Message) (status int, err error)) error {
	u := f.NewUser()
	u.begin(f.setup, 0)
	for range f.setup {
		select {
		case <-time.After(u.Next()):
		case <-ctx.Done():
			return &SetupError{u.step.name, ctx.Err()}
		}
		status, err := exchange(u, u.Message())
		if err == nil {
			err = u.judgeSetup(status)
		}
		if err != nil {
			return &SetupError{u.step.name, err}
		}
	}
	copy(f.shared, u.values)
	return nil
}

// judgeSetup returns the mistake of a response of the setup. Without an expectation, its status must be below 400.
func (u *User) judgeSetup(status int) error {
	if _, mistake := u.End(); mistake != "" {
		return errors.New(mistake)
	}
	if len(u.step.expect) == 0 && status >= 400 {
		return fmt.Errorf("the status is %d", status)
	}
	return nil
}
