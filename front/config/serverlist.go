package config

import (
	"slices"

	"github.com/weirhq/weir/internal/yamlfile"
)

// serverKeys are the keys of a list of servers.
var serverKeys = []key{
	{Path: "upstreams.*.servers.*", Read: readServer, Called: "a server"},
	{Path: "upstreams.*.servers.*.url", Required: "write its URL, as in {url: http://127.0.0.1:8080, weight: 2}",
		Read: readServerURL},
	{Path: "upstreams.*.servers.*.weight", Ambiguous: true,
		Read: yamlfile.One(parseServerWeight, func(f filling) *int { return &f.server.Weight })},
	{Path: "upstreams.*.servers.*.backup",
		Read: yamlfile.One(yamlfile.Switch, func(f filling) *bool { return &f.server.Backup })},
}

// readServerEntries reads a list of servers.
func readServerEntries(r *fileReader, p place, n *yamlfile.Node) {
	readEntries(r, p, n, readServer)
	all := p.To.upstream.Servers
	if len(all) > 0 && !slices.ContainsFunc(all, func(s Server) bool { return !s.Backup }) {
		r.Mistakef(p.Key.Pos, "remove backup from one of them", "all servers of the upstream are backups")
	}
}

// readServer reads a server: its URL, or a mapping.
func readServer(r *fileReader, p place, n *yamlfile.Node) {
	s := new(Server)
	p.To.server = s
	if n.Kind == yamlfile.Mapping {
		r.Fields(p, n)
	} else {
		readServerURL(r, p, n)
	}
	if s.URL != "" {
		p.To.upstream.Servers = append(p.To.upstream.Servers, *s)
	}
}

// readServerURL reads the URL of a server. The servers before have other URLs with the same path.
func readServerURL(r *fileReader, p place, n *yamlfile.Node) {
	url, ok := yamlfile.ReadOne(r, p, n, parseServer)
	if !ok {
		return
	}
	all := p.To.upstream.Servers
	if i := slices.IndexFunc(all, func(s Server) bool { return s.URL == url }); i >= 0 {
		r.Mistakef(n.Pos, "keep one of the two", "the upstream has the server %s twice", yamlfile.Quote(url))
		return
	}
	if len(all) > 0 && basePath(all[0].URL) != basePath(url) {
		r.Mistakef(n.Pos, "define another upstream for other paths",
			"the servers of an upstream have the same path: %s differs from %s", yamlfile.Quote(url),
			yamlfile.Quote(all[0].URL))
	}
	p.To.server.URL = url
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
