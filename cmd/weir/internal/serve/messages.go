package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/weirhq/weir/log/sink"
)

// messages writes to stderr without ever blocking. With 2>&1 the reader of the
// log also reads stderr; if it stalls, the door must still react to signals.
// Messages that do not fit into the queue are dropped.
type messages struct{ *sink.Queue }

const messageBytes = 64 << 10 // size of the queue for a slow reader

func newMessages(stderr *os.File) messages {
	return messages{sink.NewQueue(sink.Std(stderr), sink.QueueOptions{Bytes: messageBytes, WhenFull: sink.Drop})}
}

// flush waits until all messages are written, up to limit.
func (m messages) flush(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	m.Close(ctx)
}

// An errorReporter prints the errors of the log's files, each at most once a
// minute.
type errorReporter struct {
	mu       sync.Mutex
	stderr   io.Writer            // guarded by mu
	reported map[string]time.Time // guarded by mu: the errors of the last minute
}

const reportInterval = time.Minute

// report prints err, unless the same error was printed in the last minute.
func (r *errorReporter) report(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, key := time.Now(), errorKey(err)
	maps.DeleteFunc(r.reported, func(_ string, at time.Time) bool { return now.Sub(at) >= reportInterval })
	if _, ok := r.reported[key]; ok {
		return
	}
	if r.reported == nil {
		r.reported = make(map[string]time.Time)
	}
	r.reported[key] = now
	fmt.Fprintf(r.stderr, "weir: the log: %v\n", err)
}

// errorKey returns the text by which two errors are the same. It omits the new
// name of a file that cannot be renamed: rotation tries another name each time.
func errorKey(err error) string {
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Op + " " + link.Old + ": " + link.Err.Error()
	}
	return err.Error()
}
