package log

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// A Level tells how much an event matters. Higher is worse; the zero value is
// [LevelInfo]. On the wire it becomes the number "severity", which runs the
// other way: 0 is fatal and 4 is debug.
type Level int8

// The levels. LevelFatal only marks an event: the package never exits.
const (
	LevelDebug Level = iota - 1
	LevelInfo
	LevelWarn
	LevelError
	LevelFatal
)

var levelNames = [...]string{"debug", "info", "warn", "error", "fatal"}

// ParseLevel returns the level of that name: debug, info, warn, error or
// fatal, in any case. Otherwise it returns LevelInfo and an error.
func ParseLevel(name string) (Level, error) {
	for i, known := range levelNames {
		if strings.EqualFold(name, known) {
			return LevelDebug + Level(i), nil
		}
	}
	return LevelInfo, fmt.Errorf("unknown level %q: want one of %s", name, strings.Join(levelNames[:], ", "))
}

// String returns the level's name in lower case; a level that has none is
// written as a number, "level(7)".
func (l Level) String() string {
	if l != l.nearest() {
		return fmt.Sprintf("level(%d)", int8(l))
	}
	return levelNames[l-LevelDebug]
}

// MarshalText returns the level's name. A level without one is an error.
func (l Level) MarshalText() ([]byte, error) {
	if l != l.nearest() {
		return nil, fmt.Errorf("level %d has no name", int8(l))
	}
	return []byte(l.String()), nil
}

// UnmarshalText takes what [ParseLevel] takes. On an error l is unchanged.
func (l *Level) UnmarshalText(text []byte) error {
	parsed, err := ParseLevel(string(text))
	if err == nil {
		*l = parsed
	}
	return err
}

// nearest returns the named level that is nearest to l: l itself, if it is one.
func (l Level) nearest() Level { return min(max(l, LevelDebug), LevelFatal) }

// severity returns the digit that stands for l on the wire.
func (l Level) severity() byte { return '0' + byte(LevelFatal-l.nearest()) }

// A Leveler says from which level on a [Logger] writes: a [Level], or a
// [*LevelVar] where that is to change while the program runs.
type Leveler interface {
	levelVar() *LevelVar
}

// A LevelVar is a [Level] that may change while loggers use it, all of which
// follow at once; a flag or a configuration can set it as text. The zero value
// is LevelInfo. Many goroutines may use one at once; it must not be copied.
type LevelVar struct{ level atomic.Int32 }

// Level returns the level that v holds.
func (v *LevelVar) Level() Level { return Level(v.level.Load()) }

// Set makes v hold that level.
func (v *LevelVar) Set(l Level) { v.level.Store(int32(l)) }

// String returns the name of the level.
func (v *LevelVar) String() string { return v.Level().String() }

// MarshalText returns the name of the level; see [Level.MarshalText].
func (v *LevelVar) MarshalText() ([]byte, error) { return v.Level().MarshalText() }

// UnmarshalText sets the level by its name; see [Level.UnmarshalText].
func (v *LevelVar) UnmarshalText(text []byte) error {
	l, err := ParseLevel(string(text))
	if err == nil {
		v.Set(l)
	}
	return err
}

func (v *LevelVar) levelVar() *LevelVar { return v }

func (l Level) levelVar() *LevelVar {
	v := new(LevelVar)
	v.Set(l)
	return v
}
