package serve

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/filebudget"
	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/readable"
)

type DoctorCommand struct {
	fileOption
	JSON bool `name:"json" help:"Print the findings as a JSON document."`
}

// Help implements kong.HelpProvider.
func (DoctorCommand) Help() string {
	return `Prints the limits of this machine for a front door, one per line, and a remedy for each that is too low
under load ("bites"): open files, connections, ports, the backlog of listeners, CPU and memory. With
a file it also examines certificates that end soon, the disk for log.spill and, for HTTP/3, the buffer of
UDP sockets. It connects to no server. Run it where the front door runs, as the same user and in the same
container. It exits with 1 if a limit bites, or else with 0.

Examples:
  weir doctor
  weir doctor --config weir.yaml --json`
}

// Run examines the machine and prints the findings.
func (c *DoctorCommand) Run(s cli.Streams) error {
	if err := c.take(); err != nil {
		return err
	}
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
	udpBuffer, err := machine.UDPReceiveBuffer(wantedUDPBuffer)
	if err != nil {
		return fmt.Errorf("opening a UDP socket: %w", err)
	}
	disk, err := spillDisk(cfg)
	if err != nil {
		return err
	}
	findings := examine(host{
		udpBuffer:   udpBuffer,
		spillDisk:   disk,
		Limits:      limits,
		openNow:     machine.OpenFilesNow(),
		procs:       runtime.GOMAXPROCS(0),
		memoryLimit: memoryLimit(limits),
		config:      cfg,
	})
	if c.JSON {
		err = cli.PrintJSON(s.Out, map[string]any{"findings": findings})
	} else {
		printFindings(s.Out, findings)
	}
	for _, f := range findings {
		if f.Bites && err == nil {
			return cli.ErrReported
		}
	}
	return err
}

// memoryLimit returns the GOMEMLIMIT of weir serve: that of the environment, or
// else the share of the cgroup's limit that limitMemory sets.
func memoryLimit(l machine.Limits) int64 {
	limit := debug.SetMemoryLimit(-1)
	if _, set := os.LookupEnv("GOMEMLIMIT"); set || l.Memory == 0 || os.Getenv("AUTOMEMLIMIT") == "off" {
		return limit // GOMEMLIMIT=off is kept, too
	}
	return int64(float64(l.Memory) * memoryShare)
}

// A host is a machine and the configuration of the door that will run on it.
type host struct {
	machine.Limits
	openNow     int   // files that the process has open
	procs       int   // GOMAXPROCS
	udpBuffer   int   // maximum size of the receive buffer of a UDP socket; 0 if unknown
	spillDisk   int64 // free space in bytes on the disk of log.spill; 0 if unknown
	memoryLimit int64
	config      *config.Config
}

// A finding is a limit and its consequence for the door.
type finding struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Bites bool   `json:"bites"`          // the limit is too low for a door under load
	Hint  string `json:"hint,omitempty"` // how to raise the limit; empty unless Bites
}

// examine returns a finding for each limit.
func examine(h host) []finding {
	all := []finding{h.files(), h.connections(), h.ports(), h.backlog(), h.cpu(), h.memory()}
	if h.config.TLS != nil && h.config.TLS.HTTP3 {
		all = append(all, h.udp())
	}
	if h.config.Log.Spill.Folder != "" {
		all = append(all, h.spill())
	}
	for _, c := range certificatesOf(h.config) {
		all = append(all, expiry(c))
	}
	return all
}

const (
	// minConnections is the number of client connections on a bad day.
	minConnections = 4000
	// minPorts is the number of connections to one server on a bad day.
	minPorts = 16_000
	// minBacklog is a queue of new connections that a burst does not fill.
	minBacklog = 1024
	// wantedUDPBuffer is the buffer that quic-go asks for.
	wantedUDPBuffer = 7 << 20
	// soon is the time in which a certificate should be replaced.
	soon = 7 * 24 * time.Hour
)

func (h host) files() finding {
	f := finding{Name: "open files"}
	if h.OpenFilesHard == 0 {
		f.Value = "not known on this system"
		return f
	}
	clients := filebudget.Share(h.OpenFilesHard, h.openNow, 0).Clients
	f.Value = fmt.Sprintf("%s (hard limit): %d client connections; a proxied request needs two files",
		files(h.OpenFilesHard), clients)
	if wanted := h.config.Limits.MaxConnections; wanted > clients {
		f.Bites, f.Hint = true, fmt.Sprintf("limits.max_connections is %d: raise the limit to %d", wanted, 2*wanted+256)
	} else if clients < minConnections && (wanted == 0 || wanted > clients) {
		f.Bites, f.Hint = true, "raise it: LimitNOFILE=65536 in a systemd unit, --ulimit nofile=65536 for docker, "+
			"ulimit -Hn 65536 in a shell of root"
	}
	return f
}

func files(n uint64) string {
	if n == machine.Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}

