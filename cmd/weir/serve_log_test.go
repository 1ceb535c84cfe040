package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// TestGrumbler says what is new at once, and the same thing once a minute.
func TestGrumbler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		g := grumbler{to: &said}
		full, gone := errors.New("full"), errors.New("gone")
		for range 10 {
			g.about(full)
			time.Sleep(time.Second)
		}
		g.about(gone)
		g.about(full)
		for range 70 {
			g.about(full)
			time.Sleep(time.Second)
		}
		want := "weir: the log: full\nweir: the log: gone\nweir: the log: full\n"
		if got := said.String(); got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	})
}

// TestGrumblerKnowsRotation has two files that cannot be put aside, each time
// under another name.
func TestGrumblerKnowsRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		g := grumbler{to: &said}
		for i := range 30 {
			for _, file := range []string{"a.log", "b.log"} {
				g.about(&os.LinkError{Op: "rename", Old: file, New: fmt.Sprint(file, i), Err: os.ErrPermission})
			}
			time.Sleep(time.Second)
		}
		if n := bytes.Count(said.Bytes(), []byte{'\n'}); n != 2 {
			t.Errorf("said %d things in half a minute, want one of each file:\n%s", n, &said)
		}
	})
}

func TestLacks(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]sink.Stats{
		"": {Emitted: 7, Written: 7},
		"weir: the log to a.log lacks 3 of 10 events (full info: 2, write_error warn: 1)": {
			Emitted: 10, Written: 7,
			Dropped: []sink.Loss{{Level: log.LevelInfo, Reason: sink.Full, Events: 2}, {Level: log.LevelWarn, Reason: sink.WriteError, Events: 1}},
		},
	} {
		if got := lacks(front.LogDestination{To: "a.log", Stats: s}); got != want {
			t.Errorf("lacks = %q, want %q", got, want)
		}
	}
}
