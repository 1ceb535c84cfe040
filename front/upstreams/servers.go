package upstreams

import (
	"slices"

	"github.com/weirhq/weir/internal/yamlfile"
)

// Server is a server of an upstream.
type Server struct {
	// URL is http://host:port or https://host:port, always with a port, or unix: and the absolute
	// path of a socket. A path, as in http://host:port/app or unix:/run/app.sock:/app, is put
	// before the paths of requests.
	URL string

	// Weight is the share of the server, relative to the weights of the others. Zero means 1,
	// the default.
	Weight int

	// Backup keeps the server for the time when no other one of the upstream can be used.
	Backup bool
}

// serverKeys returns the keys below a list of servers at a path. The last one is that being read.
func serverKeys[T any](path string, at func(T) *[]Server) []yamlfile.Key[T] {
	last := func(t T) *Server {
		if all := *at(t); len(all) > 0 {
			return &all[len(all)-1]
		}
		return new(Server) // for the description of a key: no server is being read
	}
	return []yamlfile.Key[T]{
		{Path: path + ".*", Called: "a server", Short: "url",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) { readServer(r, p, n, at(p.To)) }},
		{Path: path + ".*.url", Doc: "the URL of a server",
			Required: "write its URL, as in {url: http://127.0.0.1:8080, weight: 2}",
			Read:     func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) { readURL(r, p, n, *at(p.To)) }},
		{Path: path + ".*.weight", Doc: "the share of a server", Ambiguous: true, Zero: 1,
			Read: yamlfile.One(parseServerWeight, func(t T) *int { return &last(t).Weight })},
		{Path: path + ".*.backup", Doc: "use the server only while no other one can be used",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &last(t).Backup })},
	}
}

// readServers reads a list of servers.
func readServers[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, all *[]Server) {
	r.Entries(p, n)
	if len(*all) > 0 && !slices.ContainsFunc(*all, func(s Server) bool { return !s.Backup }) {
		r.Mistakef(p.Key.Pos, "remove backup from one of them", "all servers of the upstream are backups")
	}
}

// readServer adds a server, unless its URL has a mistake.
func readServer[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, all *[]Server) {
	before := *all
	*all = append(before, Server{})
	r.Fields(p, n)
	if (*all)[len(before)].URL == "" {
		*all = before
	}
}

// readURL reads the URL of the last server. Those before have other URLs with the same path.
func readURL[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, all []Server) {
	url, ok := yamlfile.ReadOne(r, p, n, parseServer)
	if !ok {
		return
	}
	before, s := all[:len(all)-1], &all[len(all)-1]
	if slices.ContainsFunc(before, func(s Server) bool { return s.URL == url }) {
		r.Mistakef(n.Pos, "keep one of the two", "the upstream has the server %s twice", yamlfile.Quote(url))
		return
	}
	if len(before) > 0 && basePath(before[0].URL) != basePath(url) {
		r.Mistakef(n.Pos, "define another upstream for other paths",
			"the servers of an upstream have the same path: %s differs from %s", yamlfile.Quote(url),
			yamlfile.Quote(before[0].URL))
	}
	s.URL = url
}

// maxServerWeight is the greatest weight of a server.
const maxServerWeight = 1000

func parseServerWeight(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	n, refused := yamlfile.Count(s)
	if refused == nil && (n == 0 || n > maxServerWeight) {
		return 0, yamlfile.Refuse("write 1 to 1000, and remove a server that gets no requests",
			"%s is not the weight of a server", yamlfile.Quote(s.Text))
	}
	return n, refused
}
