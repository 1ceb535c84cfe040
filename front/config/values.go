package config

import (
	"net"
	"strings"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Each of the parse functions below reads one kind of value. They check only the
// value itself and open no files or connections.

// parseListen reads host:port. The host may be empty, and the port may be 0.
func parseListen(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "host:port", Pattern: `[^ ]*:[0-9]+|systemd/[-._0-9A-Za-z]+`})
	const example = `write host:port, as in ":20000" or "127.0.0.1:20000"`
	if name, ok := strings.CutPrefix(s.Text, SystemdPrefix); ok {
		if !scalar.IsName(name) {
			return "", yamlfile.Refuse("write the name of the socket's unit, as in systemd/weir.socket",
				"%s is not the name of a socket", yamlfile.Quote(name))
		}
		return s.Text, nil
	}
	if scalar.IsPort(s.Text) {
		return "", yamlfile.Refuse("write "+yamlfile.Quote(":"+s.Text), "%s is a port without its colon",
			yamlfile.Quote(s.Text))
	}
	// As in nginx and HAProxy.
	if address, words, _ := strings.Cut(strings.TrimPrefix(s.Text, "*:"), " "); scalar.IsPort(address) && address != s.Text {
		if strings.Contains(words, "ssl") || strings.Contains(words, "quic") {
			return "", yamlfile.Refuse("write tls: {listen: "+yamlfile.Quote(":"+address)+"}", "%s is not an address",
				yamlfile.Quote(s.Text))
		}
		return "", yamlfile.Refuse("write "+yamlfile.Quote(":"+address), "%s is not an address", yamlfile.Quote(s.Text))
	}
	host, port, err := net.SplitHostPort(s.Text)
	switch {
	case err != nil:
		return "", yamlfile.Refuse(example, "%s is not an address", yamlfile.Quote(s.Text))
	case host != "" && !scalar.IsHost(host):
		return "", yamlfile.Refuse(example, "%s is not a host", yamlfile.Quote(host))
	case !scalar.IsPort(port):
		return "", yamlfile.Refuse("a port is a number from 0 to 65535", "%s is not a port", yamlfile.Quote(port))
	}
	return net.JoinHostPort(host, port), nil
}

// parseMatch reads a pattern, which is checked with all patterns.
func parseMatch(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "pattern"})
	return scalar.Written(s)
}

// parseUpgrade reads the name of a protocol for the header field Upgrade.
func parseUpgrade(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "name of a protocol", Pattern: "[-._0-9A-Za-z]+(/[-._0-9A-Za-z]+)?"})
	name := strings.ToLower(s.Text)
	switch {
	case name == "h2c":
		return "", yamlfile.Refuse("remove it", "%s would let later requests of a client bypass the routes and the log",
			yamlfile.Quote(s.Text))
	case !scalar.IsName(strings.Replace(name, "/", "", 1)):
		return "", yamlfile.Refuse("write a name, as in websocket", "%s is not a protocol", yamlfile.Quote(s.Text))
	}
	return name, nil
}

// environment returns a function that replaces ${NAME}, ${NAME:-default} and $$ in
// a text.
func environment(lookup func(string) (string, bool)) func(string) (string, []*yamlfile.Refusal) {
	return func(text string) (string, []*yamlfile.Refusal) {
		return yamlfile.Expand(text, func(inside string) (string, *yamlfile.Refusal) { return variable(inside, lookup) })
	}
}

// variable returns the value of the expression between ${ and }.
func variable(inside string, lookup func(string) (string, bool)) (string, *yamlfile.Refusal) {
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	if !isEnvName(name) {
		return "", yamlfile.Refuse("write ${NAME} or ${NAME:-default}, and $$ for a dollar",
			"%s is not the name of an environment variable", yamlfile.Quote("${"+inside+"}"))
	}
	value, ok := lookup(name)
	switch {
	case value != "" || ok && !hasFallback:
		return value, nil
	case !hasFallback:
		hint := "set it, or give a default: ${" + name + ":-value}"
		if strings.HasSuffix(name, "SECRET") {
			hint = "make one that stays the same, as in export " + name + "=$(openssl rand -hex 32)"
		}
		return "", yamlfile.Refuse(hint, "the environment variable %s is not set", name)
	case strings.Contains(fallback, "${"):
		return "", yamlfile.Refuse("give a plain default", "the default of %s contains a variable", name)
	default:
		return strings.ReplaceAll(fallback, "$$", "$"), nil
	}
}

func isEnvName(s string) bool {
	return scalar.IsName(s) && !strings.ContainsAny(s, ".-") && !scalar.IsDigits(s[:1])
}
