package front

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/yamlfile"
)

// LogConfig says which events are written, how, and where to.
type LogConfig struct {
	// To holds the log's destinations, at least one and each once:
	// LogToStdout (the default), LogToStderr, or the path of a file to append
	// to. Every event goes to each of them, and each has a queue of its own.
	To []string

	Format string // json (the default), json-v1, ltsv, human or auto: a name that log.ParseFormat takes
	Level  string // the least severe level that is written: fatal, error, warn, info (the default) or debug
	Events string // EventsAll (the default) or EventsCompleted

	// RequestHeaders and ResponseHeaders name header fields, in lower case, that
	// are added to the completed event. ParseConfig refuses the names of fields
	// that hold secrets.
	RequestHeaders, ResponseHeaders []string

	// Redact lists keys whose values are secret, such as parameters of
	// queries; see log.Options.
	Redact []string

	Queue  LogQueueConfig
	Rotate LogRotateConfig

	// Fsync is how often a file is told to be on the disk, and not with the
	// operating system alone: at most so often, FsyncEach for after each
	// write, or 0, the default, for never.
	Fsync time.Duration

	// Heartbeat is how often the log says its totals, in an event of its own.
	// Zero is never; default 10s.
	Heartbeat time.Duration
}

// LogQueueConfig is about the events that wait to be written, for each
// destination.
type LogQueueConfig struct {
	Size     int           // bytes that they take at most; default 8 MiB
	WhenFull string        // shed (the default), drop or block: what sink.ParsePolicy takes
	Wait     time.Duration // how long block waits at most before it drops; 0, the default, is for ever
	Linger   time.Duration // how long the first of a batch waits for others; default 0
}

// LogRotateConfig is about the log's files. They are rotated when Size is not
// zero or Daily is set.
type LogRotateConfig struct {
	Size  int64 // bytes beyond which a file is not to grow; 0, the default, sets no bound
	Daily bool  // at midnight, local time
	Keep  int   // how many rotated files are kept; 0, the default, keeps all
	Gzip  bool  // rotated files are compressed
}

// FsyncEach is the value of [LogConfig.Fsync] for after each write.
const FsyncEach time.Duration = -1

// Values of [LogConfig.Events].
const (
	EventsAll       = "all"       // received, proxying and completed: three events for each request
	EventsCompleted = "completed" // the completed event alone, which carries what the other two say
)

// EventsNone is a value of [RouteConfig.Events]: only the completed event of a
// request that went wrong, of severity WARN or worse.
const EventsNone = "none"

// Values of [LogConfig.To] that are no paths.
const (
	LogToStdout = "stdout"
	LogToStderr = "stderr"
)

// defaultLog is what a file may leave out: all.
func defaultLog() LogConfig {
	return LogConfig{
		To:        []string{LogToStdout},
		Format:    "json",
		Level:     "info",
		Events:    EventsAll,
		Queue:     LogQueueConfig{Size: 8 << 20, WhenFull: "shed"},
		Heartbeat: 10 * time.Second,
	}
}

// The words that a key of the log may be set to.
var (
	logFormats  = []string{"json", "json-v1", "ltsv", "human", "auto"}
	logLevels   = []string{"fatal", "error", "warn", "info", "debug"}
	logEvents   = []string{EventsAll, EventsCompleted}
	routeEvents = []string{EventsAll, EventsCompleted, EventsNone}
	logWhenFull = []string{"shed", "drop", "block"}
)

// parseSecret reads a key whose values are not to be logged.
func parseSecret(s yamlfile.Scalar) (string, *yamlfile.Refusal) { return yamlfile.Text(s) }

// parseLogTo reads where the log goes. A bare word next to stdout is taken for
// a misspelling, since a file of that name would surprise.
func parseLogTo(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	to, refused := yamlfile.Text(s)
	if refused != nil || !isLogFile(to) {
		return to, refused
	}
	if near := nearest.Word(to, []string{LogToStdout, LogToStderr}); near != "" && filepath.Base(to) == to {
		return "", yamlfile.Refuse(yamlfile.DidYouMean(near)+" A file is written as "+yamlfile.Quote("./"+to), "%s is neither stdout nor stderr", yamlfile.Quote(to))
	}
	return to, nil
}

