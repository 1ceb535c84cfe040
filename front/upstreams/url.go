package upstreams

import (
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/yamlfile"
)

// basePath returns the path of a server's URL in normal form, or "".
func basePath(server string) string {
	before, after := "://", "/"
	if strings.HasPrefix(server, unixPrefix) {
		before, after = unixPrefix, ":"
	}
	_, rest, _ := strings.Cut(server, before)
	if i := strings.Index(rest, after); i >= 0 {
		return strings.TrimPrefix(rest[i:], ":")
	}
	return ""
}

const (
	serverExample = "write http://host:port, as in http://127.0.0.1:8080"
	unixExample   = "write unix: and an absolute path, as in unix:/run/app.sock"
	unixPrefix    = "unix:"
	httpsPrefix   = "https://"
	srvPrefix     = "srv+"
)

// paramsHint returns the correction of a server with the parameters of nginx or HAProxy, such as "http://a weight=3".
func paramsHint(text string) string {
	words := strings.Fields(text)
	address := words[0]
	if !strings.Contains(address, "://") {
		address = "http://host:port"
	}
	if strings.HasSuffix(address, ",") {
		return "write a list, as in [http://a, http://b]"
	}
	for i, word := range words {
		switch name, value, _ := strings.Cut(word, "="); {
		case name == "weight" && value == "" && i+1 < len(words):
			return "write {url: " + address + ", weight: " + words[i+1] + "}"
		case name == "weight":
			return "write {url: " + address + ", weight: " + value + "}"
		case name == "backup":
			return "write {url: " + address + ", backup: true}"
		}
	}
	return "write only the URL, as in " + address
}

// parseServer reads the URL of a server, and returns it in normal form: with an explicit port,
// and without a slash at its end.
func parseServer(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "URL of a server", Pattern: "(srv[+])?https?://[^ ?#@]+|unix:/[^ ]+"})
	text, isSRV := strings.CutPrefix(s.Text, srvPrefix)
	scheme, rest, ok := strings.Cut(text, "://")
	switch scheme = strings.ToLower(scheme); {
	case strings.HasPrefix(s.Text, unixPrefix):
		return parseUnixServer(s.Text)
	case strings.HasPrefix(s.Text, "unix"), ok && strings.HasPrefix(rest, unixPrefix+"/"):
		return "", yamlfile.Refuse(unixExample, "%s is not the address of a Unix socket", yamlfile.Quote(s.Text))
	case strings.ContainsRune(s.Text, '@'):
		// Do not show the value: it may contain a password.
		return "", yamlfile.Refuse("remove the part before the @", "a server's URL cannot contain a user name or a password")
	case strings.ContainsRune(s.Text, ' '):
		return "", yamlfile.Refuse(paramsHint(s.Text), "%s is not a server's URL", yamlfile.Quote(s.Text))
	case !ok:
		return "", yamlfile.Refuse(serverExample, "%s has no scheme", yamlfile.Quote(s.Text))
	case slices.Contains([]string{"h2", "h2c", "grpc", "grpcs"}, scheme):
		return "", yamlfile.Refuse("write http://host:port, or https://, and add protocol: http2",
			"%s is not a scheme for servers", yamlfile.Quote(scheme))
	case scheme != "http" && scheme != "https":
		return "", yamlfile.Refuse(serverExample, "%s is not a scheme for servers", yamlfile.Quote(scheme))
	case strings.ContainsAny(rest, "?#"):
		end := strings.IndexAny(rest, "?#")
		return "", yamlfile.Refuse("write "+scheme+"://"+rest[:end], "a server's URL has no query and no fragment: %s",
			yamlfile.Quote(s.Text))
	}
	host, base := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, base = rest[:i], rest[i:]
	}
	base, refused := parseBasePath(s.Text, base)
	if refused != nil {
		return "", refused
	}
	u, err := url.Parse(scheme + "://" + host)
	if err != nil || !scalar.IsHost(u.Hostname()) || strings.ContainsRune(u.Host, '%') || strings.HasSuffix(u.Host, ":") {
		return "", yamlfile.Refuse(serverExample, "%s is not a server's URL", yamlfile.Quote(s.Text))
	}
	port := u.Port()
	switch {
	case isSRV:
		return parseSRV(u, base)
	case port == "" && scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	if !scalar.IsPort(port) || port == "0" {
		return "", yamlfile.Refuse("a port is a number from 1 to 65535", "%s is not a port", yamlfile.Quote(port))
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port) + base, nil
}

// parseSRV checks the URL of a server whose host is the name of SRV records.
func parseSRV(u *url.URL, base string) (string, *yamlfile.Refusal) {
	_, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.Port() != "":
		return "", yamlfile.Refuse("remove it: SRV records contain the port", "%s has a port",
			yamlfile.Quote(srvPrefix+u.String()))
	case err == nil || !strings.Contains(u.Host, "."):
		return "", yamlfile.Refuse("write srv+http:// and a name, as in srv+http://_http._tcp.shop.example",
			"%s has no SRV records", yamlfile.Quote(u.Host))
	}
	return srvPrefix + u.Scheme + "://" + strings.ToLower(u.Host) + base, nil
}

// maxSocketPath is the maximum length of the path of a Unix socket on Linux, in bytes.
const maxSocketPath = 107

// parseUnixServer parses "unix:" and the path of a socket, perhaps with ":" and a base path.
func parseUnixServer(text string) (string, *yamlfile.Refusal) {
	socket, base, _ := strings.Cut(strings.TrimPrefix(text, unixPrefix), ":")
	switch {
	case !strings.HasPrefix(socket, "/") || strings.HasSuffix(socket, "/") || yamlfile.Printable(socket) != socket:
		return "", yamlfile.Refuse(unixExample, "%s is not the address of a Unix socket", yamlfile.Quote(text))
	case path.Clean(socket) != socket:
		return "", yamlfile.Refuse("write "+unixPrefix+path.Clean(socket), "%s is not the shortest form of its path",
			yamlfile.Quote(text))
	case len(socket) > maxSocketPath:
		return "", yamlfile.Refuse("use a folder with a shorter name", "the path of a Unix socket has at most %d bytes: %s",
			maxSocketPath, yamlfile.Quote(text))
	}
	base, refused := parseBasePath(text, base)
	if refused != nil || base == "" {
		return unixPrefix + socket, refused
	}
	return unixPrefix + socket + ":" + base, nil
}

// parseBasePath parses the path of a server's URL. "/" is no path.
func parseBasePath(text, base string) (string, *yamlfile.Refusal) {
	base = strings.TrimSuffix(base, "/")
	if base != "" && target.CheckPrefix(base) != nil {
		return "", yamlfile.Refuse("write a plain path, as in http://127.0.0.1:8080/app",
			"the path of %s cannot be put before the paths of requests", yamlfile.Quote(text))
	}
	return string(template.AppendURL(nil, base)), nil
}
