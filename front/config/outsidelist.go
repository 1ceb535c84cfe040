package config

import (
	"regexp"
	"slices"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/serverurl"
	"github.com/weirhq/weir/internal/yamlfile"
)

// outsideListKeys are the keys of servers if their list is outside of the configuration.
var outsideListKeys = []key{
	{Path: "upstreams.*.servers.file", Read: readServersFile},
	{Path: "upstreams.*.servers.nats", Read: readServersURL},
}

// readServers reads the servers of an upstream, or the place of their list.
func readServers(r *fileReader, p place, n *yamlfile.Node) {
	if isOutsideList(n) {
		r.Fields(p, n)
		if l := p.To.upstream.List; l.File != "" && l.NATS != "" {
			r.Mistakef(p.Key.Pos, "keep one of them", "the servers are in a file and in NATS")
		}
		return
	}
	readServerEntries(r, p, n)
}

// isOutsideList reports whether the value of servers is the place of a list, and not a server.
func isOutsideList(n *yamlfile.Node) bool {
	return slices.ContainsFunc(n.Pairs, func(p yamlfile.Pair) bool { return p.Key.Text == "file" || p.Key.Text == "nats" })
}

// readServersFile reads the name of a file with a list of servers, and the list. The file is
// none of the Sources: its changes need no reload.
func readServersFile(r *fileReader, p place, n *yamlfile.Node) {
	path, ok := yamlfile.ReadOne(r, p, n, scalar.Written)
	if !ok {
		return
	}
	u := p.To.upstream
	u.List.File = namedfile.Resolve(r.Name(), path.Text)
	src, err := namedfile.Read(u.List.File)
	if err != nil {
		r.Mistakef(path.Pos, namedfile.Hint(err), "the servers %s: %s", yamlfile.Quote(u.List.File), namedfile.Cause(err))
		return
	}
	f, servers := parseServers(u.List.File, src)
	p.To.lists = append(p.To.lists, f)
	u.Servers = servers
}

// natsKey matches the path of a URL: a bucket and a key of NATS.
var natsKey = regexp.MustCompile(`^/[\w-]+/[-\w=]+([./][-\w=]+)*$`)

// readServersURL reads the URL of a key of NATS.
func readServersURL(r *fileReader, p place, n *yamlfile.Node) {
	parse := func(s yamlfile.Scalar) (string, *yamlfile.Refusal) { return parseServersURL(r.Name(), s) }
	yamlfile.One(parse, func(f filling) *string { return &f.upstream.List.NATS })(r, p, n)
}

// parseServersURL reads the URL of a key of NATS in a file. Its messages do not contain the user, the password
// and the query.
func parseServersURL(file string, s yamlfile.Scalar) (string, *yamlfile.Refusal) {
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
// not replaced. The name is used in messages. The error is of type [Mistakes].
func ParseServers(name string, src []byte) ([]Server, error) {
	f, servers := parseServers(name, src)
	if found := f.Mistakes(); len(found) > 0 {
		return nil, asMistakes(found)
	}
	return servers, nil
}

func parseServers(name string, src []byte) (*yamlfile.File, []Server) {
	f, root := yamlfile.Read(name, "a list of servers", src)
	r := &fileReader{File: f, Schema: serverKeys, Positions: map[string][]yamlfile.Pos{}}
	start := yamlfile.Pos{Line: 1, Col: 1}
	u := new(Upstream)
	p := place{Path: serversPath, Key: yamlfile.Scalar{Text: "servers", Pos: start}, To: filling{upstream: u}}
	switch {
	case root == nil && f.Err() == nil:
		r.Mistakef(start, "list at least one server, as in: - http://127.0.0.1:8080", "the list is empty")
	case root == nil:
	case root.Kind != yamlfile.List && root.Kind != yamlfile.Bad:
		r.Mistakef(root.Pos, "begin each server with a dash, as in: - http://127.0.0.1:8080", "this is not a list of servers")
	default:
		readServerEntries(r, p, root)
	}
	return f, u.Servers
}

// serversPath is the path of the servers of an upstream in the schema.
const serversPath = "upstreams.*.servers"
