package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// HealthCommand is weir health.
type HealthCommand struct {
	Admin string `arg:"" optional:"" type:"nonempty" default:"${admin}" help:"The admin address of the front door (default ${default})."`
}

// Help implements kong.HelpProvider.
func (HealthCommand) Help() string {
	return `Asks the running front door whether it is ready, for the health check of a container. It prints one line. It exits with
0 if the front door is ready, and with 1 if it drains, does not respond within 5 seconds, or is not running. ADMIN is
host:port, or :port for this machine, as admin of the configuration.

Examples:
  weir health
  weir health 127.0.0.1:9901`
}

// Run asks the front door.
func (c *HealthCommand) Run(s cli.Streams) error {
	if err := cli.CheckAdmin(c.Admin, "health"); err != nil {
		return err
	}
	if err := askReady(c.Admin); err != nil {
		return fmt.Errorf("the front door with the admin address %s is not ready: %w", c.Admin, err)
	}
	fmt.Fprintf(s.Out, "the front door with the admin address %s is ready\n", cli.Printable(c.Admin))
	return nil
}

// healthTimeout is the time limit for the response.
const healthTimeout = 5 * time.Second

// askReady returns why a front door is not ready.
func askReady(addr string) error {
	ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
	defer cancel()
	resp, err := cli.GetAdmin(ctx, addr, "/readyz")
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no response within %v", healthTimeout)
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 100))
	switch state := strings.TrimSpace(string(text)); {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusOK && state == "ready":
		return nil
	case resp.StatusCode == http.StatusServiceUnavailable && state != "":
		return errors.New(state)
	default:
		return fmt.Errorf("no admin listener responds there, but another server: %s", resp.Status)
	}
}
