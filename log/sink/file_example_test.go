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

// A log that has a file a day and one for each 100 MiB, of which ten stay.
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

	// The queue first, which writes what waits.
	fmt.Println(errors.Join(out.Close(context.Background()), file.Close()))
	fmt.Println(out.Stats().Written, "written")
	// Output:
	// <nil>
	// 1 written
}

// The lines that stdout does not take, because its reader has gone, go to
// another place.
func ExampleNewFallback() {
	gone := writerFunc(func([]byte) (int, error) { return 0, syscall.EPIPE })
	out := sink.NewFallback(gone, os.Stdout)
	out.Write([]byte("a line\n"))
	fmt.Println(out.Diverted(), "diverted")
	// Output:
	// a line
	// 1 diverted
}

// Each event goes to a file and to stdout, whatever becomes of it in the other.
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
