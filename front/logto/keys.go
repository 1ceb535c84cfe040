package logto

import (
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/serverurl"
	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Keys returns the keys of a [Config] at a path: the mapping, to and format, then the others. at returns where it is
// kept, with its defaults.
func Keys[T any](path string, at func(T) *Config) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			r.Fields(p, n)
			check{r.File, path, r.Positions, at(p.To)}.all()
		}},
		{Path: path + ".to", Doc: "the destinations of the log",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				readTo(r, p, n, at(p.To))
			}},
		{Path: path + ".format", Doc: "the format of the log",
			Read: yamlfile.One(yamlfile.Word(formats), func(t T) *string { return &at(t).Format })},
		{Path: path + ".queue", Read: (*yamlfile.Reader[T]).Fields},
		{Path: path + ".queue.size", Doc: "the size of the queue of each destination",
			Read: yamlfile.One(parseQueueSize, func(t T) *int { return &at(t).Queue.Size })},
		{Path: path + ".queue.when_full", Doc: "what happens to events when the queue is full",
			Read: yamlfile.One(yamlfile.Word(policies), func(t T) *string { return &at(t).Queue.WhenFull })},
		{Path: path + ".queue.wait", Doc: "how long a request waits for the queue",
			Off:  func(t T) { at(t).Queue.Wait = 0 },
			Read: yamlfile.One(scalar.Timeout, func(t T) *time.Duration { return &at(t).Queue.Wait })},
		{Path: path + ".queue.linger", Doc: "how long an event may wait for others",
			Off:  func(t T) { at(t).Queue.Linger = 0 },
			Read: yamlfile.One(scalar.Timeout, func(t T) *time.Duration { return &at(t).Queue.Linger })},
		{Path: path + ".spill", NotEmpty: true, Read: readFilled[T]("add folder", "log.spill has no folder")},
		{Path: path + ".spill.folder", Doc: "a folder for events that wait for a server",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				namedfile.ReadFolder(r, p, n, "the spill", &at(p.To).Spill.Folder)
			}},
		{Path: path + ".spill.size", Doc: "the maximum size of these events", Ambiguous: true,
			Read: yamlfile.One(parseSpillSize, func(t T) *int64 { return &at(t).Spill.Size })},
		{Path: path + ".spill.age", Doc: "the age at which they are dropped",
			Off:  func(t T) { at(t).Spill.Age = 0 },
			Read: yamlfile.One(scalar.Timeout, func(t T) *time.Duration { return &at(t).Spill.Age })},
		{Path: path + ".rotate", NotEmpty: true, Read: readFilled[T]("add size or daily", "nothing is rotated")},
		{Path: path + ".rotate.size", Doc: "the size at which a file is rotated",
			Read: yamlfile.One(parseRotateSize, func(t T) *int64 { return &at(t).Rotate.Size })},
		{Path: path + ".rotate.daily", Doc: "rotate at midnight",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &at(t).Rotate.Daily })},
		{Path: path + ".rotate.keep", Doc: "the number of rotated files to keep",
			Off:  func(t T) { at(t).Rotate.Keep = 0 },
			Read: yamlfile.One(scalar.Some, func(t T) *int { return &at(t).Rotate.Keep })},
		{Path: path + ".rotate.gzip", Doc: "compress rotated files",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &at(t).Rotate.Gzip })},
		{Path: path + ".fsync", Doc: "how often files are synced to the disk",
			Off:  func(t T) { at(t).Fsync = 0 },
			Read: yamlfile.One(yamlfile.NotZero(parseFsync), func(t T) *time.Duration { return &at(t).Fsync })},
		{Path: path + ".heartbeat", Doc: "the interval of the event log totals",
			Off:  func(t T) { at(t).Heartbeat = 0 },
			Read: yamlfile.One(scalar.Timeout, func(t T) *time.Duration { return &at(t).Heartbeat })},
	}
}

// readFilled returns a function that reads a mapping, and reports one without keys.
func readFilled[T any](hint, what string) yamlfile.ReadFunc[T] {
	return func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
		if r.Fields(p, n); n.Kind == yamlfile.Mapping && len(n.Pairs) == 0 {
			r.Mistakef(n.Pos, hint, "%s", what)
		}
	}
}

