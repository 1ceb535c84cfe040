package front

import (
	"runtime/debug"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/machine"
)

const (
	// slowMemory is the memory of a connection with a request whose client is slow, apart from the head of the
	// request, which counts with limits.head. docs/limits.md has the measurements.
	slowMemory = 64 << 10
	// RateMemory is the memory of all clients of a rate, at most.
	RateMemory = 40 << 20
)

// FittingConnections returns how many connections of slow clients, each with a request, have enough memory in half of
// the given bytes, without the memory of the rates. The other half is for everything else. It is also the default for
// limits.max_connections and limits.in_flight. Zero bytes mean no limit, and so does the result 0.
func FittingConnections(cfg *config.Config, memory int64) int {
	if memory == 0 {
		return 0
	}
	each := slowMemory + int64(withDefaults(cfg.Limits).Head)
	return int(max(memory/2-Rates(cfg)*RateMemory, memory/8, each) / each)
}

// Rates returns the number of request rates in a configuration.
func Rates(cfg *config.Config) (n int64) {
	if cfg.Limits.Rate.Every > 0 {
		n++
	}
	for _, r := range cfg.Routes {
		if r.Limits.Rate.Every > 0 {
			n++
		}
	}
	return n
}

// LimitFromMemory returns limits.max_connections if it follows from the memory of the process, and this memory in
// bytes. It returns 0 if the configuration or the limit of open files determines it.
func (d *Door) LimitFromMemory() (connections int, memory int64) {
	t := d.tables.Load()
	if t.config.Limits.MaxConnections > 0 || t.files.Clients != t.fitting {
		return 0, 0
	}
	return t.fitting, d.memory
}

// memoryOfProcess returns the memory that this process may use. It is 0 if there is no limit, or none is known.
func memoryOfProcess() int64 {
	limits, _ := machine.Read("/")
	return limits.MemoryBelow(debug.SetMemoryLimit(-1))
}
