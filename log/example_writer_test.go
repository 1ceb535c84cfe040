package log_test

import (
	"fmt"
	"os"

	"github.com/weirhq/weir/log"
)

// A selective writer passes on important lines and counts the others.
type selective struct {
	*os.File
	least   log.Level
	dropped int
}

func (s *selective) WriteEvent(level log.Level, line []byte) (int, error) {
	if level < s.least {
		s.dropped++ // a writer for several goroutines needs a lock here
		return len(line), nil
	}
	return s.Write(line)
}

func ExampleEventWriter() {
	w := &selective{File: os.Stdout, least: log.LevelWarn}
	logger := log.New(w, log.Options{Namespace: "front-door"})
	logger.Info("dropped").At(noon).Send()
	logger.Warn("passed on").At(noon).Send()
	fmt.Println(w.dropped, "dropped")
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"passed on","severity":2}
	// 1 dropped
}
