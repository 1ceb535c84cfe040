package acme

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/mholt/acmez/v3/acme"
)

// A Hook is a command that sets and removes TXT records of the DNS for dns-01. Its arguments
// are followed by "present" or "cleanup", the name of the record, and its value. The name has
// no dot at its end. The command ends with 0 when the record is visible to the server. Several
// records may have the same name.
type Hook struct {
	Command []string
	Timeout time.Duration // of one run; more than zero
}

// Present implements acmez.Solver.
func (h Hook) Present(ctx context.Context, c acme.Challenge) error { return h.run(ctx, "present", c) }

// CleanUp implements acmez.Solver.
func (h Hook) CleanUp(ctx context.Context, c acme.Challenge) error {
	return h.run(context.WithoutCancel(ctx), "cleanup", c) // or the record would stay
}

// hookOutput is how much of the output of a command that fails is in the error.
const hookOutput = 1000

// hookGrace is how long a command that is ended has until its outputs are closed.
const hookGrace = time.Second

func (h Hook) run(ctx context.Context, verb string, c acme.Challenge) error {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	record, value := c.DNS01TXTRecordName(), c.DNS01KeyAuthorization()
	args := append(append([]string(nil), h.Command[1:]...), verb, record, value)
	cmd := exec.CommandContext(ctx, h.Command[0], args...)
	cmd.Env = append(os.Environ(), "WEIR_ACME_ACTION="+verb, "WEIR_ACME_RECORD="+record, "WEIR_ACME_VALUE="+value,
		"WEIR_ACME_DOMAIN="+c.Identifier.Value)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, hookGrace
	err := cmd.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("not done after %v", h.Timeout)
	}
	if err != nil {
		text := out.String()
		if len(text) > hookOutput {
			text = text[len(text)-hookOutput:]
		}
		return fmt.Errorf("hook %s %s %s: %w: %s", h.Command[0], verb, record, err, strings.TrimSpace(text))
	}
	return nil
}
