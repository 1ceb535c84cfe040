package serve

import (
	"crypto/x509"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/internal/machine"
)

// TestExamineFindsEachProblem changes one property of a healthy machine at a time.
func TestExamineFindsEachProblem(t *testing.T) {
	healthy := func() host {
		return host{
			Limits: machine.Limits{
				OpenFiles: 65536, OpenFilesHard: 65536, PortLow: 32768, PortHigh: 60999, Backlog: 4096,
				CPUs: 1.5, Memory: 4 << 30,
			},
			openNow: 10, procs: 2, memoryLimit: 36 << 30 / 10, config: config.Default(),
		}
	}
	for _, c := range []struct {
		name   string
		change func(*host)
		bites  string // the finding that bites, or ""
		hint   string
	}{
		{"healthy", func(h *host) {}, "", ""},
		{"nothing is known", func(h *host) { h.Limits = machine.Limits{} }, "", ""},
		{"no limits", func(h *host) {
			h.OpenFilesHard, h.CPUs, h.Memory, h.memoryLimit, h.procs = machine.Unlimited, 0, 0, math.MaxInt64, 64
		}, "", ""},
		{"few files", func(h *host) { h.OpenFilesHard = 1024 }, "open files", "LimitNOFILE"},
		{"few files, and few are wanted", func(h *host) { h.OpenFilesHard, h.config.Limits.MaxConnections = 1024, 100 },
			"", ""},
		{"fewer files than wanted", func(h *host) {
			h.Memory, h.memoryLimit, h.config.Limits.MaxConnections = 64<<30, 60<<30, 40_000
		}, "open files",
			"raise the limit to 80256"},
		{"little memory", func(h *host) { h.Memory, h.memoryLimit = 256<<20, 230<<20 }, "connections",
			"accept it: limits: {max_connections: 920}"},
		{"little memory, and few connections are wanted", func(h *host) {
			h.Memory, h.memoryLimit, h.config.Limits.MaxConnections = 256<<20, 230<<20, 920
		}, "", ""},
		{"more connections than memory", func(h *host) {
			h.Memory, h.memoryLimit, h.config.Limits.MaxConnections = 256<<20, 230<<20, 921
		}, "connections", "max_connections: 920} or less"},
		{"a GOMEMLIMIT without a cgroup", func(h *host) { h.Memory, h.memoryLimit = 0, 230<<20 }, "connections",
			"max_connections: 920"},
		{"more rates than memory", func(h *host) {
			h.Memory, h.memoryLimit = 1<<30, 900<<20
			for range 10 {
				h.config.Routes = append(h.config.Routes,
					config.Route{Limits: config.RequestLimits{Rate: config.Rate{Every: 1}}})
			}
		}, "connections", "fewer rates"},
		{"a rate in the place of connections", func(h *host) {
			h.Memory, h.memoryLimit = 336<<20, 300<<20
			h.config.Limits.Rate.Every = 1
		}, "connections", "max_connections: 880"},
		{"few ports", func(h *host) { h.PortLow = 60000 }, "ports", "ip_local_port_range"},
		{"a short backlog", func(h *host) { h.Backlog = 128 }, "somaxconn", "somaxconn=4096"},
		{"more threads than CPU", func(h *host) { h.procs = 64 }, "GOMAXPROCS", "set it to 2"},
		{"no memory limit", func(h *host) { h.memoryLimit = math.MaxInt64 }, "GOMEMLIMIT", "AUTOMEMLIMIT"},
		{"a small buffer of UDP, without HTTP/3", func(h *host) { h.udpBuffer = 208 << 10 }, "", ""},
		{"a small buffer of UDP", func(h *host) {
			h.udpBuffer, h.config.TLS = 208<<10, &config.TLS{Config: secure.Config{HTTP3: true}}
		}, "UDP buffer", "net.core.rmem_max=7340032"},
		{"a large buffer of UDP", func(h *host) { h.udpBuffer, h.config.TLS = 7<<20, &config.TLS{Config: secure.Config{HTTP3: true}} }, "", ""},
		{"a certificate that ends soon", func(h *host) { h.config.TLS = certificateUntil(24 * time.Hour) }, "certificate",
			"replace the file"},
		{"a certificate that has ended", func(h *host) { h.config.TLS = certificateUntil(-time.Hour) }, "certificate",
			"replace the file"},
		{"a certificate", func(h *host) { h.config.TLS = certificateUntil(30 * 24 * time.Hour) }, "", ""},
		{"a disk for the spills of two servers", func(h *host) {
			h.spillDisk, h.config.Log.To = 2<<30, []string{"stdout", "nats://a/x", "nats://b/x"}
			h.config.Log.Spill.Folder = "spill"
		}, "", ""},
		{"a small disk for the spills of two servers", func(h *host) {
			h.spillDisk, h.config.Log.To = 2<<30-1, []string{"stdout", "nats://a/x", "nats://b/x"}
			h.config.Log.Spill.Folder = "spill"
		}, "log.spill", "log.spill.size"},
		{"all the memory", func(h *host) { h.memoryLimit = h.Memory }, "GOMEMLIMIT", "unset GOMEMLIMIT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := healthy()
			c.change(&h)
			var bites []string
			for _, f := range examine(h) {
				if f.Value == "" || f.Bites != (f.Hint != "") {
					t.Errorf("%+v: want a value, and a hint exactly when it bites", f)
				}
				if f.Bites {
					bites = append(bites, f.Name)
					if !strings.Contains(f.Hint, c.hint) {
						t.Errorf("%s: hint %q lacks %q", f.Name, f.Hint, c.hint)
					}
				}
			}
			if got := strings.Join(bites, ", "); got != c.bites {
				t.Errorf("bites: %q, want %q", got, c.bites)
			}
		})
	}
}

// certificateUntil returns a configuration with a certificate that ends after d.
func certificateUntil(d time.Duration) *config.TLS {
	leaf := &x509.Certificate{NotAfter: time.Now().Add(d)}
	return &config.TLS{Config: secure.Config{Certificates: []secure.Certificate{{Cert: "shop.pem", Leaf: leaf}}}}
}

// TestMemoryLimitFollowsTheEnvironment checks the effect of the environment on the GOMEMLIMIT of
// weir serve.
func TestMemoryLimitFollowsTheEnvironment(t *testing.T) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Skip("the tests run with a GOMEMLIMIT")
	}
	limits := machine.Limits{Memory: 1000}
	for _, c := range []struct {
		name, value string
		want        int64
	}{
		{"AUTOMEMLIMIT", "", 900},
		{"AUTOMEMLIMIT", "off", math.MaxInt64},
		{"GOMEMLIMIT", "off", math.MaxInt64},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			if got := memoryLimit(limits); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}
