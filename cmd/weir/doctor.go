package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/machine"
)

type doctorCmd struct {
	Config string `short:"c" placeholder:"FILE" help:"Look at the limits of FILE, too."`
	JSON   bool   `name:"json" help:"Print the findings as a JSON document."`
}

// Help implements kong.HelpProvider.
func (doctorCmd) Help() string {
	return `Prints what this machine allows a front door, one finding to a line, and what to do about those that will bite under load: open files, ports, the backlog of listeners, CPU and memory. Run it where the door runs, as the same user and in the same container. It exits with 1 when something will bite, else with 0.

Examples:
  weir doctor
  weir doctor --config weir.yaml --json`
}

// Run looks at the machine.
func (c *doctorCmd) Run(s cli.Streams) error {
	cfg := config.Default()
	if c.Config != "" {
		var err error
		if cfg, err = readConfig(c.Config); err != nil {
			return err
		}
	}
	limits, err := machine.Read("/")
	if err != nil {
		return fmt.Errorf("reading the machine's limits: %w", err)
	}
	findings := examine(patient{
		Limits:      limits,
		openNow:     machine.OpenFilesNow(),
		procs:       runtime.GOMAXPROCS(0),
		memoryLimit: memoryLimit(limits),
		config:      cfg,
	})
	if c.JSON {
		err = printFindings(s.Out, findings)
	} else {
		tellFindings(s.Out, findings)
	}
	for _, f := range findings {
		if f.Bites && err == nil {
			return cli.ErrReported
		}
	}
	return err
}

// memoryLimit is what GOMEMLIMIT is in weir serve: what the environment says
// or, where it says nothing, what serve makes of the cgroup's limit.
func memoryLimit(l machine.Limits) int64 {
	limit := debug.SetMemoryLimit(-1)
	if _, set := os.LookupEnv("GOMEMLIMIT"); set || l.Memory == 0 || os.Getenv("AUTOMEMLIMIT") == "off" {
		return limit // GOMEMLIMIT=off is kept, too
	}
	return int64(float64(l.Memory) * memoryShare)
}

// A patient is a machine with the door that is to run on it.
type patient struct {
	machine.Limits
	openNow     int // files that the process has open
	procs       int // GOMAXPROCS
	memoryLimit int64
	config      *config.Config
}

// A finding is a limit and what it means for the door.
type finding struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Bites bool   `json:"bites"`
	Hint  string `json:"hint,omitempty"` // what to do, when it bites
}

// examine looks at everything.
func examine(p patient) []finding {
	return []finding{p.files(), p.connections(), p.ports(), p.backlog(), p.cpu(), p.memory()}
}

const (
	// fewConnections is below what a front door meets on a bad day.
	fewConnections = 4000
	// fewPorts is how many connections to one server are too few.
	fewPorts = 16_000
	// shortBacklog is a queue of new connections that a burst fills.
	shortBacklog = 1024
	// connectionMemory is what an idle connection of a client may take.
	connectionMemory = 32 << 10
	// rateMemory is what the clients of a rate may take.
	rateMemory = 40 << 20
)

func (p patient) files() finding {
	f := finding{Name: "open files"}
	if p.OpenFilesHard == 0 {
		f.Value = "not known on this system"
		return f
	}
	clients := front.AllowedConnections(p.OpenFilesHard, p.openNow, 0)
	f.Value = fmt.Sprintf("%s (hard limit): %d connections of clients, for a proxied request needs two files", files(p.OpenFilesHard), clients)
	if wanted := p.config.Limits.MaxConnections; wanted > clients {
		f.Bites, f.Hint = true, fmt.Sprintf("limits.max_connections wants %d: raise the limit to %d", wanted, 2*wanted+256)
	} else if clients < fewConnections && (wanted == 0 || wanted > clients) {
		f.Bites, f.Hint = true, "raise it: LimitNOFILE=65536 in a systemd unit, --ulimit nofile=65536 for docker, ulimit -Hn 65536 in a shell of root"
	}
	return f
}

func files(n uint64) string {
	if n == machine.Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}

