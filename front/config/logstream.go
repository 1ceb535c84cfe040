package config

import (
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A streamScheme is a scheme of URLs in log.to.
type streamScheme struct {
	example    string
	nats       bool     // the URL may name several hosts, separated by commas, and a path is required
	parameters []string // of the query
}

var streamSchemes = map[string]streamScheme{
	"otlp+http": {example: "otlp+http://collector:4318", parameters: []string{"compression", "headers", "timeout"}},
	"otlp+https": {example: "otlp+https://collector:4318",
		parameters: []string{"ca", "cert", "compression", "headers", "key", "timeout"}},
	"nats": {example: "nats://server:4222/subject", nats: true, parameters: natsParameters},
	"tls":  {example: "tls://server:4222/subject", nats: true, parameters: natsParameters},
}

// logSchemes are the schemes of URLs in log.to.
var logSchemes = slices.Sorted(maps.Keys(streamSchemes))

// natsParameters are those of package log/natssink.
var natsParameters = []string{"creds", "nkey", "ca", "cert", "key"}

// LogScheme returns the scheme of a destination of the log that is the URL of a server, or
// "" for any other destination.
func LogScheme(to string) string {
	scheme, _, found := strings.Cut(to, "://")
	if !found {
		return ""
	}
	return scheme
}

// LogName returns the name of a destination of the log for metrics, events and messages: a
// URL without its user, password and query.
func LogName(to string) string {
	if LogScheme(to) == "" {
		return to
	}
	scheme, authority, path, _ := splitStream(to)
	return scheme + "://" + authority[strings.LastIndexByte(authority, '@')+1:] + path
}

// splitStream splits a URL. Package net/url parses no lists of hosts.
func splitStream(to string) (scheme, authority, path, query string) {
	scheme, rest, _ := strings.Cut(to, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ = strings.Cut(rest, "?")
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		return scheme, rest[:slash], rest[slash:], query
	}
	return scheme, rest, "", query
}

// A logTarget is a destination of the log that formats without secrets.
type logTarget string

func (t logTarget) String() string { return LogName(string(t)) }

// parseLogServer reads the URL of a server that gets the log, in a file. Its messages do not contain the
// user, the password and the query, which may be secrets.
func parseLogServer(file, to string) (logTarget, *yamlfile.Refusal) {
	to, refused := parseLogURL(file, to)
	if refused != nil {
		return "", refused
	}
	return logTarget(to), checkLogPath(to)
}

// checkLogPath checks the path of a URL.
func checkLogPath(to string) *yamlfile.Refusal {
	scheme, _, path, _ := splitStream(to)
	write := "write " + streamSchemes[scheme].example
	if streamSchemes[scheme].nats {
		switch subject := strings.TrimPrefix(path, "/"); {
		case subject == "":
			return yamlfile.Refuse(write, "%s has no subject", yamlfile.Quote(LogName(to)))
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

// parseLogURL reads the URL of a server in a file, apart from its path. It resolves the files that the URL names. Its
// messages do not contain the user and the password.
func parseLogURL(file, to string) (string, *yamlfile.Refusal) {
	query, refused := checkLogURL(file, to)
	if before, _, found := strings.Cut(to, "?"); found {
		to = before + "?" + query
	}
	return to, refused
}

// checkLogURL returns the query of a URL, in which names of files are resolved.
func checkLogURL(file, to string) (query string, refused *yamlfile.Refusal) {
	scheme, authority, path, query := splitStream(to)
	known, ok := streamSchemes[scheme]
	if !ok {
		return "", refuseScheme(scheme)
	}
	if yamlfile.Printable(to) != to {
		return "", yamlfile.Refuse("remove it", "the URL contains a control character")
	}
	write := "write " + known.example
	user, hosts := "", authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, hosts = authority[:at], authority[at+1:]
	}
	_, err := url.Parse("x://" + user + "@host")
	if misplaced := strings.Contains(path+query, "@"); misplaced || err != nil || strings.Contains(to, "#") {
		return "", yamlfile.Refuse("write @ as %40, # as %23, / as %2F and ? as %3F in a user, a password and a query",
			"the user or the password is not valid in a URL")
	}
	list := strings.Split(hosts, ",")
	if len(list) > 1 && !known.nats {
		return "", yamlfile.Refuse(write, "%s names more than one host", yamlfile.Quote(LogName(to)))
	}
	for _, host := range list {
		if !isStreamHost(host) {
			return "", yamlfile.Refuse(write, "%s is not a host", yamlfile.Quote(host))
		}
	}
	return checkParameters(file, scheme, known.parameters, query)
}

// refuseScheme refuses a URL with a scheme that is not known.
func refuseScheme(scheme string) *yamlfile.Refusal {
	hint := "it is one of " + strings.Join(logSchemes, "://, ") + "://"
	near := nearest.Word(scheme, logSchemes)
	if i := slices.IndexFunc(logSchemes, func(known string) bool {
		return strings.HasPrefix(known, scheme+"+") || strings.HasSuffix(known, "+"+scheme)
	}); i >= 0 {
		near = logSchemes[i]
	}
	if near != "" {
		hint = yamlfile.DidYouMean(near + "://")
	}
	return yamlfile.Refuse(hint, "%s is not a scheme of a destination", yamlfile.Quote(scheme+"://"))
}

// isStreamHost reports whether s is a host with an optional port.
func isStreamHost(s string) bool {
	if host, port, err := net.SplitHostPort(s); err == nil {
		return scalar.IsHost(host) && isPort(port) && port != "0"
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		return ok && scalar.IsHost(inner)
	}
	return scalar.IsHost(s) && !strings.Contains(s, ":")
}

// checkParameters checks the query of a URL in a file, and returns it with resolved names of files.
func checkParameters(file, scheme string, known []string, query string) (resolved string, refused *yamlfile.Refusal) {
	resolved = query
	given, err := url.ParseQuery(query)
	if err != nil {
		return "", yamlfile.Refuse("write ?name=value&name=value", "the part after the ? is not a query")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch near := nearest.Word(name, known); {
		case slices.Contains(known, name):
		case near != "":
			return "", yamlfile.Refuse(yamlfile.DidYouMean(near), "%s has no parameter %s", scheme, yamlfile.Quote(name))
		case len(known) == 0:
			return "", yamlfile.Refuse("remove it", "%s has no parameter %s", scheme, yamlfile.Quote(name))
		default:
			return "", yamlfile.Refuse("it has "+strings.Join(known, ", "), "%s has no parameter %s", scheme,
				yamlfile.Quote(name))
		}
		if len(given[name]) > 1 {
			return "", yamlfile.Refuse("keep one of the values", "the parameter %s is given twice", yamlfile.Quote(name))
		}
		value := given.Get(name)
		if read := streamValues[name]; read != nil {
			refused = read(yamlfile.Scalar{Text: value})
		} else {
			path := namedfile.Resolve(file, value)
			if refused = checkFile(value, path); path != value {
				given.Set(name, path)
				resolved = given.Encode()
			}
		}
		if refused != nil {
			return "", yamlfile.Refuse(refused.Hint, "the parameter %s: %s", yamlfile.Quote(name), refused.What)
		}
	}
	if given.Has("cert") != given.Has("key") {
		return "", yamlfile.Refuse("name both, as in ?cert=weir.pem&key=weir.key",
			"the parameters cert and key belong together")
	}
	return resolved, nil
}

// streamValues check the values of parameters. The others name files.
var streamValues = map[string]func(yamlfile.Scalar) *yamlfile.Refusal{
	"compression": refusedBy(yamlfile.Word([]string{"gzip", "zstd", "none"})),
	"timeout":     refusedBy(scalar.Timeout),
}

// checkFile checks that a file exists, which is written as text. The clients read it.
func checkFile(text, file string) *yamlfile.Refusal {
	if _, err := os.Stat(file); err != nil {
		return yamlfile.Refuse(namedfile.Hint(err), "%s: %s", yamlfile.Quote(text), namedfile.Cause(err))
	}
	return nil
}

// refusedBy returns the refusals of a function that reads values.
func refusedBy[T any](read func(yamlfile.Scalar) (T, *yamlfile.Refusal)) func(yamlfile.Scalar) *yamlfile.Refusal {
	return func(s yamlfile.Scalar) *yamlfile.Refusal {
		_, refused := read(s)
		return refused
	}
}

// checkLogStreams checks that no server occurs twice, and that the format is JSON: servers
// parse the lines.
func (r *reader) checkLogStreams(c *Config) {
	first := map[string]int{}
	for i, to := range c.Log.To {
		if LogScheme(to) == "" {
			continue
		}
		at, name := r.Positions["log.to"][i], LogName(to)
		if before, again := first[name]; again {
			r.Mistakef(at, "keep one of the two", "%s is given twice, first on line %d", yamlfile.Quote(name), before)
		}
		first[name] = at.Line
	}
	r.checkSpill(c, len(first) > 0)
	if format := c.Log.Format; len(first) > 0 && !isStreamFormat(format) {
		r.Mistakef(r.Positions["log.format"][0], "write json, or remove the URL from log.to",
			"a server of log.to cannot parse the format %s", yamlfile.Quote(format))
	}
}

// isStreamFormat reports whether servers can parse a format of the log.
func isStreamFormat(format string) bool { return format == "json" || format == "auto" }

// checkSpill checks that the keys of log.spill have an effect.
func (r *reader) checkSpill(c *Config, servers bool) {
	for _, path := range []string{"log.spill.folder", "log.spill.size", "log.spill.age"} {
		switch {
		case !r.has(path):
		case !servers:
			r.Mistakef(r.Positions[path][0], "name a server in log.to, or remove it", "the log has no server")
			return
		case !r.has("log.spill.folder"):
			r.Mistakef(r.Positions[path][0], "add folder", "log.spill has no folder")
			return
		}
	}
}

// readSpillFolder reads the path of a folder, which the front door makes if only its last part
// is missing.
func readSpillFolder(r *fileReader, p place, n *yamlfile.Node) {
	path, ok := yamlfile.ReadOne(r, p, n, scalar.Written)
	if !ok {
		return
	}
	folder := namedfile.Resolve(r.Name(), path.Text)
	r.Positions[p.Path] = append(r.Positions[p.Path], path.Pos)
	p.To.config.Log.Spill.Folder = folder
	info, err := os.Stat(folder)
	switch {
	case err == nil && !info.IsDir():
		r.Mistakef(path.Pos, "name a folder", "the spill %s is a file", yamlfile.Quote(folder))
	case err != nil:
		if _, err := os.Stat(filepath.Dir(folder)); err != nil {
			r.Mistakef(path.Pos, "create the folder that contains it; "+namedfile.RelativeHint, "the spill %s: %s",
				yamlfile.Quote(folder), namedfile.Cause(err))
		}
	}
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
