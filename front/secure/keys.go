package secure

import (
	"crypto/tls"
	"slices"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A Draft is a Config that is being read.
type Draft struct {
	*Config                   // nil until it is read
	at           yamlfile.Pos // of its key
	path         string       // of its key
	certificates certificatesDraft
	acme         acmeDraft
}

// Keys returns the keys of a [Config] at a path. at returns where it is kept, file reads a file that a key names, and
// address the address of a listener. The caller sets the Config of the draft before the mapping is read.
func Keys[T any](
	path string, at func(T) *Draft, file func(T) certs.Reader, address func(yamlfile.Scalar) (string, *yamlfile.Refusal),
) []yamlfile.Key[T] {
	return slices.Concat([]yamlfile.Key[T]{
		{Path: path, NotEmpty: true, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			d := at(p.To)
			d.at, d.path, d.certificates.given = p.Key.Pos, p.Path, n.Kind != yamlfile.Mapping
			r.Fields(p, n)
			d.Certificates = d.certificates.all
			if d.acme.given {
				d.ACME = &d.acme.ACME
			}
		}},
		{Path: path + ".listen", Doc: "addresses for https", Ambiguous: true,
			Read: yamlfile.Some(address, func(t T) *[]string { return &at(t).Listen })},
		{Path: path + ".http3", Doc: "serve HTTP/3 too",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &at(t).HTTP3 })},
		{Path: path + ".min_version", Doc: "the oldest version of TLS",
			Read: yamlfile.One(parseVersion, func(t T) *uint16 { return &at(t).MinVersion })},
	}, certificateKeys(path+".certificates", func(t T) *certificatesDraft { return &at(t).certificates }), []yamlfile.Key[T]{
		{Path: path + ".subject_header", Doc: "the request field with the subject of the client's certificate",
			Read: yamlfile.One(scalar.SentHeader, func(t T) *string { return &at(t).SubjectHeader })},
	}, clientKeys(path+".client_certificates", func(t T) *[]ClientCertificates { return &at(t).ClientCertificates }, file),
		acmeKeys(path+".acme", func(t T) *acmeDraft { return &at(t).acme }, file))
}

// parseVersion reads a version of TLS.
func parseVersion(s yamlfile.Scalar) (uint16, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Words: []string{"1.2", "1.3"}})
	switch s.Text {
	case "1.2":
		return tls.VersionTLS12, nil
	case "1.3":
		return tls.VersionTLS13, nil
	}
	return 0, yamlfile.Refuse("it is 1.2 or 1.3; older versions are not safe", "%s is not a version of TLS that weir has",
		yamlfile.Quote(s.Text))
}

// Check reports keys that miss others when the file was read. plain says whether there is a listener for plain http.
func (d *Draft) Check(f *yamlfile.File, positions map[string][]yamlfile.Pos, plain bool) {
	switch {
	case d.acme.given:
		d.acme.check(f, func(key string) []yamlfile.Pos { return positions[d.path+".acme."+key] }, plain)
	case !d.certificates.given:
		f.Mistakef(d.at, "name the files, as in: certificates: [{cert: site.pem, key: site.key}], or obtain them, "+
			"as in: acme: {domains: [example.com]}", `"tls" has no certificate`)
	}
	if d.SubjectHeader != "" && len(d.ClientCertificates) == 0 {
		f.Mistakef(positions[d.path+".subject_header"][0], "add client_certificates, or remove it",
			"subject_header has no effect without client_certificates")
	}
}
