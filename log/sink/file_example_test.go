package sink_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// A log with a new file each day and after 100 MiB, of which ten are kept.
func ExampleOpenFile() {
	folder, err := os.MkdirTemp("", "weir")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)

	file, err := sink.OpenFile(filepath.Join(folder, "weir.log"), sink.FileOptions{
		MaxBytes: 100 << 20, Daily: true, Keep: 10, Gzip: true, Fsync: 5 * time.Second,
		OnError: func(err error) { fmt.Fprintln(os.Stderr, "log file:", err) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	out := sink.NewQueue(file, sink.QueueOptions{})
	logger := log.New(out, log.Options{Namespace: "front-door"})
	logger.Info("ready").Send()

	// Close the queue first: it writes the waiting lines.
	fmt.Println(errors.Join(out.Close(context.Background()), file.Close()))
	fmt.Println(out.Stats().Written, "written")
	// Output:
	// <nil>
	// 1 written
}

// Lines go to another writer when the reader of stdout has ended.
func ExampleNewFallback() {
	gone := writerFunc(func([]byte) (int, error) { return 0, syscall.EPIPE })
	out := sink.NewFallback(gone, os.Stdout)
	out.Write([]byte("a line\n"))
	fmt.Println(out.Diverted(), "diverted")
	// Output:
	// a line
	// 1 diverted
}

// Each event goes to a file and to stdout. A failure of one does not affect the
// other.
func ExampleNewTee() {
	gone := writerFunc(func([]byte) (int, error) { return 0, syscall.EPIPE })
	first, second := sink.NewQueue(gone, sink.QueueOptions{}), sink.NewQueue(os.Stdout, sink.QueueOptions{})
	out := sink.NewTee(first, second)
	out.WriteEvent(log.LevelWarn, []byte("a line\n"))
	first.Close(context.Background())
	second.Close(context.Background())
	fmt.Println(first.Stats().Lost(), "lost,", second.Stats().Written, "written")
	// Output:
	// a line
	// 1 lost, 1 written
}
