package logto

import (
	"slices"
	"time"

	"github.com/weirhq/weir/front/internal/serverurl"
)

// Config configures the destinations of the events.
type Config struct {
	// To holds the destinations: ToStdout (the default), ToStderr, the path of a file to append
	// to, or the URL of a server, which may contain a password. There is at least one, and none
	// occurs twice. Every event goes to all of them. Each has its own queue.
	To []string

	// Format is json (the default), json-v1, ltsv, human or auto, as in
	// log.ParseFormat. Servers require json or auto.
	Format string

	Queue  Queue
	Spill  Spill
	Rotate Rotate

	// Fsync is the minimum interval between calls of fsync for a file. FsyncEach
	// means a call after each write; 0, the default, means none.
	Fsync time.Duration

	// Heartbeat is the interval at which the log writes an event with its totals.
	// Zero means never; default 10s.
	Heartbeat time.Duration
}

// Queue configures the queue of each destination.
type Queue struct {
	Size     int           // maximum size in bytes; default 8 MiB
	WhenFull string        // shed (the default), drop or block, as in sink.ParsePolicy
	Wait     time.Duration // how long block waits before it drops; 0, the default, means forever
	Linger   time.Duration // how long the first event of a batch waits for others; default 5ms, twenty times for servers
}

// Spill configures the disk on which events for servers wait. It is off if Folder is empty.
type Spill struct {
	Folder string
	Size   int64         // maximum size of the files for each server, in bytes; default 1 GiB
	Age    time.Duration // older events are dropped; 0 means no limit; default 7 days
}

// Rotate configures the rotation of files. It is off if Size is zero and Daily is false.
type Rotate struct {
	Size  int64 // maximum size of a file in bytes; 0, the default, sets no limit
	Daily bool  // rotate at midnight, local time
	Keep  int   // number of rotated files to keep; 0, the default, keeps all
	Gzip  bool  // compress rotated files
}

// FsyncEach is the value of [Config.Fsync] for a call after each write.
const FsyncEach time.Duration = -1

// Values of [Config.To] that are neither paths nor URLs.
const (
	ToStdout = "stdout"
	ToStderr = "stderr"
)

// Default returns the defaults of all keys.
func Default() Config {
	return Config{
		To:        []string{ToStdout},
		Format:    "json",
		Queue:     Queue{Size: 8 << 20, WhenFull: "shed", Linger: 5 * time.Millisecond},
		Spill:     Spill{Size: 1 << 30, Age: 7 * 24 * time.Hour},
		Heartbeat: 10 * time.Second,
	}
}

// Servers returns the number of destinations that are servers.
func (c *Config) Servers() int {
	n := 0
	for _, to := range c.To {
		if isServer(to) {
			n++
		}
	}
	return n
}

// File returns the first destination that is a file, or "".
func (c *Config) File() string {
	if i := slices.IndexFunc(c.To, isFile); i >= 0 {
		return c.To[i]
	}
	return ""
}

func isServer(to string) bool { return serverurl.Scheme(to) != "" }

// isFile reports whether a destination is a path.
func isFile(to string) bool { return to != ToStdout && to != ToStderr && !isServer(to) }

// isServerFormat reports whether servers can parse a format.
func isServerFormat(format string) bool { return format == "json" || format == "auto" }
