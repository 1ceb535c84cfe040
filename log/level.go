package log

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// A Level is the importance of an event. Higher is worse; the zero value is
// [LevelInfo]. In a line it is the number "severity", with the opposite order:
// 0 is fatal and 4 is debug.
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

// ParseLevel returns the level with the given name: debug, info, warn, error or
// fatal, in any case. Otherwise it returns LevelInfo and an error.
func ParseLevel(name string) (Level, error) {
	for i, known := range levelNames {
		if strings.EqualFold(name, known) {
			return LevelDebug + Level(i), nil
		}
	}
	return LevelInfo, fmt.Errorf("unknown level %q: want one of %s", name, strings.Join(levelNames[:], ", "))
}

// String returns the level's name in lower case, or "level(7)" for a level
// without a name.
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

// UnmarshalText sets the level by its name; see [ParseLevel]. On an error, l is
// unchanged.
func (l *Level) UnmarshalText(text []byte) error {
	parsed, err := ParseLevel(string(text))
	if err == nil {
		*l = parsed
	}
	return err
}

// nearest returns l, or the nearest level that has a name.
func (l Level) nearest() Level { return min(max(l, LevelDebug), LevelFatal) }

// severity returns the digit of the level in a line.
func (l Level) severity() byte { return '0' + byte(LevelFatal-l.nearest()) }

// A Leveler is the lowest level that a [Logger] writes: a [Level], or a
// [*LevelVar] to change it at run time.
type Leveler interface {
	levelVar() *LevelVar
}

// A LevelVar is a [Level] that can change while loggers use it. All of them
// follow immediately. A flag or a configuration can set it as text. The zero
// value is LevelInfo. It is safe for concurrent use and must not be copied.
type LevelVar struct{ level atomic.Int32 }

// Level returns the current level.
func (v *LevelVar) Level() Level { return Level(v.level.Load()) }

// Set changes the level.
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
