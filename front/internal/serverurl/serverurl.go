// Package serverurl reads the URLs of servers outside of the path of requests: servers that get the log, and NATS
// servers that have lists of servers. Its messages do not contain the user, the password and the query, which may be
// secrets.
package serverurl

import (
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A kind is what the URLs of a scheme may have.
type kind struct {
	example    string
	nats       bool     // the URL may name several hosts, separated by commas, and a path is required
	parameters []string // of the query
}

var kinds = map[string]kind{
	"otlp+http": {example: "otlp+http://collector:4318", parameters: []string{"compression", "headers", "timeout"}},
	"otlp+https": {example: "otlp+https://collector:4318",
		parameters: []string{"ca", "cert", "compression", "headers", "key", "timeout"}},
	"nats": {example: "nats://server:4222/subject", nats: true, parameters: natsParameters},
	"tls":  {example: "tls://server:4222/subject", nats: true, parameters: natsParameters},
}

var schemes = slices.Sorted(maps.Keys(kinds))

// natsParameters are those of package log/natssink.
var natsParameters = []string{"creds", "nkey", "ca", "cert", "key"}

// Scheme returns the scheme of a text that is a URL, or "" for any other text.
func Scheme(text string) string {
	scheme, _, found := strings.Cut(text, "://")
	if !found {
		return ""
	}
	return scheme
}

// Name returns a URL without its user, password and query, for metrics, events and messages. Another text is its own
// name.
func Name(text string) string {
	if Scheme(text) == "" {
		return text
	}
	scheme, authority, path, _ := split(text)
	return scheme + "://" + authority[strings.LastIndexByte(authority, '@')+1:] + path
}

// Path returns the path of a URL.
func Path(of string) string {
	_, _, path, _ := split(of)
	return path
}

// Example returns a URL with a scheme, or "" if no server has that scheme.
func Example(scheme string) string { return kinds[scheme].example }

// split splits a URL. Package net/url parses no lists of hosts.
func split(of string) (scheme, authority, path, query string) {
	scheme, rest, _ := strings.Cut(of, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ = strings.Cut(rest, "?")
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		return scheme, rest[:slash], rest[slash:], query
	}
	return scheme, rest, "", query
}

// Parse checks the URL of a server in a file, apart from its path, and returns it with resolved names of files.
func Parse(file, text string) (string, *yamlfile.Refusal) {
	query, refused := checkURL(file, text)
	if before, _, found := strings.Cut(text, "?"); found {
		text = before + "?" + query
	}
	return text, refused
}

// checkURL returns the query of a URL, in which names of files are resolved.
func checkURL(file, text string) (query string, refused *yamlfile.Refusal) {
	scheme, authority, path, query := split(text)
	known, ok := kinds[scheme]
	if !ok {
		return "", refuseScheme(scheme)
	}
	if yamlfile.Printable(text) != text {
		return "", yamlfile.Refuse("remove it", "the URL contains a control character")
	}
	write := "write " + known.example
	user, hosts := "", authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, hosts = authority[:at], authority[at+1:]
	}
	_, err := url.Parse("x://" + user + "@host")
	if misplaced := strings.Contains(path+query, "@"); misplaced || err != nil || strings.Contains(text, "#") {
		return "", yamlfile.Refuse("write @ as %40, # as %23, / as %2F and ? as %3F in a user, a password and a query",
			"the user or the password is not valid in a URL")
	}
	list := strings.Split(hosts, ",")
	if len(list) > 1 && !known.nats {
		return "", yamlfile.Refuse(write, "%s names more than one host", yamlfile.Quote(Name(text)))
	}
	for _, host := range list {
		if !isHost(host) {
			return "", yamlfile.Refuse(write, "%s is not a host", yamlfile.Quote(host))
		}
	}
	return checkParameters(file, scheme, known.parameters, query)
}

// refuseScheme refuses a URL with a scheme that is not known.
func refuseScheme(scheme string) *yamlfile.Refusal {
	hint := "it is one of " + strings.Join(schemes, "://, ") + "://"
	near := nearest.Word(scheme, schemes)
	if i := slices.IndexFunc(schemes, func(known string) bool {
		return strings.HasPrefix(known, scheme+"+") || strings.HasSuffix(known, "+"+scheme)
	}); i >= 0 {
		near = schemes[i]
	}
	if near != "" {
		hint = yamlfile.DidYouMean(near + "://")
	}
	return yamlfile.Refuse(hint, "%s is not a scheme of a destination", yamlfile.Quote(scheme+"://"))
}

// isHost reports whether s is a host with an optional port.
func isHost(s string) bool {
	if host, port, err := net.SplitHostPort(s); err == nil {
		return scalar.IsHost(host) && scalar.IsPort(port) && port != "0"
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
		if read := values[name]; read != nil {
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

// values check the values of parameters. The others name files.
var values = map[string]func(yamlfile.Scalar) *yamlfile.Refusal{
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
