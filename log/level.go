package log

import (
	"fmt"
	"strings"
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
	if !l.known() {
		return fmt.Sprintf("level(%d)", int8(l))
	}
	return levelNames[l-LevelDebug]
}

// MarshalText returns the level's name. A level without one is an error.
func (l Level) MarshalText() ([]byte, error) {
	if !l.known() {
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

func (l Level) known() bool { return LevelDebug <= l && l <= LevelFatal }

// severity returns the digit that stands for l on the wire. A level beyond the
// named ones counts as the nearest of them.
func (l Level) severity() byte {
	return '0' + byte(LevelFatal-min(max(l, LevelDebug), LevelFatal))
}
