// Package scalar reads values of a configuration that several keys have. The functions check
// only the value itself, and open no files or connections.
package scalar

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Network reads a network in CIDR notation, or a single address. It converts
// IPv4 addresses in IPv6 form to IPv4, because the addresses of clients are IPv4.
func Network(s yamlfile.Scalar) (netip.Prefix, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "address or network", Pattern: "[0-9a-fA-F:.]+(/[0-9]+)?"})
	if addr, err := netip.ParseAddr(s.Text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(s.Text)
	switch {
	case s.Text == "all":
		return prefix, yamlfile.Refuse("write 0.0.0.0/0 and ::/0; beside allow, all other clients are refused anyway",
			"%s is not a network", yamlfile.Quote(s.Text))
	case err != nil:
		return prefix, yamlfile.Refuse("write an address or a network, as in 127.0.0.1 or 10.0.0.0/8",
			"%s is not a network", yamlfile.Quote(s.Text))
	case prefix.Addr().Is4In6():
		return prefix, yamlfile.Refuse("write it as an IPv4 network", "%s is an IPv4 network in IPv6 form",
			yamlfile.Quote(s.Text))
	case prefix != prefix.Masked():
		return prefix, yamlfile.Refuse(yamlfile.DidYouMean(prefix.Masked().String()),
			"%s has bits set after its prefix length", yamlfile.Quote(s.Text))
	}
	return prefix, nil
}

// Written keeps the position of a text, for later checks.
func Written(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	_, refused := yamlfile.Text(s)
	return s, refused
}

// Secret reads a secret, and keeps its position. The mistakes do not show it.
func Secret(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	_, refused := yamlfile.Secret(s)
	return s, refused
}

// Upstream reads the name of an upstream, and keeps its position.
func Upstream(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "name of an upstream"})
	return Written(s)
}

// Path reads the path of a file or a folder, and keeps its position.
func Path(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "path"})
	return Written(s)
}

// Timeout reads a duration above zero.
func Timeout(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	d, refused := yamlfile.Duration(s)
	if refused == nil && d == 0 {
		return 0, yamlfile.Refuse("write how long to wait, as in 30s", "%s leaves no time for a response",
			yamlfile.Quote(s.Text))
	}
	return d, refused
}

// IsHost reports whether s is an IP address or a valid host name. A name whose last
// label has only digits is a mistyped IPv4 address.
func IsHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	labels := strings.Split(strings.TrimSuffix(s, "."), ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || !IsName(label) {
			return false
		}
	}
	return len(s) <= 253 && !IsDigits(labels[len(labels)-1])
}

// IsPort reports whether s is a port in the usual notation. A second notation could
// hide that a port occurs twice.
func IsPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// NamePattern is a regular expression for texts of which IsName is true.
const NamePattern = "[-._0-9A-Za-z]+"

// IsName reports whether s is made of ASCII letters, digits, '.', '_' and '-'.
func IsName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

func IsDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// Some reads a number of at least one.
func Some(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	n, refused := yamlfile.Count(s)
	if refused == nil && n == 0 {
		return 0, yamlfile.Refuse("write 1 or more, or remove it", "%s allows nothing", yamlfile.Quote(s.Text))
	}
	return n, refused
}

// Share reads a percentage above 0, up to 100.
func Share(s yamlfile.Scalar) (percent float64, refused *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "share", Unit: "%", Pattern: `[0-9]+(\.[0-9]+)?%`})
	number, ok := strings.CutSuffix(s.Text, "%")
	percent, err := strconv.ParseFloat(number, 64)
	switch {
	case err == nil && !ok:
		return 0, yamlfile.Refuse("write "+shareHint(s.Text, percent), "%s is a number without its percent sign", yamlfile.Quote(s.Text))
	case err != nil || !(percent > 0 && percent <= 100): // NaN fails both
		return 0, yamlfile.Refuse("write a percentage up to 100%, as in 10%", "%s is not a share", yamlfile.Quote(s.Text))
	}
	return percent, nil
}

