package where

import (
	"strings"
	"time"

	"github.com/weirhq/weir/log"
)

const durationHint = "durations are written as 250ms or 1m30s"

// notations are the notations of kinds that a text can be compared with.
var notations = map[kind]struct {
	parse func(string) (value, error)
	hint  string
}{
	kindInstant:  {parseInstant, `write "2026-11-21T09:30:15Z", "2026-11-21T09:30", which is in UTC, or now() - 1h`},
	kindDuration: {parseDuration, durationHint},
	kindLevel:    {parseLevel, "the levels are " + strings.Join(levelNames, ", ")},
}

func parseDuration(text string) (value, error) {
	d, err := time.ParseDuration(text)
	return intValue(int64(d)), err
}

func parseLevel(text string) (value, error) {
	level, err := log.ParseLevel(text)
	return textValue(level.String()), err
}
