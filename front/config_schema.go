package front

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/weirhq/weir/internal/nearest"
)

// key is one key of the configuration file and how it is read.
type key struct {
	// path is the way to the key from the root, joined with dots; "*" stands
	// for any name of a mapping whose names are free, and for any element.
	path string

	// read takes the key's value. It is nil exactly when later is not empty.
	read readFunc

	// later is what to do about a key that Weir knows but has not built: such
	// a key is refused, since one that is ignored looks as if it worked.
	later string

	// required is what to do when the key is absent; empty where it may be.
	required string
}

// readFunc reads the value n of the key at p into the configuration. What is
// wrong with it is noted in r, and reading goes on.
type readFunc func(r *reader, p place, n ast.Node)

// schema is the file's only list of keys: what is read, what is refused, and
// what an unknown key is compared with all come from here.
var schema = append([]key{
	{path: "namespace", read: one(parseNamespace, func(p place) *string { return &p.config.Namespace })},
	{path: "listen", read: some(parseListen, func(p place) *[]string { return &p.config.Listen })},
	{path: "admin", read: one(parseAdmin, func(p place) *string { return &p.config.Admin })},
	{path: "drain", read: one(parseDuration, func(p place) *time.Duration { return &p.config.Drain })},
	{path: "trusted_proxies", read: many(parseNetwork, func(p place) *[]netip.Prefix { return &p.config.TrustedProxies })},

	{path: "log", read: (*reader).fields},
	{path: "log.to", read: some(parseLogTo, func(p place) *[]string { return &p.config.Log.To })},
	{path: "log.format", read: one(word(logFormats), func(p place) *string { return &p.config.Log.Format })},
	{path: "log.level", read: one(word(logLevels), func(p place) *string { return &p.config.Log.Level })},
	{path: "log.events", read: one(word(logEvents), func(p place) *string { return &p.config.Log.Events })},
	{path: "log.redact", read: many(parseSecret, func(p place) *[]string { return &p.config.Log.Redact })},
	{path: "log.queue", read: (*reader).fields},
	{path: "log.queue.size", read: one(parseQueueSize, func(p place) *int { return &p.config.Log.Queue.Size })},
	{path: "log.queue.when_full", read: one(word(logWhenFull), func(p place) *string { return &p.config.Log.Queue.WhenFull })},
	{path: "log.queue.wait", read: one(parseDuration, func(p place) *time.Duration { return &p.config.Log.Queue.Wait })},
	{path: "log.queue.linger", read: one(parseDuration, func(p place) *time.Duration { return &p.config.Log.Queue.Linger })},
	{path: "log.rotate", read: (*reader).fields},
	{path: "log.rotate.size", read: one(parseRotateSize, func(p place) *int64 { return &p.config.Log.Rotate.Size })},
	{path: "log.rotate.daily", read: one(parseSwitch, func(p place) *bool { return &p.config.Log.Rotate.Daily })},
	{path: "log.rotate.keep", read: one(parseCount, func(p place) *int { return &p.config.Log.Rotate.Keep })},
	{path: "log.rotate.gzip", read: one(parseSwitch, func(p place) *bool { return &p.config.Log.Rotate.Gzip })},
	{path: "log.fsync", read: one(parseFsync, func(p place) *time.Duration { return &p.config.Log.Fsync })},
	{path: "log.heartbeat", read: one(parseDuration, func(p place) *time.Duration { return &p.config.Log.Heartbeat })},

	{path: "constraints", read: (*reader).names},
	{path: "constraints.*", read: (*reader).constraint},

	{path: "upstreams", read: (*reader).names, required: `name at least one pool of servers, as in: upstreams: {site: {servers: ["http://127.0.0.1:8080"]}}`},
	{path: "upstreams.*", read: (*reader).upstream},
	{path: "upstreams.*.servers", read: some(parseServer, func(p place) *[]string { return &p.upstream.Servers }), required: `list at least one, as in: servers: ["http://127.0.0.1:8080"]`},
	{path: "upstreams.*.health", later: "remove it: servers are not probed"},

	{path: "routes", read: (*reader).routeList, required: `send something somewhere, as in: routes: [{match: "/{path...}", to: site}]`},
	{path: "routes.*", read: (*reader).route},
	{path: "routes.*.match", read: one(asWritten, func(p place) *scalar { return &p.route.match }), required: `say which requests it takes, as in: match: "/{path...}"`},
	{path: "routes.*.to", read: one(asWritten, func(p place) *scalar { return &p.route.to }), required: "name the upstream that answers"},
	{path: "routes.*.timeout", read: one(parseTimeout, func(p place) *time.Duration { return &p.route.Timeout })},
	{path: "routes.*.upgrade", read: many(parseUpgrade, func(p place) *[]string { return &p.route.Upgrade })},

	{path: "redirects", later: "remove it, and leave redirects to the upstreams"},
}, limitKeys()...)

// parent returns the path of the mapping that k stands in, and k's own name.
func (k key) parent() (path, name string) {
	if i := strings.LastIndexByte(k.path, '.'); i >= 0 {
		return k.path[:i], k.path[i+1:]
	}
	return "", k.path
}

// children returns the keys of the mapping at path.
func (r *reader) children(path string) []key {
	return slices.DeleteFunc(slices.Clone(r.schema), func(k key) bool {
		parent, name := k.parent()
		return parent != path || name == "*"
	})
}

// child returns the way to name below path.
func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// lookup returns the key at path.
func (r *reader) lookup(path string) (key, bool) {
	i := slices.IndexFunc(r.schema, func(k key) bool { return k.path == path })
	if i < 0 {
		return key{}, false
	}
	return r.schema[i], true
}

// unknownKey reports a key that the mapping at path does not have.
func (r *reader) unknownKey(path string, k scalar) {
	if later, ok := r.builtLater(k.text); ok {
		r.notSupported(k, later)
		return
	}
	r.mistakef(k.pos, r.rightKey(path, k.text), "unknown key %s here", quote(k.text))
}

// builtLater returns the hint for a name that is a key Weir has not built,
// wherever that key belongs.
func (r *reader) builtLater(name string) (hint string, ok bool) {
	for _, k := range r.schema {
		if _, own := k.parent(); own == name && k.later != "" {
			return k.later, true
		}
	}
	return "", false
}

// rightKey returns a hint for an unknown key: where the word belongs, or
// which word was meant, or which words there are.
func (r *reader) rightKey(path, name string) string {
	if strings.Contains(name, "${") {
		return "environment variables stand in values only"
	}
	var names []string
	for _, k := range r.children(path) {
		_, own := k.parent()
		if k.later == "" {
			names = append(names, own)
		}
	}
	if near := nearest.Word(name, names); near != "" {
		return didYouMean(near)
	}
	if where := r.belongs(name); where != "" {
		return where
	}
	return "the keys here are " + strings.Join(names, ", ")
}

// belongs says where in the file a name is a key, or "".
func (r *reader) belongs(name string) string {
	for _, k := range r.schema {
		parent, own := k.parent()
		switch {
		case own != name:
		case parent == "":
			return quote(name) + " belongs at the top of the file"
		default:
			return quote(name) + " belongs under " + quote(strings.ReplaceAll(parent, "*", "NAME"))
		}
	}
	return ""
}
