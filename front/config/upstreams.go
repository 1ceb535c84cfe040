package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/yamlfile"
)

// upstreamKeys returns the keys of upstreams.
func upstreamKeys() []key {
	keys := upstreams.Keys("upstreams.*", func(f filling) *upstreams.Draft { return f.upstream },
		func(f filling) certs.Reader { return f.readNamed })
	read := keys[0].Read
	keys[0].Read = func(r *fileReader, p place, n *yamlfile.Node) {
		if !nameUpstream(r, p) {
			return
		}
		u := upstreams.New(p.Key.Text)
		p.To.upstream = u
		read(r, p, n)
		if f := u.Outside(); f != nil {
			p.To.lists = append(p.To.lists, f)
		}
		p.To.config.Upstreams = append(p.To.config.Upstreams, u.Upstream)
	}
	return append([]key{{Path: "upstreams", Read: readUpstreams}}, keys...)
}

// readUpstreams reads the mapping upstreams, which routes without an upstream do not need.
func readUpstreams(r *fileReader, p place, n *yamlfile.Node) {
	p.To.badUpstreams = n.Kind != yamlfile.Mapping
	r.Names(p, n)
}

// nameUpstream adds the name of an upstream, and reports whether it is a new one.
func nameUpstream(r *fileReader, p place) bool {
	f, name := p.To, p.Key.Text
	if !scalar.IsName(name) {
		r.Mistakef(p.Key.Pos, "a name has letters, digits, '.', '_' and '-'", "%s cannot name an upstream",
			yamlfile.Quote(name))
	}
	if f.upstreams == nil {
		f.upstreams = map[string]yamlfile.Pos{}
	}
	if !defineName(r, p) {
		return false
	}
	f.upstreams[name] = p.Key.Pos
	return true
}

func (r *reader) rightUpstream(name string) string {
	names := slices.Sorted(maps.Keys(r.upstreams))
	if strings.ContainsAny(name, ":/") { // the address of a server
		if !strings.Contains(name, "://") {
			name = "http://" + name
		}
		return "write to: site, and upstreams: {site: {servers: " + name + "}}"
	}
	if len(names) == 0 {
		return "name it, as in: upstreams: {" + name + `: {servers: ["http://127.0.0.1:8080"]}}`
	}
	if near := nearest.Word(name, names); near != "" {
		return yamlfile.DidYouMean(near)
	}
	return "the upstreams are " + strings.Join(names, ", ")
}
