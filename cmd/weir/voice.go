package main

import (
	"context"
	"os"
	"time"

	"github.com/weirhq/weir/log/sink"
)

// A voice says on stderr what a door has to say, and never waits for who reads
// it: behind 2>&1 that is the log's reader, and when it stands still the door
// must hear signals all the same. What finds no room is not said.
type voice struct{ *sink.Queue }

const unsaid = 64 << 10 // what a voice keeps for a slow reader, in bytes

func newVoice(stderr *os.File) voice {
	return voice{sink.NewQueue(sink.Std(stderr), sink.QueueOptions{Bytes: unsaid, WhenFull: sink.Drop})}
}

// end waits for a second at most until all is said.
func (v voice) end() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	v.Close(ctx)
}
