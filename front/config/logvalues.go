package config

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/log"
)

// The allowed words of the log's keys.
var (
	logFormats  = []string{"json", "json-v1", "ltsv", "human", "auto"}
	logLevels   = []string{"fatal", "error", "warn", "info", "debug"}
	logEvents   = []string{EventsAll, EventsCompleted}
	routeEvents = []string{EventsAll, EventsCompleted, EventsNone}
	logWhenFull = []string{"shed", "drop", "block"}
)

// parseSecret reads a key whose values must not be logged.
func parseSecret(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	key, refused := yamlfile.Text(s)
	if refused != nil {
		return "", refused
	}
	if err := log.CheckRedactKey(key); err != nil {
		return "", yamlfile.Refuse("list names of query parameters, such as token", "%s", err)
	}
	return key, nil
}

// readLogTo reads the destinations of the log.
func readLogTo(r *fileReader, p place, n *yamlfile.Node) {
	parse := func(s yamlfile.Scalar) (logTarget, *yamlfile.Refusal) { return parseLogTo(r.Name(), s) }
	yamlfile.Some(parse, func(f filling) *[]logTarget { return &f.logTo })(r, p, n)
}

// parseLogTo reads a destination of the log in a file. It refuses a bare word that is similar
// to stdout or stderr as a misspelling, because a file of that name is unlikely.
func parseLogTo(file string, s yamlfile.Scalar) (logTarget, *yamlfile.Refusal) {
	if LogScheme(s.Text) != "" {
		return parseLogServer(file, s.Text)
	}
	to, refused := yamlfile.Text(s)
	if refused != nil || !isLogFile(to) {
		return logTarget(to), refused
	}
	if scheme, _, _ := strings.Cut(to, ":"); scheme != to && slices.Contains(logSchemes, scheme) {
		return "", yamlfile.Refuse("write "+streamSchemes[scheme].example, "the URL has no // after %s:", scheme)
	}
	if near := nearest.Word(to, []string{LogToStdout, LogToStderr}); near != "" && filepath.Base(to) == to {
		return "", yamlfile.Refuse(yamlfile.DidYouMean(near)+" A file is written as "+yamlfile.Quote("./"+to),
			"%s is neither stdout nor stderr", yamlfile.Quote(to))
	}
	return logTarget(namedfile.Resolve(file, to)), nil
}

// isLogFile reports whether a destination is a path.
func isLogFile(to string) bool {
	return to != LogToStdout && to != LogToStderr && LogScheme(to) == ""
}

// leastQueue is the size of the longest event in a queue, in bytes.
const leastQueue = 16 << 10

// parseQueueSize reads the size of a queue.
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

// parseRotateSize reads the maximum size of a file.
func parseRotateSize(s yamlfile.Scalar) (int64, *yamlfile.Refusal) {
	size, refused := yamlfile.Size(s)
	if refused == nil && size < leastQueue {
		return 0, yamlfile.Refuse("write 16KiB or more, as in 100MiB", "%s is less than one event may need",
			yamlfile.Quote(s.Text))
	}
	return size, refused
}

// parseFsync reads never, each or a duration.
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
		return 0, yamlfile.Refuse("write never, each, or how often, as in 5s", "%s is not an interval",
			yamlfile.Quote(s.Text))
	}
	return d, refused
}

// checkLog checks that the keys of the log are consistent.
func (r *reader) checkLog(c *Config) {
	if r.logTo != nil {
		c.Log.To = nil
		for _, to := range r.logTo {
			c.Log.To = append(c.Log.To, string(to))
		}
	}
	r.checkLogFiles(c.Log.To)
	r.checkLogStreams(c)
	if r.has("log.queue.wait") && c.Log.Queue.WhenFull != "block" {
		r.Mistakef(r.Positions["log.queue.wait"][0], "add when_full: block, or remove it",
			`only "block" waits when the queue is full`)
	}
	for _, path := range []string{"log.rotate.keep", "log.rotate.gzip"} {
		if r.has(path) && !r.has("log.rotate.size") && !c.Log.Rotate.Daily {
			r.Mistakef(r.Positions[path][0], "add size or daily", "nothing is rotated")
		}
	}
}

// checkLogFiles checks that no file occurs twice, in whatever notation, and that
// the log has a file if keys for files are set.
func (r *reader) checkLogFiles(to []string) {
	files := map[string]bool{}
	for i, dest := range to {
		if !isLogFile(dest) {
			continue
		}
		if name := filepath.Clean(dest); files[name] {
			r.Mistakef(r.Positions["log.to"][i], "keep one of the two", "%s is given twice", yamlfile.Quote(name))
		} else {
			files[name] = true
			r.checkLogFolder(r.Positions["log.to"][i], name)
		}
	}
	if len(files) > 0 || len(to) == 0 {
		return
	}
	for _, path := range []string{"log.rotate.size", "log.rotate.daily", "log.rotate.keep", "log.rotate.gzip",
		"log.fsync"} {
		if r.has(path) {
			r.Mistakef(r.Positions[path][0], "name a file in log.to, or remove it", "the log has no file")
			return
		}
	}
}

// checkLogFolder reports a file of the log that cannot be created. It does not
// report a folder that this user cannot access, because the front door may run as
// another user.
func (r *reader) checkLogFolder(at yamlfile.Pos, file string) {
	folder := filepath.Dir(file)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrPermission):
	case err != nil:
		r.Mistakef(at, "create it, or name another one", "the log's folder %s: %s", yamlfile.Quote(folder), namedfile.Cause(err))
	case !info.IsDir():
		r.Mistakef(at, "name another one", "the log's folder %s is a file", yamlfile.Quote(folder))
	default:
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			r.Mistakef(at, "add the name of a file", "%s is a folder", yamlfile.Quote(file))
		}
	}
}

// parseLogHeader reads the name of a header field and returns it in lower case.
func parseLogHeader(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	name := strings.ToLower(s.Text)
	switch {
	case !httpsyntax.IsToken([]byte(name)):
		return "", yamlfile.Refuse("write a name, as in accept-language", "%s is not the name of a header",
			yamlfile.Quote(s.Text))
	case IsSecretHeader(name):
		return "", yamlfile.Refuse("remove it", "%s contains a secret, which is never logged", yamlfile.Quote(s.Text))
	case name == "host":
		return "", yamlfile.Refuse("remove it", "every event has the Host as http.host")
	}
	return name, nil
}
