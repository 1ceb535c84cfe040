package machine

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// A BusyMeter measures how many processors of this machine work, for all processes. The zero BusyMeter is ready for use.
// Only one goroutine at a time may use it.
type BusyMeter struct {
	at   time.Time
	busy time.Duration
}

// Processors returns the number since the last call, or nil in the first call, or if the system does not have it.
func (m *BusyMeter) Processors() *float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil
	}
	busy, ok := busyTime(text)
	now := time.Now()
	before := *m
	m.at, m.busy = now, busy
	if !ok || before.at.IsZero() {
		return nil
	}
	n := max(0, (busy-before.busy).Seconds()/now.Sub(before.at).Seconds())
	return &n
}

// tick is the unit of /proc/stat on all architectures of Go.
const tick = 10 * time.Millisecond

// busyTime reads the first line of /proc/stat: cpu, and the times user, nice, system, idle, iowait, irq, softirq and
// steal. Those of guests are in user and nice.
func busyTime(stat []byte) (busy time.Duration, ok bool) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 9 || string(fields[0]) != "cpu" {
		return 0, false
	}
	for i, field := range fields[1:9] {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, false
		}
		if i != 3 && i != 4 { // idle and iowait
			busy += time.Duration(ticks) * tick
		}
	}
	return busy, true
}