// shareHint returns a number with a percent sign. A fraction may be meant as a part of one.
func shareHint(text string, number float64) string {
	if !(number > 0 && number < 1) {
		return text + "%"
	}
	part, percent := strconv.FormatFloat(number*100, 'g', 6, 64), strconv.FormatFloat(number, 'f', -1, 64)
	return part + "% or " + percent + "%"
}

// FieldValue reads the value of a header field.
func FieldValue(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "value of a header field"})
	if s.Text == "" || !httpsyntax.IsPlain(s.Text) || strings.TrimSpace(s.Text) != s.Text {
		// The value may be a secret.
		return "", yamlfile.Refuse("write printable characters in one line, without blanks around them",
			"this is not the value of a header field")
	}
	return s.Text, nil
}

// HeaderName reads the name of a header field.
func HeaderName(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "name of a header field", Pattern: httpsyntax.TokenPattern})
	if !httpsyntax.IsToken(s.Text) || s.Text == "*" {
		return "", yamlfile.Refuse("write a name, as in X-Request-Id", "%s is not the name of a header field",
			yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// SentHeader reads the name of a request field that weir sets.
func SentHeader(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "name of a header field", Pattern: httpsyntax.TokenPattern})
	switch {
	case !httpsyntax.IsToken(s.Text):
		return "", yamlfile.Refuse("write a name, as in X-User", "%s is not the name of a header field",
			yamlfile.Quote(s.Text))
	case OwnedField(s.Text, "add", false) != "":
		return "", yamlfile.Refuse("choose another name, as in X-User", "weir itself writes %s", yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// OwnedField returns a hint if weir writes a field itself, otherwise "". verb is the verb of the edit:
// set, add or remove.
func OwnedField(name, verb string, response bool) string {
	switch strings.ReplaceAll(strings.ToLower(name), "_", "-") {
	case "connection", "content-length", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
		"te", "trailer", "transfer-encoding", "upgrade":
		return "remove it: it is for one connection or one message, for which weir writes it"
	case "x-request-id":
		return "remove it: weir writes the id of the request that its log has"
	}
	if response {
		return ""
	}
	switch strings.ReplaceAll(strings.ToLower(name), "_", "-") {
	case "expect":
		return "remove it: weir writes it if the client does"
	case "traceparent", "tracestate":
		return "remove it: weir writes the id of the request that its log has"
	case "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto":
		return "remove it: weir writes it, by the rule of trusted_proxies"
	case "host":
		if verb != "set" {
			return "set it: a request has exactly one"
		}
	}
	return ""
}

// CookieName reads the name of a cookie. RFC 6265, section 4.1.1, defines it as a token.
func CookieName(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "name of a cookie", Pattern: httpsyntax.TokenPattern})
	if !httpsyntax.IsToken(s.Text) {
		return "", yamlfile.Refuse("write a name, as in door", "%s is not the name of a cookie", yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// CookieAge reads a duration of whole seconds, at least one.
func CookieAge(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	return WholeSeconds(s, time.Second, "write whole seconds, as in 24h", "the age of a cookie")
}

// WholeSeconds reads a duration of whole seconds that is not below least. hint and what, the kind of value, are for the
// message of a mistake.
func WholeSeconds(s yamlfile.Scalar, least time.Duration, hint, what string) (time.Duration, *yamlfile.Refusal) {
	d, refused := yamlfile.Duration(s)
	if refused == nil && (d < least || d%time.Second != 0) {
		return 0, yamlfile.Refuse(hint, "%s is not %s", yamlfile.Quote(s.Text), what)
	}
	return d, refused
}

// secretHeaders are header fields whose values are never logged.
var secretHeaders = []string{"authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key"}

// SecretHeaders returns the header fields whose values are never logged. The caller owns the result.
func SecretHeaders() []string { return slices.Clone(secretHeaders) }

// IsSecretHeader reports whether the values of a header field must not be shown.
func IsSecretHeader(name string) bool { return slices.Contains(secretHeaders, strings.ToLower(name)) }