// connections compares what may be let in with the memory there is.
func (p patient) connections() finding {
	f := finding{Name: "connections"}
	n := front.AllowedConnections(p.OpenFilesHard, p.openNow, p.config.Limits.MaxConnections)
	need := int64(n) * connectionMemory
	f.Value = fmt.Sprintf("%d at most, which may take %s", n, size(need))
	rates := p.rates() * rateMemory
	if rates > 0 {
		f.Value += fmt.Sprintf(", and the clients of %d rates %s", p.rates(), size(rates))
	}
	room := p.Memory/2 - rates
	switch {
	case p.Memory == 0 || need <= room:
	case room < p.Memory/8:
		f.Bites, f.Hint = true, fmt.Sprintf("the cgroup has %s: give it more memory, or have fewer rates: one under limits holds for all routes", size(p.Memory))
	default:
		f.Bites, f.Hint = true, fmt.Sprintf("the cgroup has %s: set limits: {max_connections: %d} or less, or give it more memory", size(p.Memory), room/connectionMemory)
	}
	return f
}

// rates is how many rates of requests the configuration has.
func (p patient) rates() (n int64) {
	if p.config.Limits.Rate.Every > 0 {
		n++
	}
	for _, r := range p.config.Routes {
		if r.Limits.Rate.Every > 0 {
			n++
		}
	}
	return n
}

func (p patient) ports() finding {
	f := finding{Name: "ports"}
	if p.PortHigh == 0 {
		f.Value = "not known on this system"
		return f
	}
	n := p.PortHigh - p.PortLow + 1
	f.Value = fmt.Sprintf("%d to %d: %d connections to one server", p.PortLow, p.PortHigh, n)
	if n < fewPorts {
		f.Bites, f.Hint = true, "sysctl -w net.ipv4.ip_local_port_range='10240 65535'"
	}
	return f
}

func (p patient) backlog() finding {
	f := finding{Name: "somaxconn"}
	if p.Backlog == 0 {
		f.Value = "not known on this system"
		return f
	}
	f.Value = fmt.Sprintf("%d new connections wait for a listener", p.Backlog)
	if p.Backlog < shortBacklog {
		f.Bites, f.Hint = true, "sysctl -w net.core.somaxconn=4096, in the container's network namespace"
	}
	return f
}

func (p patient) cpu() finding {
	f := finding{Name: "GOMAXPROCS", Value: fmt.Sprintf("%d, with no limit of CPU time", p.procs)}
	if p.CPUs == 0 {
		return f
	}
	f.Value = fmt.Sprintf("%d, with CPU time for %.3g", p.procs, p.CPUs)
	fit := max(2, int(math.Ceil(p.CPUs))) // what Go takes by itself
	if p.procs > fit {
		f.Bites, f.Hint = true, fmt.Sprintf("the cgroup stops the process when it runs on more than it may: unset GOMAXPROCS, or set it to %d", fit)
	}
	return f
}

func (p patient) memory() finding {
	f := finding{Name: "GOMEMLIMIT", Value: "none, and no limit of memory"}
	switch {
	case p.Memory == 0 && p.memoryLimit != math.MaxInt64:
		f.Value = fmt.Sprintf("%s, and no limit of memory", size(p.memoryLimit))
	case p.Memory == 0:
	case p.memoryLimit == math.MaxInt64:
		f.Value = fmt.Sprintf("none, with %s in the cgroup", size(p.Memory))
		f.Bites, f.Hint = true, "garbage may take all the memory: unset GOMEMLIMIT and AUTOMEMLIMIT, and weir serve sets it"
	default:
		f.Value = fmt.Sprintf("%s, with %s in the cgroup", size(p.memoryLimit), size(p.Memory))
		if float64(p.memoryLimit) > mostMemoryShare*float64(p.Memory) {
			f.Bites, f.Hint = true, "what is no heap has no room: unset GOMEMLIMIT, and weir serve sets it to nine tenths"
		}
	}
	return f
}

// size writes bytes for people.
func size(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// tellFindings prints the findings for people.
func tellFindings(w io.Writer, findings []finding) {
	for _, f := range findings {
		verdict := "ok   "
		if f.Bites {
			verdict = "bites"
		}
		fmt.Fprintf(w, "%s %-12s %s\n", verdict, f.Name, f.Value)
		if f.Hint != "" {
			fmt.Fprintf(w, "      %-12s -> %s\n", "", f.Hint)
		}
	}
}

// printFindings prints {"findings": [{"name", "value", "bites", "hint"}]}.
func printFindings(w io.Writer, findings []finding) error {
	return cli.PrintJSON(w, map[string]any{"findings": findings})
}