// connections compares the connections that weir serve allows with those that have enough memory.
func (h host) connections() finding {
	f := finding{Name: "connections"}
	memory := h.MemoryBelow(h.memoryLimit)
	fit, wanted := front.FittingConnections(h.config, memory), h.config.Limits.MaxConnections
	n := filebudget.Share(h.OpenFilesHard, h.openNow, cmp.Or(wanted, fit)).Clients
	f.Value = fmt.Sprintf("at most %d", n)
	if fit == 0 {
		return f
	}
	f.Value += fmt.Sprintf("; %s of memory are enough for %d slow clients", readable.Size(float64(memory)), fit)
	rates := front.Rates(h.config)
	if rates > 0 {
		f.Value += fmt.Sprintf(" beside %d rates", rates)
	}
	switch more := "give it more memory"; {
	case rates > 0 && memory/2-rates*front.RateMemory < memory/8:
		f.Bites, f.Hint = true, more+", or configure fewer rates; one under limits applies to all routes"
	case wanted > fit:
		f.Bites, f.Hint = true, fmt.Sprintf("set limits: {max_connections: %d} or less, or %s", fit, more)
	case wanted == 0 && n == fit && n < minConnections:
		f.Bites, f.Hint = true, fmt.Sprintf("%s, or accept it: limits: {max_connections: %d}", more, fit)
	}
	return f
}

func (h host) ports() finding {
	f := finding{Name: "ports"}
	if h.PortHigh == 0 {
		f.Value = "not known on this system"
		return f
	}
	n := h.PortHigh - h.PortLow + 1
	f.Value = fmt.Sprintf("%d to %d: %d connections to one server", h.PortLow, h.PortHigh, n)
	if n < minPorts {
		f.Bites, f.Hint = true, "sysctl -w net.ipv4.ip_local_port_range='10240 65535'"
	}
	return f
}

func (h host) backlog() finding {
	f := finding{Name: "somaxconn"}
	if h.Backlog == 0 {
		f.Value = "not known on this system"
		return f
	}
	f.Value = fmt.Sprintf("%d new connections can wait for a listener", h.Backlog)
	if h.Backlog < minBacklog {
		f.Bites, f.Hint = true, "sysctl -w net.core.somaxconn=4096, in the container's network namespace"
	}
	return f
}

func (h host) cpu() finding {
	f := finding{Name: "GOMAXPROCS", Value: fmt.Sprintf("%d, without a limit of CPU time", h.procs)}
	if h.CPUs == 0 {
		return f
	}
	f.Value = fmt.Sprintf("%d, with CPU time for %.3g", h.procs, h.CPUs)
	fit := max(2, int(math.Ceil(h.CPUs))) // the default of Go
	if h.procs > fit {
		f.Bites, f.Hint = true, fmt.Sprintf(
			"the cgroup throttles a process that uses more CPUs than its limit: unset GOMAXPROCS, or set it to %d", fit)
	}
	return f
}

func (h host) memory() finding {
	f := finding{Name: "GOMEMLIMIT", Value: "none, without a memory limit"}
	switch {
	case h.Memory == 0 && h.memoryLimit != math.MaxInt64:
		f.Value = fmt.Sprintf("%s, without a memory limit", readable.Size(float64(h.memoryLimit)))
	case h.Memory == 0:
	case h.memoryLimit == math.MaxInt64:
		f.Value = fmt.Sprintf("none, with %s in the cgroup", readable.Size(float64(h.Memory)))
		f.Bites, f.Hint = true, "garbage may use all of the memory: unset GOMEMLIMIT and AUTOMEMLIMIT, and weir "+
			"serve sets it"
	default:
		f.Value = fmt.Sprintf("%s, with %s in the cgroup", readable.Size(float64(h.memoryLimit)),
			readable.Size(float64(h.Memory)))
		if float64(h.memoryLimit) > maxMemoryShare*float64(h.Memory) {
			f.Bites, f.Hint = true, "no memory is left outside the Go heap: unset GOMEMLIMIT, and weir serve sets "+
				"it to 90%"
		}
	}
	return f
}

func (h host) udp() finding {
	f := finding{Name: "UDP buffer", Value: "not known on this system"}
	if h.udpBuffer == 0 {
		return f
	}
	f.Value = fmt.Sprintf("%s for the packets of HTTP/3 that arrive", readable.Size(float64(h.udpBuffer)))
	if h.udpBuffer < wantedUDPBuffer {
		f.Bites, f.Hint = true, fmt.Sprintf("packets are lost under load: sysctl -w net.core.rmem_max=%d net.core.wmem_max=%d",
			wantedUDPBuffer, wantedUDPBuffer)
	}
	return f
}

// expiry reports a certificate that has ended or ends soon.
func expiry(c certificateReport) finding {
	f := finding{Name: "certificate", Value: fmt.Sprintf("%s: until %s (%s)", c.File,
		c.ExpiresAt.UTC().Format(time.DateTime+" UTC"), daysUntil(c.ExpiresAt))}
	if time.Until(c.ExpiresAt) < soon {
		f.Bites, f.Hint = true, "replace the file; weir serve reads it again without a reload"
	}
	return f
}

// printFindings prints the findings as text.
func printFindings(w io.Writer, findings []finding) {
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
