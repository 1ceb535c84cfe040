package respond

import (
	"strconv"
	"strings"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key respond: a response that is the same for all requests.
type Config struct {
	Status int    // from 200 to 599
	Text   string // the body; empty if Status is 204 or 304
	Type   string // the Content-Type of Text. Default "text/plain; charset=utf-8"
}

// Keys returns the keys of a [Config] at a path. at returns where it is kept.
func Keys[T any](path string, at func(T) **Config) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Short: "status", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			c := &Config{Type: "text/plain; charset=utf-8"}
			*at(p.To) = c
			r.Fields(p, n)
			if c.Text != "" && (c.Status == 204 || c.Status == 304) {
				r.Mistakef(p.Key.Pos, "remove the text", "a response with status %d has no body", c.Status)
			}
		}},
		{Path: path + ".status", Doc: "the status of a fixed response",
			Required: "it is from 200 to 599",
			Read:     yamlfile.One(parseStatus, func(t T) *int { return &(*at(t)).Status })},
		{Path: path + ".text", Doc: "the body of a fixed response",
			Read: yamlfile.One(parseBody, func(t T) *string { return &(*at(t)).Text })},
		{Path: path + ".type", Doc: "the Content-Type of a fixed response",
			Read: yamlfile.One(scalar.FieldValue, func(t T) *string { return &(*at(t)).Type })},
	}
}

// parseStatus reads the status of a final response.
func parseStatus(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "status", Pattern: "[2-5][0-9][0-9]", Number: true})
	status, err := strconv.Atoi(s.Text)
	if err != nil || status < 200 || status > 599 {
		return 0, yamlfile.Refuse(statusHint(s.Text), "%s is not a status", yamlfile.Quote(s.Text))
	}
	return status, nil
}

// statusHint returns the correction of a text that is not a status: other front doors have a text or a URL after it.
func statusHint(text string) string {
	first, rest, _ := strings.Cut(text, " ")
	if i := strings.LastIndexByte(text, ' '); i > 0 && isNumber(text[i+1:]) && !isNumber(first) { // as in a Caddyfile
		first, rest = text[i+1:], text[:i]
	}
	switch {
	case isNumber(first) && rest == "":
		return "it is from 200 to 599"
	case !isNumber(first):
		return "write respond: {status: 200, text: " + yamlfile.Quote(text) + "}"
	case strings.HasPrefix(first, "3"):
		return "write redirect: {to: " + yamlfile.Quote(rest) + ", status: " + first + "}"
	}
	return "write respond: {status: " + first + ", text: " + yamlfile.Quote(rest) + "}"
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

// parseBody reads a body, which may have several lines.
func parseBody(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "text, of several lines"})
	return s.Text, nil
}
