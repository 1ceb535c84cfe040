package upstreams

import (
	"errors"
	"regexp"
	"slices"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/serverurl"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A List is the place of a list of servers outside of the configuration. The list changes
// without a reload. The zero value is no such place, and one of the fields is set otherwise.
type List struct {
	// File is the path of a file.
	File string

	// NATS is the URL of a key in a bucket of NATS: nats://host:4222/BUCKET/KEY. It may contain a
	// password.
	NATS string
}

// String returns the place for messages, without a password.
func (l List) String() string {
	if l.NATS != "" {
		return serverurl.Name(l.NATS)
	}
	return l.File
}

// A listDraft has the servers of an upstream, and the place of their list.
type listDraft struct {
	servers []Server
	place   List

	// outside is the file of the servers, with its mistakes. Nil if they are elsewhere.
	outside *yamlfile.File
}

// listKeys returns the keys of servers at a path: a list of them, or the place of one.
func listKeys[T any](path string, at func(T) *listDraft) []yamlfile.Key[T] {
	servers := func(t T) *[]Server { return &at(t).servers }
	return slices.Concat([]yamlfile.Key[T]{
		{Path: path, Doc: "the servers",
			Required: `list at least one, as in: servers: ["http://127.0.0.1:8080"]`,
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				if !isOutsideList(n) {
					readServers(r, p, n, servers(p.To))
					return
				}
				r.Fields(p, n)
				if l := at(p.To).place; l.File != "" && l.NATS != "" {
					r.Mistakef(p.Key.Pos, "keep one of them", "the servers are in a file and in NATS")
				}
			}},
	}, serverKeys(path, servers), []yamlfile.Key[T]{
		{Path: path + ".file", Doc: "a file with a list of servers",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				readFile(r, p, n, at(p.To))
			}},
		{Path: path + ".nats", Doc: "a key in a bucket of NATS with a list of servers",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				parse := func(s yamlfile.Scalar) (string, *yamlfile.Refusal) { return parseListURL(r.Name(), s) }
				yamlfile.One(parse, func(t T) *string { return &at(t).place.NATS })(r, p, n)
			}},
	})
}

// isOutsideList reports whether the value of servers is the place of a list, and not a server.
func isOutsideList(n *yamlfile.Node) bool {
	return slices.ContainsFunc(n.Pairs, func(p yamlfile.Pair) bool { return p.Key.Text == "file" || p.Key.Text == "nats" })
}

// readFile reads the name of a file with a list of servers, and the list. The file is none of
// those that a reload reads again: its changes need no reload.
func readFile[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, d *listDraft) {
	path, ok := yamlfile.ReadOne(r, p, n, scalar.Path)
	if !ok {
		return
	}
	d.place.File = namedfile.Resolve(r.Name(), path.Text)
	src, err := namedfile.Read(d.place.File)
	if err != nil {
		r.Mistakef(path.Pos, namedfile.Hint(err), "the servers %s: %s", yamlfile.Quote(d.place.File), namedfile.Cause(err))
		return
	}
	d.outside, d.servers = parseServers(d.place.File, src)
}

// natsKey matches the path of a URL: a bucket and a key of NATS.
var natsKey = regexp.MustCompile(`^/[\w-]+/[-\w=]+([./][-\w=]+)*$`)

// parseListURL reads the URL of a key of NATS in a file. Its messages do not contain the user, the password
// and the query.
func parseListURL(file string, s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "nats URL", Pattern: "(nats|tls)://.+"})
	const example = "write nats://host:4222/BUCKET/KEY"
	if scheme := serverurl.Scheme(s.Text); scheme != "nats" && scheme != "tls" {
		return "", yamlfile.Refuse(example, "%s is not the URL of a key of NATS", yamlfile.Quote(serverurl.Name(s.Text)))
	}
	resolved, refused := serverurl.Parse(file, s.Text)
	if refused != nil {
		return "", refused
	}
	if !natsKey.MatchString(serverurl.Path(s.Text)) {
		return "", yamlfile.Refuse(example, "%s does not name a bucket and a key", yamlfile.Quote(serverurl.Name(s.Text)))
	}
	return resolved, nil
}

// ParseServers reads a list of servers, as it is in the configuration of an upstream. Variables are
// not replaced. The name is used in messages. The error joins all mistakes.
func ParseServers(name string, src []byte) ([]Server, error) {
	f, servers := parseServers(name, src)
	var found []error
	for _, m := range f.Mistakes() {
		found = append(found, m)
	}
	if found != nil {
		return nil, errors.Join(found...)
	}
	return servers, nil
}

func parseServers(name string, src []byte) (*yamlfile.File, []Server) {
	f, root := yamlfile.Read(name, "a list of servers", src)
	const path = "upstreams.*.servers"
	schema := serverKeys(path, func(all *[]Server) *[]Server { return all })
	r := &yamlfile.Reader[*[]Server]{File: f, Schema: schema, Positions: map[string][]yamlfile.Pos{}}
	start := yamlfile.Pos{Line: 1, Col: 1}
	p := yamlfile.Place[*[]Server]{Path: path, Key: yamlfile.Scalar{Text: "servers", Pos: start}, To: new([]Server)}
	switch {
	case root == nil && f.Err() == nil:
		r.Mistakef(start, "list at least one server, as in: - http://127.0.0.1:8080", "the list is empty")
	case root == nil:
	case root.Kind != yamlfile.List && root.Kind != yamlfile.Bad:
		r.Mistakef(root.Pos, "begin each server with a dash, as in: - http://127.0.0.1:8080", "this is not a list of servers")
	default:
		readServers(r, p, root, p.To)
	}
	return f, *p.To
}
