package loadcmd

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/version"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/agent"
	"github.com/weirhq/weir/load/settings"
)

// A fleet has the flags of a run on agents.
type fleet struct {
	Agents string            `group:"Agents:" placeholder:"N" help:"Execute the plan on N agents (weir agent), a share on each."`
	Via    string            `group:"Agents:" placeholder:"URL" help:"Reach the agents over NATS at URL, such as nats://nats-1:4222."`
	Label  map[string]string `group:"Agents:" mapsep:"none" placeholder:"NAME=VALUE" help:"Use only agents with this label. May be repeated."`
}

// coordinator returns the coordinator of a run on agents; nil for a run in this process. shared
// reports that --share or --start-at is set, and pid is --pid.
func (f *fleet) coordinator(shared bool, pid string) (*agent.Coordinator, error) {
	const hint = "weir load --agents 2 --via nats://127.0.0.1:4222 URL"
	switch {
	case f.Agents == "" && f.Via == "" && len(f.Label) == 0:
		return nil, nil
	case f.Agents == "" || f.Via == "":
		return nil, misuse(hint, "a run on agents needs --agents and --via")
	case shared:
		return nil, misuse("", "--share and --start-at are for runs without --agents")
	case pid != "" && pid != "-1":
		return nil, misuse("an agent on the machine of the server finds it", "--pid is for runs without --agents")
	}
	n, err := strconv.Atoi(f.Agents)
	if err != nil || n < 1 {
		return nil, misuse(hint, "--agents: %q is not a number of agents", f.Agents)
	}
	connection, subject, err := parseVia(f.Via)
	return &agent.Coordinator{Connection: connection, Subject: subject, Version: version.String(), Agents: n,
		Labels: f.Label, Files: agent.NewFiles(os.Stdin)}, err
}

// remotePlan returns the plan of a run on agents. It collects the files that the plan names,
// and finds its mistakes before an agent is used.
func remotePlan(c *agent.Coordinator, s settings.Settings) (load.Plan, error) {
	s.Find = c.Files.Find
	if s.Seed == 0 {
		s.Seed = 1 + uint64(rand.Uint32())
	}
	c.Settings = s
	p, err := s.Plan()
	if err != nil {
		return p, aboutFlag(err)
	}
	p.Seed, p.Share, p.StartAt = s.Seed, load.Share{Number: 1, Of: c.Agents}, time.Now().Add(time.Hour)
	if err := p.Check(); err != nil {
		return p, withHint(err)
	}
	p.Share, p.StartAt = load.Share{}, time.Time{}
	return p, nil
}

// remoteRun returns a function that executes the plan on agents.
func remoteRun(c *agent.Coordinator, v *screen, p load.Plan) func(context.Context) (*load.Result, error) {
	c.Points, c.Progress = p.Points, p.Progress
	c.Warn = func(line string) { v.Say(line) }
	return func(ctx context.Context) (*load.Result, error) {
		r, err := agent.Run(ctx, *c)
		var none *agent.NoAgentError
		if errors.As(err, &none) {
			return nil, cli.WithHint(err, "on each machine of the load: weir agent --via URL")
		}
		return r, natsHint(err)
	}
}
