package loadcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/version"
	"github.com/weirhq/weir/load/agent"
	"github.com/weirhq/weir/log/natssink"
)

// An AgentCommand is weir agent.
type AgentCommand struct {
	Via   string            `required:"" placeholder:"URL" help:"Connect to NATS at URL, such as nats://nats-1:4222."`
	Name  string            `placeholder:"NAME" help:"The agent's name in reports (default the host's name)."`
	Label map[string]string `mapsep:"none" placeholder:"NAME=VALUE" help:"A label, by which weir load --label chooses agents. May be repeated."`
}

// Help implements kong.HelpProvider.
func (AgentCommand) Help() string {
	return `Waits for work from weir load --agents, executes a share of the load, and waits again. It survives the loss of
weir load and of the NATS server. Ctrl-C ends it.

The URL may have a user and password, several servers (nats://user:password@a:4222,b:4222), a subject (default
/weir.load) and the parameters creds, nkey, ca, cert and key, which name files. tls:// requires TLS.
A client that may publish on the subject can make the agents send requests to any server.

Examples:
  weir agent --via nats://nats-1:4222
  weir agent --via 'tls://nats-1?creds=agent.creds' --label zone=eu`
}

// Run serves until a signal.
func (c *AgentCommand) Run(s cli.Streams) error {
	connection, subject, err := parseVia(c.Via)
	if err != nil {
		return err
	}
	name := c.Name
	if name == "" {
		if name, err = os.Hostname(); err != nil {
			return cli.WithHint(err, "--name gives the agent a name")
		}
	}
	signals, stop := cli.Interrupts()
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan struct{})
	defer func() { <-ended }()
	go func() {
		defer close(ended)
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	err = agent.Serve(ctx, agent.Options{
		Connection: connection, Subject: subject, Name: name, Labels: c.Label, Version: version.String(),
		Log: func(line string) { cli.Say(s.Err, line) },
	})
	cancel()
	return natsHint(err)
}

// defaultSubject is the subject of agents if the URL has none.
const defaultSubject = "weir.load"

// parseVia parses --via.
func parseVia(via string) (connection nats.Options, subject string, err error) {
	const hint = "--via nats://127.0.0.1:4222"
	scheme, rest, _ := strings.Cut(via, "://")
	server, query, both := strings.Cut(rest, "?")
	if !strings.Contains(server, "/") {
		server += "/" + defaultSubject
	} else if strings.HasSuffix(server, "/") {
		server += defaultSubject
	}
	if both {
		server += "?" + query
	}
	address, err := natssink.Parse(scheme + "://" + server)
	if err == nil && strings.ContainsAny(address.Subject, "*>") {
		err = fmt.Errorf("%q is a pattern of subjects", address.Subject)
	}
	if err != nil {
		return connection, "", misuse(hint, "--via: %w", err)
	}
	return address.Options, address.Subject, nil
}

// natsHint adds a hint to an error of the connection to NATS.
func natsHint(err error) error {
	switch {
	case err == nil, errors.Is(err, cli.ErrInterrupted):
		return err
	case errors.Is(err, context.Canceled):
		return cli.ErrInterrupted
	case strings.Contains(strings.ToLower(err.Error()), nats.AUTHORIZATION_ERR): // the server's own text
		return cli.WithHint(err, "--via 'nats://HOST?creds=FILE' or nats://USER:PASSWORD@HOST")
	}
	return cli.WithHint(err, "is a NATS server running there? For a test: nats-server")
}
