package config

import (
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// action returns the function that reads a key of a route of which it has exactly one.
func action(read readFunc) readFunc {
	return func(r *fileReader, p place, n *yamlfile.Node) {
		p.To.route.actions = append(p.To.route.actions, p.Key)
		read(r, p, n)
	}
}

// checkAction checks that a route has exactly one action. p is the place of the route.
func (d *routeDraft) checkAction(r *fileReader, p place) {
	const hint = "a route has one of to, split, redirect, respond and files"
	switch {
	case len(d.actions) == 0:
		r.Mistakef(p.Key.Pos, hint, "the route has no action")
	case len(d.actions) > 1:
		r.Mistakef(d.actions[1].Pos, hint, "%s is a second action of the route, after %s",
			yamlfile.Quote(d.actions[1].Text), yamlfile.Quote(d.actions[0].Text))
	}
}

func readFixedResponse(r *fileReader, p place, n *yamlfile.Node) {
	f := &FixedResponse{Type: "text/plain; charset=utf-8"}
	p.To.route.Respond = f
	r.Fields(p, n)
	if f.Text != "" && (f.Status == 204 || f.Status == 304) {
		r.Mistakef(p.Key.Pos, "remove the text", "a response with status %d has no body", f.Status)
	}
}

// parseStatus reads the status of a final response.
func parseStatus(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	status, err := strconv.Atoi(s.Text)
	if err != nil || status < 200 || status > 599 {
		return 0, yamlfile.Refuse("it is from 200 to 599", "%s is not a status", yamlfile.Quote(s.Text))
	}
	return status, nil
}

// parseBody reads a body, which may have several lines.
func parseBody(s yamlfile.Scalar) (string, *yamlfile.Refusal) { return s.Text, nil }

// parseFieldValue reads the value of a header field.
func parseFieldValue(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	if s.Text == "" || !httpsyntax.IsPlain(s.Text) || strings.TrimSpace(s.Text) != s.Text {
		return "", yamlfile.Refuse("write printable characters in one line, without blanks around them",
			"%s is not the value of a header field", yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}