// isLogFile tells whether a destination is a path.
func isLogFile(to string) bool { return to != LogToStdout && to != LogToStderr }

// leastQueue is the room that one event of the greatest length takes.
const leastQueue = 16 << 10

// parseQueueSize reads how many bytes of events may wait.
func parseQueueSize(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	size, refused := yamlfile.Size(s)
	switch {
	case refused != nil:
		return 0, refused
	case size < leastQueue:
		return 0, yamlfile.Refuse("write 16KiB or more", "%s is less than one event may need", yamlfile.Quote(s.Text))
	case size > math.MaxInt:
		return 0, yamlfile.Refuse("write less", "%s is more than this machine can address", yamlfile.Quote(s.Text))
	}
	return int(size), nil
}

// parseRotateSize reads the length of a file.
func parseRotateSize(s yamlfile.Scalar) (int64, *yamlfile.Refusal) {
	size, refused := yamlfile.Size(s)
	if refused == nil && size < leastQueue {
		return 0, yamlfile.Refuse("write 16KiB or more, as in 100MiB", "%s is less than one event may need", yamlfile.Quote(s.Text))
	}
	return size, refused
}

// parseFsync reads a word or a duration.
func parseFsync(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	switch s.Text {
	case "never":
		return 0, nil
	case "each":
		return FsyncEach, nil
	}
	d, refused := yamlfile.Duration(s)
	switch {
	case refused != nil && !yamlfile.IsNumber(s.Text):
		return 0, yamlfile.Refuse("it is never, each, or how often, as in 5s", "%s is not known here", yamlfile.Quote(s.Text))
	case refused == nil && d == 0:
		return 0, yamlfile.Refuse("write never, each, or how often, as in 5s", "%s is no time between two", yamlfile.Quote(s.Text))
	}
	return d, refused
}

// checkLog checks what the keys of the log say about each other.
func (r *reader) checkLog(c *Config) {
	r.checkLogFiles(c.Log.To)
	if r.has("log.queue.wait") && c.Log.Queue.WhenFull != "block" {
		r.Mistakef(r.Stood["log.queue.wait"][0], "write when_full: block beside it, or remove it", `only "block" waits when the queue is full`)
	}
	for _, path := range []string{"log.rotate.keep", "log.rotate.gzip"} {
		if r.has(path) && !r.has("log.rotate.size") && !c.Log.Rotate.Daily {
			r.Mistakef(r.Stood[path][0], "say when, with size or daily beside it", "nothing is rotated")
		}
	}
}

// checkLogFiles checks that a file is meant once, however it is written, and
// that there is one for the keys that are about files.
func (r *reader) checkLogFiles(to []string) {
	files := map[string]bool{}
	for i, dest := range to {
		if !isLogFile(dest) {
			continue
		}
		if name := filepath.Clean(dest); files[name] {
			r.Mistakef(r.Stood["log.to"][i], "keep one of the two", "%s is given twice", yamlfile.Quote(name))
		} else {
			files[name] = true
			r.checkLogFolder(r.Stood["log.to"][i], name)
		}
	}
	if len(files) > 0 || len(to) == 0 {
		return
	}
	for _, path := range []string{"log.rotate.size", "log.rotate.daily", "log.rotate.keep", "log.rotate.gzip", "log.fsync"} {
		if r.has(path) {
			r.Mistakef(r.Stood[path][0], "name a file in log.to, or remove it", "the log has no file that this could be about")
			return
		}
	}
}

// checkLogFolder reports a file of the log that could not be created. A folder
// that this user may not look into is left to the user that runs the door.
func (r *reader) checkLogFolder(at yamlfile.Pos, file string) {
	folder := filepath.Dir(file)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrPermission):
	case err != nil:
		r.Mistakef(at, "create it, or name another one", "the log's folder %s: %s", yamlfile.Quote(folder), syscallError(err))
	case !info.IsDir():
		r.Mistakef(at, "name another one", "the log's folder %s is a file", yamlfile.Quote(folder))
	default:
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			r.Mistakef(at, "add the name of a file", "%s is a folder", yamlfile.Quote(file))
		}
	}
}

// syscallError returns the cause of an error of package os, without the path.
func syscallError(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
