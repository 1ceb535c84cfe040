package upstreams

import (
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A Draft is an upstream that is being read.
type Draft struct {
	Upstream
	list   listDraft
	tls    tlsDraft
	sticky stickyDraft
}

// New returns a draft of an upstream with the defaults of all keys.
func New(name string) *Draft {
	return &Draft{Upstream: Upstream{
		Name: name, MaxResponseFields: proxying.DefaultMaxFields, ConnectWait: time.Second, Outliers: OutliersUnset(),
	}}
}

// Outside returns the file of the servers, with its mistakes, or nil if they are elsewhere.
func (d *Draft) Outside() *yamlfile.File { return d.list.outside }

// Keys returns the keys of an upstream at a path: the mapping, and the keys below. at returns where it is kept, and
// file reads a file that a key names.
func Keys[T any](path string, at func(T) *Draft, file func(T) certs.Reader) []yamlfile.Key[T] {
	return slices.Concat([]yamlfile.Key[T]{
		{Path: path, Called: "upstream %s", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			r.Fields(p, n)
			at(p.To).finish(r.File, p.Key, n)
		}},
	}, listKeys(path+".servers", func(t T) *listDraft { return &at(t).list }), []yamlfile.Key[T]{
		{Path: path + ".max_response_fields", Doc: "the maximum number of fields of a response",
			Read: yamlfile.One(scalar.Some, func(t T) *int { return &at(t).MaxResponseFields })},
		{Path: path + ".send_proxy_protocol", Off: func(t T) { at(t).SendProxyProtocol = 0 }, Doc: "send headers of the PROXY protocol",
			Read: yamlfile.One(parseProxyVersion, func(t T) *int { return &at(t).SendProxyProtocol })},
		{Path: path + ".connect_wait", Doc: "how long a request waits for a server that accepts a connection",
			Off:  func(t T) { at(t).ConnectWait = 0 },
			Read: yamlfile.One(scalar.Timeout, func(t T) *time.Duration { return &at(t).ConnectWait })},
	}, balanceKeys(path, func(t T) *Upstream { return &at(t).Upstream }),
		healthKeys(path+".health", func(t T) **Health { return &at(t).Health }),
		outlierKeys(path+".outliers", func(t T) **Outliers { return &at(t).Outliers }),
		stickyKeys(path+".sticky", func(t T) *stickyDraft { return &at(t).sticky }, file),
		[]yamlfile.Key[T]{
			{Path: path + ".protocol", Doc: "HTTP/1 or HTTP/2",
				Read: yamlfile.One(parseProtocol, func(t T) *bool { return &at(t).HTTP2 })},
		}, tlsKeys(path+".tls", func(t T) *tlsDraft { return &at(t).tls }, file),
		retryKeys(path+".retry", func(t T) *Retry { return &at(t).Retry }),
	)
}

// finish adds what was read in parts, and reports keys of the upstream n that do not fit together.
func (d *Draft) finish(f *yamlfile.File, key yamlfile.Scalar, n *yamlfile.Node) {
	d.Servers, d.List = d.list.servers, d.list.place
	if d.sticky.at != (yamlfile.Pos{}) {
		d.Sticky = &d.sticky.Sticky
	}
	if d.tls.at != (yamlfile.Pos{}) {
		d.TLS = &d.tls.TLS
		d.checkTLS(f)
	}
	if d.HTTP2 && d.SendProxyProtocol != 0 {
		f.Mistakef(key.Pos, "keep one of them: clients share connections of HTTP/2",
			"the upstream %s has both %q and %q", yamlfile.Quote(d.Name), "protocol: http2", "send_proxy_protocol")
	}
	d.checkBalance(f, n)
}

// checkTLS reports keys of TLS that concern no server.
func (d *Draft) checkTLS(f *yamlfile.File) {
	isHTTPS := func(s Server) bool { return strings.HasPrefix(s.URL, httpsPrefix) }
	// A list may get such servers later.
	if d.List == (List{}) && len(d.Servers) > 0 && !slices.ContainsFunc(d.Servers, isHTTPS) {
		f.Mistakef(d.tls.at, "write https:// in the URLs of the servers, or remove it",
			"the upstream %s has no https server that %q could concern", yamlfile.Quote(d.Name), "tls")
	}
}

// parseProxyVersion reads the version of the header of the PROXY protocol.
func parseProxyVersion(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Words: []string{"v1", "v2"}})
	switch s.Text {
	case "v1":
		return 1, nil
	case "v2":
		return 2, nil
	}
	return 0, yamlfile.Refuse("write v1 or v2", "%s is not a version of the PROXY protocol", yamlfile.Quote(s.Text))
}
