package secure

import (
	"crypto/x509"
	"net/mail"
	"net/netip"
	"net/url"
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

// ACME obtains certificates from a certification authority (RFC 8555).
type ACME struct {
	// Domains are host names in lower case, or *.DOMAIN for a wildcard, which needs a Hook. Each
	// gets a certificate of its own. At least one.
	Domains []string

	// Directory is the https URL of the server's directory. Default LetsEncrypt. Roots, unless
	// empty, replace the roots of the system for connections to the server.
	Directory string
	Roots     []*x509.Certificate

	Email   string // for messages of the authority; may be empty
	Storage string // the path of the folder with the account, keys and certificates

	// HTTP and ALPN enable http-01, which needs a plain listener, and tls-alpn-01. They are for
	// names without a wildcard. With DNS, these use dns-01 too.
	HTTP, ALPN, DNS bool

	// Hook sets and removes the records of dns-01. The zero value disables it.
	Hook Hook
}

// LetsEncrypt is the default of [ACME.Directory].
const LetsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

// Hook is a command that sets and removes TXT records of the DNS. Its arguments are
// followed by "present" or "cleanup", the name of the record and its value.
type Hook struct {
	Command []string
	Timeout time.Duration // of one run. More than zero; default 2m
}

// An acmeDraft is an ACME that is being read.
type acmeDraft struct {
	ACME
	given      bool
	challenges []string // the value of challenges; nil if there is none
}

// acmeKeys returns the keys of [ACME] at a path.
func acmeKeys[T any](path string, at func(T) *acmeDraft, file func(T) certs.Reader) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			*at(p.To) = acmeDraft{given: true, ACME: ACME{
				Directory: LetsEncrypt, Storage: namedfile.Resolve(r.Name(), "acme"), Hook: Hook{Timeout: 2 * time.Minute},
			}}
			r.Fields(p, n)
		}},
		{Path: path + ".domains", Doc: "host names whose certificates weir obtains",
			Required: "list the names of the certificates, as in: domains: [example.com]",
			Read:     yamlfile.Some(parseDomain, func(t T) *[]string { return &at(t).Domains })},
		{Path: path + ".email", Doc: "an address for the certification authority",
			Read: yamlfile.One(parseEmail, func(t T) *string { return &at(t).Email })},
		{Path: path + ".ca", Doc: "the directory of the ACME server",
			Read: yamlfile.One(parseDirectory, func(t T) *string { return &at(t).Directory })},
		{Path: path + ".roots", Doc: "certificates that verify the ACME server",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				at(p.To).Roots = readIssuers(r, p, n, file(p.To))
			}},
		{Path: path + ".challenges", Doc: "proofs of the control of a name",
			Read: yamlfile.Some(yamlfile.Word(challenges), func(t T) *[]string { return &at(t).challenges })},
		{Path: path + ".dns", Read: (*yamlfile.Reader[T]).Fields},
		{Path: path + ".dns.hook", Doc: "a command that changes records of the DNS",
			Required: "name the command that sets the records, as in: hook: ./dns-hook",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				readHook(r, p, n, &at(p.To).ACME)
			}},
		{Path: path + ".dns.timeout", Doc: "how long that command may take", Ambiguous: true,
			Read: yamlfile.One(scalar.Timeout, func(t T) *time.Duration { return &at(t).Hook.Timeout })},
		{Path: path + ".storage", Doc: "the folder for the account and certificates",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				namedfile.ReadFolder(r, p, n, "the storage", &at(p.To).Storage)
			}},
	}
}

// The values of challenges.
const (
	challengeHTTP = "http-01"
	challengeALPN = "tls-alpn-01"
	challengeDNS  = "dns-01"
)

var challenges = []string{challengeHTTP, challengeALPN, challengeDNS}

// parseDomain reads the name of a certificate.
func parseDomain(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	name, refused := parseHost(s)
	if _, err := netip.ParseAddr(name); refused == nil && err == nil {
		return "", yamlfile.Refuse("write a name, as in example.com", "%s is an address", yamlfile.Quote(s.Text))
	}
	return name, refused
}

func parseEmail(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "address of email", Pattern: "[^ ]+@[^ ]+"})
	if a, err := mail.ParseAddress(s.Text); err != nil || a.Address != s.Text {
		return "", yamlfile.Refuse("write one, as in ops@example.com", "%s is not an address of email",
			yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// parseDirectory reads the URL of the directory of an ACME server.
func parseDirectory(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "https URL", Pattern: "https://.+"})
	u, err := url.Parse(s.Text)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return "", yamlfile.Refuse("write the https:// URL of its directory, as in "+LetsEncrypt,
			"this is not the URL of an ACME server")
	}
	return s.Text, nil
}

// parseWord reads a word of a command.
func parseWord(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "path or argument of a command"})
	return scalar.Written(s)
}

// readHook reads a command: its path, or a list with its arguments. A path with a slash is
// relative to the folder of the file, as others are.
func readHook[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, a *ACME) {
	if r.RefuseEmpty(p, n) {
		return
	}
	r.Positions[p.Path] = []yamlfile.Pos{n.Pos}
	var command []string
	for i, element := range r.Elements(p, n) {
		word, ok := yamlfile.ReadOne(r, p, element, parseWord)
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
	a.Hook.Command = command
}

// lookupError returns the cause of an error of exec.LookPath.
func lookupError(err error) error {
	if failed, ok := err.(*exec.Error); ok {
		return namedfile.Cause(failed.Err)
	}
	return err
}

// check determines the challenges, and reports those that cannot be used. at returns the positions of the values of a
// key, and plain says whether there is a listener for plain http.
func (a *acmeDraft) check(f *yamlfile.File, at func(key string) []yamlfile.Pos, plain bool) {
	a.HTTP, a.ALPN = plain, true
	if given := a.challenges; given != nil {
		has := func(name string) bool { return slices.Contains(given, name) }
		a.HTTP, a.ALPN, a.DNS = has(challengeHTTP), has(challengeALPN), has(challengeDNS)
	}
	if i := slices.Index(a.challenges, challengeHTTP); i >= 0 && !plain {
		f.Mistakef(at("challenges")[i], `add one, as in: listen: ":80"`, "http-01 needs a listener for plain http")
	}
	wildcard := slices.IndexFunc(a.Domains, func(name string) bool { return strings.HasPrefix(name, "*.") })
	const hook = "add one, as in: dns: {hook: ./dns-hook}"
	switch i := slices.Index(a.challenges, challengeDNS); {
	case at("dns.hook") != nil:
		if wildcard < 0 && i < 0 {
			f.Mistakef(at("dns.hook")[0], "add a wildcard to domains, or challenges: [dns-01], or remove dns",
				"the hook is not used")
		}
	case i >= 0:
		f.Mistakef(at("challenges")[i], hook, "dns-01 needs a hook")
	case wildcard >= 0:
		f.Mistakef(at("domains")[wildcard], hook, "the wildcard %s needs a hook for dns-01",
			yamlfile.Quote(a.Domains[wildcard]))
	}
}