var (
	formats  = []string{"json", "json-v1", "ltsv", "human", "auto"}
	policies = []string{"shed", "drop", "block"}
)

// A target is a destination that formats without secrets.
type target string

func (t target) String() string { return serverurl.Name(string(t)) }

// readTo reads the destinations. They replace the default unless all of them have mistakes.
func readTo[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, c *Config) {
	var all []target
	for _, to := range c.To {
		all = append(all, target(to))
	}
	parse := func(s yamlfile.Scalar) (target, *yamlfile.Refusal) { return parseTo(r.Name(), s) }
	yamlfile.Some(parse, func(T) *[]target { return &all })(r, p, n)
	if all != nil {
		c.To = nil
		for _, to := range all {
			c.To = append(c.To, string(to))
		}
	}
}

// parseTo reads a destination in a file. It refuses a bare word that is similar to stdout or
// stderr as a misspelling, because a file of that name is unlikely.
func parseTo(file string, s yamlfile.Scalar) (target, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "path or URL", Words: []string{ToStdout, ToStderr}})
	if isServer(s.Text) {
		server, refused := ParseServer(file, s.Text)
		return target(server), refused
	}
	to, refused := yamlfile.Text(s)
	if refused != nil || !isFile(to) {
		return target(to), refused
	}
	if scheme, _, _ := strings.Cut(to, ":"); scheme != to && serverurl.Example(scheme) != "" {
		return "", yamlfile.Refuse("write "+serverurl.Example(scheme), "the URL has no // after %s:", scheme)
	}
	if near := nearest.Word(to, []string{ToStdout, ToStderr}); near != "" && filepath.Base(to) == to {
		return "", yamlfile.Refuse(yamlfile.DidYouMean(near)+" A file is written as "+yamlfile.Quote("./"+to),
			"%s is neither stdout nor stderr", yamlfile.Quote(to))
	}
	return target(namedfile.Resolve(file, to)), nil
}

// ParseServer reads the URL of a server in a file, and resolves the names of files in it.
func ParseServer(file, text string) (string, *yamlfile.Refusal) {
	to, refused := serverurl.Parse(file, text)
	if refused != nil {
		return "", refused
	}
	return to, checkPath(to)
}

// checkPath checks the path of the URL of a server.
func checkPath(to string) *yamlfile.Refusal {
	scheme, path := serverurl.Scheme(to), serverurl.Path(to)
	write := "write " + serverurl.Example(scheme)
	if scheme == "nats" || scheme == "tls" {
		switch subject := strings.TrimPrefix(path, "/"); {
		case subject == "":
			return yamlfile.Refuse(write, "%s has no subject", yamlfile.Quote(serverurl.Name(to)))
		case !isSubject(subject):
			return yamlfile.Refuse(write, "%s is not the subject of a message", yamlfile.Quote(subject))
		}
		return nil
	}
	if _, err := url.Parse("x://host" + path); err != nil {
		return yamlfile.Refuse(write, "%s is not a path", yamlfile.Quote(path))
	}
	return nil
}

// isSubject reports whether s is a subject of NATS without wildcards.
func isSubject(s string) bool {
	for token := range strings.SplitSeq(s, ".") {
		if token == "" || token == "*" || token == ">" || strings.ContainsAny(token, " \t\r\n") {
			return false
		}
	}
	return true
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

// parseFsync reads each, or a duration.
func parseFsync(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Words: []string{"each"}})
	if s.Text == "each" {
		return FsyncEach, nil
	}
	d, refused := yamlfile.Duration(s)
	if refused != nil && !yamlfile.IsNumber(s.Text) {
		return 0, yamlfile.Refuse("it is each, off, or how often, as in 5s", "%s is not known here", yamlfile.Quote(s.Text))
	}
	return d, refused
}

// leastSpill is the least size of a spill, in bytes.
const leastSpill = 1 << 20

func parseSpillSize(s yamlfile.Scalar) (int64, *yamlfile.Refusal) {
	size, refused := yamlfile.Size(s)
	if refused == nil && size < leastSpill {
		return 0, yamlfile.Refuse("write 1MiB or more", "%s holds too few events", yamlfile.Quote(s.Text))
	}
	return size, refused
}
