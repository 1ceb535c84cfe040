package front

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/weirhq/weir/internal/nearest"
)

// The parse functions below each read one kind of value. They look at the
// value alone and open nothing.

// text returns the text of a value that is meant as one. YAML reads a bare
// true or 1.0 as something else, and whoever writes it may mean that.
func text(s scalar) (string, *refusal) {
	switch {
	case s.kind != ast.StringType:
		return "", refuse("put quotes around it", "%s is a %s, not a text", s.text, strings.ToLower(s.kind.String()))
	case strings.TrimSpace(s.text) == "":
		return "", refuse("give it a value, or leave it out", "the value is empty")
	case printable(s.text) != s.text:
		return "", refuse("remove it", "%s holds a control character", quote(s.text))
	}
	return s.text, nil
}

func parseNamespace(s scalar) (string, *refusal) { return text(s) }

// asWritten keeps where a text stands, for checks that come later.
func asWritten(s scalar) (scalar, *refusal) {
	_, refused := text(s)
	return s, refused
}

// word returns a parser of one of the words.
func word(words []string) func(scalar) (string, *refusal) {
	return func(s scalar) (string, *refusal) {
		if slices.Contains(words, s.text) {
			return s.text, nil
		}
		choose := "it is one of " + strings.Join(words, ", ")
		if near := nearest.Word(s.text, words); near != "" {
			choose = didYouMean(near)
		}
		return "", refuse(choose, "%s is not known here", quote(s.text))
	}
}

// parseDuration reads a duration that may be zero.
func parseDuration(s scalar) (time.Duration, *refusal) {
	d, err := time.ParseDuration(s.text)
	switch {
	case err != nil && isNumber(s.text):
		return 0, refuse("add a unit, as in "+s.text+"s", "%s is a number without a unit", quote(s.text))
	case err != nil:
		return 0, refuse("write a number and a unit, as in 300ms, 10s or 2m", "%s is not a duration", quote(s.text))
	case d < 0:
		return 0, refuse("remove the minus", "%s is a duration below zero", quote(s.text))
	}
	return d, nil
}

// parseTimeout reads a duration above zero.
func parseTimeout(s scalar) (time.Duration, *refusal) {
	d, refused := parseDuration(s)
	if refused == nil && d == 0 {
		return 0, refuse("write how long to wait, as in 30s", "%s leaves no time for an answer", quote(s.text))
	}
	return d, refused
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// parseListen reads host:port, where the host may be empty and the port 0.
func parseListen(s scalar) (string, *refusal) {
	const example = `write host:port, as in ":20000" or "127.0.0.1:20000"`
	if isPort(s.text) {
		return "", refuse("write "+quote(":"+s.text), "%s is a port without its colon", quote(s.text))
	}
	host, port, err := net.SplitHostPort(s.text)
	switch {
	case err != nil:
		return "", refuse(example, "%s is not an address", quote(s.text))
	case host != "" && !isHost(host):
		return "", refuse(example, "%s is not a host", quote(host))
	case !isPort(port):
		return "", refuse("a port is a number from 0 to 65535", "%s is not a port", quote(port))
	}
	return net.JoinHostPort(host, port), nil
}

// parseAdmin reads an address or the word off.
func parseAdmin(s scalar) (string, *refusal) {
	switch s.text {
	case AdminOff:
		return AdminOff, nil
	case "false", "no", "none":
		return "", refuse("write off to have no admin listener", "%s is not an address", quote(s.text))
	}
	return parseListen(s)
}

// isPort reports whether s is a port as it is usually written: two ways to
// write one would hide that it is given twice.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// isHost reports whether s is an IP address or could be a host's name. A last
// label of digits alone is a mistyped IPv4 address, never a name.
func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	labels := strings.Split(strings.TrimSuffix(s, "."), ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || !isName(label) {
			return false
		}
	}
	return len(s) <= 253 && !isDigits(labels[len(labels)-1])
}

// isName reports whether s is made of ASCII letters, digits, '.', '_' and '-'.
func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// parseNetwork reads a network in CIDR notation, or an address as a network
// of one. IPv4 addresses in IPv6 form become plain ones, since that is how
// clients are compared.
func parseNetwork(s scalar) (netip.Prefix, *refusal) {
	if addr, err := netip.ParseAddr(s.text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(s.text)
	switch {
	case err != nil:
		return prefix, refuse("write an address or a network, as in 127.0.0.1 or 10.0.0.0/8", "%s is not a network", quote(s.text))
	case prefix.Addr().Is4In6():
		return prefix, refuse("write it as an IPv4 network", "%s is an IPv4 network in IPv6 form", quote(s.text))
	case prefix != prefix.Masked():
		return prefix, refuse(didYouMean(prefix.Masked().String()), "%s has bits set behind its length", quote(s.text))
	}
	return prefix, nil
}

// parseServer reads http://host:port and returns it with the port spelt out.
func parseServer(s scalar) (string, *refusal) {
	const example = "write http://host:port, as in http://127.0.0.1:8080"
	scheme, rest, ok := strings.Cut(s.text, "://")
	switch scheme = strings.ToLower(scheme); {
	case strings.ContainsRune(s.text, '@'):
		// The value is not shown: what stands before the @ is a secret.
		return "", refuse("remove what stands before the @", "a server's URL cannot hold a user name or a password")
	case !ok:
		return "", refuse(example, "%s has no scheme", quote(s.text))
	case scheme == "https":
		return "", refuse("use http:// within your own network", "https:// is not supported yet for servers: %s", quote(s.text))
	case scheme != "http":
		return "", refuse(example, "%s is not a scheme for servers", quote(scheme))
	case strings.ContainsAny(rest, "/?#"):
		return "", refuse("write "+cutURL(scheme, rest), "a server's URL ends with its port, and %s goes on", quote(s.text))
	}
	u, err := url.Parse(scheme + "://" + rest)
	if err != nil || !isHost(u.Hostname()) || strings.ContainsRune(u.Host, '%') || strings.HasSuffix(u.Host, ":") {
		return "", refuse(example, "%s is not a server's URL", quote(s.text))
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	if !isPort(port) || port == "0" {
		return "", refuse("a port is a number from 1 to 65535", "%s is not a port", quote(port))
	}
	return "http://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port), nil
}

func cutURL(scheme, rest string) string {
	return scheme + "://" + rest[:strings.IndexAny(rest, "/?#")]
}

// parseUpgrade reads a protocol's name, as the header Upgrade has it.
func parseUpgrade(s scalar) (string, *refusal) {
	name := strings.ToLower(s.text)
	switch {
	case name == "h2c":
		return "", refuse("remove it", "%s would let a client's later requests pass unrouted and unlogged", quote(s.text))
	case !isName(strings.Replace(name, "/", "", 1)):
		return "", refuse("write a name, as in websocket", "%s is not a protocol", quote(s.text))
	}
	return name, nil
}

func didYouMean(word string) string { return "did you mean " + quote(word) + "?" }
