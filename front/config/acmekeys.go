package config

import (
	"crypto/x509"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// acmeKeys are the keys of [ACME].
var acmeKeys = []key{
	{Path: "tls.acme", Read: readACME},
	{Path: "tls.acme.domains", Required: "list the names of the certificates, as in: domains: [example.com]",
		Read: yamlfile.Some(parseDomain, func(f filling) *[]string { return &f.config.TLS.ACME.Domains })},
	{Path: "tls.acme.email", Read: one(parseEmail, func(c *Config) *string { return &c.TLS.ACME.Email })},
	{Path: "tls.acme.ca", Read: one(parseDirectory, func(c *Config) *string { return &c.TLS.ACME.Directory })},
	{Path: "tls.acme.ca_roots", Read: readDirectoryRoots},
	{Path: "tls.acme.challenges",
		Read: yamlfile.Some(yamlfile.Word(challenges), func(f filling) *[]string { return &f.challenges })},
	{Path: "tls.acme.dns", Read: (*fileReader).Fields},
	{Path: "tls.acme.dns.hook", Read: readHook,
		Required: "name the command that sets the records, as in: hook: ./dns-hook"},
	{Path: "tls.acme.dns.timeout", Ambiguous: true,
		Read: one(scalar.Timeout, func(c *Config) *time.Duration { return &c.TLS.ACME.Hook.Timeout })},
	{Path: "tls.acme.storage", Read: readStorage},
}

// The values of challenges.
const (
	challengeHTTP = "http-01"
	challengeALPN = "tls-alpn-01"
	challengeDNS  = "dns-01"
)

var challenges = []string{challengeHTTP, challengeALPN, challengeDNS}

func readACME(r *fileReader, p place, n *yamlfile.Node) {
	p.To.config.TLS.ACME = &ACME{
		Directory: LetsEncrypt, Storage: namedfile.Resolve(r.Name(), "acme"), Hook: ACMEHook{Timeout: 2 * time.Minute},
	}
	r.Fields(p, n)
}

// parseDomain reads the name of a certificate.
func parseDomain(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	name, refused := parseCertificateHost(s)
	if _, err := netip.ParseAddr(name); refused == nil && err == nil {
		return "", yamlfile.Refuse("write a name, as in example.com", "%s is an address", yamlfile.Quote(s.Text))
	}
	return name, refused
}

func parseEmail(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	if a, err := mail.ParseAddress(s.Text); err != nil || a.Address != s.Text {
		return "", yamlfile.Refuse("write one, as in ops@example.com", "%s is not an address of email",
			yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// parseDirectory reads the URL of the directory of an ACME server.
func parseDirectory(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	u, err := url.Parse(s.Text)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return "", yamlfile.Refuse("write the https:// URL of its directory, as in "+LetsEncrypt,
			"this is not the URL of an ACME server")
	}
	return s.Text, nil
}

// readDirectoryRoots reads the certificates that verify the ACME server.
func readDirectoryRoots(r *fileReader, p place, n *yamlfile.Node) {
	p.To.config.TLS.ACME.Roots = readIssuers(r, p, n)
}

// readHook reads a command: its path, or a list with its arguments. A path with a slash is
// relative to the folder of the file, as others are.
func readHook(r *fileReader, p place, n *yamlfile.Node) {
	if r.RefuseEmpty(p, n) {
		return
	}
	r.Positions[p.Path] = []yamlfile.Pos{n.Pos}
	var command []string
	for i, element := range r.Elements(p, n) {
		word, ok := yamlfile.ReadOne(r, p, element, scalar.Written)
		if !ok {
			return
		}
		if i > 0 {
			command = append(command, word.Text)
			continue
		}
		name := word.Text
		if strings.ContainsRune(name, filepath.Separator) {
			name = namedfile.Resolve(r.Name(), name)
			if !filepath.IsAbs(name) {
				name = "." + string(filepath.Separator) + name // or it would be searched for in PATH
			}
		}
		if _, err := exec.LookPath(name); err != nil {
			r.Mistakef(word.Pos, "name an executable file; "+namedfile.RelativeHint, "the hook %s: %s", yamlfile.Quote(word.Text),
				lookupError(err))
			return
		}
		command = append(command, name)
	}
	p.To.config.TLS.ACME.Hook.Command = command
}

// lookupError returns the cause of an error of exec.LookPath.
func lookupError(err error) error {
	if failed, ok := err.(*exec.Error); ok {
		return namedfile.Cause(failed.Err)
	}
	return err
}

// readStorage reads the path of the folder, which the front door makes if only its last part
// is missing.
func readStorage(r *fileReader, p place, n *yamlfile.Node) {
	path, ok := yamlfile.ReadOne(r, p, n, scalar.Written)
	if !ok {
		return
	}
	folder := namedfile.Resolve(r.Name(), path.Text)
	info, err := os.Stat(folder)
	switch {
	case err == nil && !info.IsDir():
		r.Mistakef(path.Pos, "name a folder", "the storage %s is a file", yamlfile.Quote(folder))
	case err != nil:
		if _, err := os.Stat(filepath.Dir(folder)); err != nil {
			r.Mistakef(path.Pos, "create the folder that contains it; "+namedfile.RelativeHint, "the storage %s: %s",
				yamlfile.Quote(folder), namedfile.Cause(err))
		}
	}
	p.To.config.TLS.ACME.Storage = folder
}

// checkACME determines the challenges, and reports those that cannot be used.
func (r *reader) checkACME(c *Config) {
	a := c.TLS.ACME
	a.HTTP, a.ALPN = c.Listen != nil, true
	if given := r.challenges; given != nil {
		has := func(name string) bool { return slices.Contains(given, name) }
		a.HTTP, a.ALPN, a.DNS = has(challengeHTTP), has(challengeALPN), has(challengeDNS)
	}
	at := func(path string, i int) yamlfile.Pos { return r.Positions[path][i] }
	if i := slices.Index(r.challenges, challengeHTTP); i >= 0 && c.Listen == nil {
		r.Mistakef(at("tls.acme.challenges", i), `add one, as in: listen: ":80"`, "http-01 needs a listener for plain http")
	}
	wildcard := slices.IndexFunc(a.Domains, func(name string) bool { return strings.HasPrefix(name, "*.") })
	const hook = "add one, as in: dns: {hook: ./dns-hook}"
	switch i := slices.Index(r.challenges, challengeDNS); {
	case r.has("tls.acme.dns.hook"):
		if wildcard < 0 && i < 0 {
			r.Mistakef(at("tls.acme.dns.hook", 0), "add a wildcard to domains, or challenges: [dns-01], or remove dns",
				"the hook is not used")
		}
	case i >= 0:
		r.Mistakef(at("tls.acme.challenges", i), hook, "dns-01 needs a hook")
	case wildcard >= 0:
		r.Mistakef(at("tls.acme.domains", wildcard), hook, "the wildcard %s needs a hook for dns-01",
			yamlfile.Quote(a.Domains[wildcard]))
	}
}

// readIssuers reads a file of certificates of issuers. If it has reported a mistake, it
// returns nil.
func readIssuers(r *fileReader, p place, n *yamlfile.Node) []*x509.Certificate {
	path, ok := yamlfile.ReadOne(r, p, n, scalar.Written)
	if !ok {
		return nil
	}
	roots := certs.Reader(p.To.readNamed).Chain(r.File, path, "the roots")
	if i := slices.IndexFunc(roots, func(c *x509.Certificate) bool { return !c.IsCA }); i >= 0 {
		r.Mistakef(path.Pos, "name the certificates of issuers, not those that they have issued",
			"the roots %s: certificate %d (%s) cannot issue others", yamlfile.Quote(namedfile.Resolve(r.Name(), path.Text)), i+1,
			yamlfile.Quote(roots[i].Subject.String()))
		return nil
	}
	return roots
}
