package sink

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/log"
)

// A Policy is the rule of a [Queue] for lines that do not fit.
type Policy int

// The policies. The zero value is Shed.
const (
	// Shed drops the least important lines first: LevelDebug if half of the
	// queue is taken, LevelInfo from three quarters and LevelWarn from seven
	// eighths. The last eighth is reserved for LevelError and LevelFatal.
	Shed Policy = iota

	// Drop drops the newest line, whatever its level, when the queue is full.
	Drop

	// Block makes the caller wait for space; see [QueueOptions.Wait].
	Block
)

var policyNames = []string{Shed: "shed", Drop: "drop", Block: "block"}

// ParsePolicy returns the policy with that name: shed, drop or block. For any
// other name it returns Shed and an error.
func ParsePolicy(name string) (Policy, error) {
	if i := slices.Index(policyNames, name); i >= 0 {
		return Policy(i), nil
	}
	return Shed, fmt.Errorf("unknown policy %q: want one of %s", name, strings.Join(policyNames, ", "))
}

// String returns the policy's name, or a number such as "policy(7)" if it has
// none.
func (p Policy) String() string {
	if p < 0 || int(p) >= len(policyNames) {
		return fmt.Sprintf("policy(%d)", int(p))
	}
	return policyNames[p]
}

// share returns how many of a queue's bytes may be taken after a line of that
// level is added.
func (p Policy) share(level log.Level, bytes int) int {
	switch {
	case p != Shed || level >= log.LevelError:
		return bytes
	case level >= log.LevelWarn:
		return bytes - bytes/8
	case level >= log.LevelInfo:
		return bytes - bytes/4
	default:
		return bytes / 2
	}
}
