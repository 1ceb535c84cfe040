package upstreams

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Retry determines when a request is sent again to a server of an upstream.
type Retry struct {
	// Attempts is how often a request is sent at most, from 1 to 5. Zero means 3, the default.
	Attempts int

	// Methods are the methods of the requests that may be sent again. Nil, the default,
	// means GET, HEAD and OPTIONS.
	Methods []string

	// On are the reasons: reset, timeout, 502, 503 and 504. Nil, the default, means reset and
	// timeout.
	On []string
}

// retryKeys returns the keys of [Retry] at a path.
func retryKeys[T any](path string, at func(T) *Retry) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Off: func(t T) { *at(t) = Retry{Attempts: 1} }, Read: (*yamlfile.Reader[T]).Fields},
		{Path: path + ".attempts", Doc: "how often a request is sent at most", Zero: proxying.DefaultAttempts,
			Read: yamlfile.One(parseAttempts, func(t T) *int { return &at(t).Attempts })},
		{Path: path + ".methods", Doc: "methods whose requests may be sent again", Ambiguous: true,
			Zero: []string{"GET", "HEAD", "OPTIONS"},
			Read: yamlfile.Some(parseRetryMethod, func(t T) *[]string { return &at(t).Methods })},
		{Path: path + ".on", Doc: "reasons to send a request again",
			Zero: []string{string(proxying.RetryReset), string(proxying.RetryTimeout)},
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) { readRetryOn(r, p, n, &at(p.To).On) }},
	}
}

func parseAttempts(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	n, refused := yamlfile.Count(s)
	if refused == nil && (n < 2 || n > proxying.MaxAttempts) {
		return 0, yamlfile.Refuse(fmt.Sprintf("write 2 to %d, or retry: off to send each request once", proxying.MaxAttempts),
			"%s is not a number of attempts", yamlfile.Quote(s.Text))
	}
	return n, refused
}

// parseRetryMethod reads a method whose requests may be sent again.
func parseRetryMethod(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Words: []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}})
	const hint = "it is GET, HEAD, OPTIONS, PUT or DELETE"
	switch method := strings.ToUpper(s.Text); {
	case method == "GET", method == "HEAD", method == "OPTIONS", method == "PUT", method == "DELETE":
		return method, nil
	case method == "POST", method == "PATCH":
		return "", yamlfile.Refuse(hint, "a %s that is sent twice can be carried out twice", method)
	case httpsyntax.IsToken(s.Text):
		return "", yamlfile.Refuse(hint, "%s is not a method that can be sent again", yamlfile.Quote(s.Text))
	}
	return "", yamlfile.Refuse(hint, "%s is not a method", yamlfile.Quote(s.Text))
}

var retryReasons = []string{string(proxying.RetryReset), string(proxying.RetryTimeout), string(proxying.Retry502),
	string(proxying.Retry503), string(proxying.Retry504)}

// readRetryOn reads reasons, of which a range of statuses is several.
func readRetryOn[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, on *[]string) {
	var read []string
	yamlfile.Some(parseRetryReason, func(T) *[]string { return &read })(r, p, n)
	*on = nil
	for _, why := range read {
		set, refused := anyStatuses(yamlfile.Scalar{Text: why})
		if refused != nil {
			*on = append(*on, why)
			continue
		}
		for status := set.First; status <= set.Last; status++ {
			if reason := strconv.Itoa(status); !slices.Contains(*on, reason) {
				*on = append(*on, reason)
			}
		}
	}
}

var anyStatuses = scalar.Statuses(100, "a status")

func parseRetryReason(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "a range such as 502-504", Pattern: "50[2-4](-50[2-4])?"})
	switch s.Text {
	case "connect":
		return "", yamlfile.Refuse("remove it; connect_wait sets for how long",
			"a server that cannot be connected to is always replaced by another, for all methods")
	case string(proxying.RetryStale):
		return "", yamlfile.Refuse("remove it", "a stale connection is always replaced, unless retry is off")
	}
	if set, refused := anyStatuses(s); refused == nil {
		if set.First < 502 || set.Last > 504 {
			return "", yamlfile.Refuse("write 502, 503 or 504, or 502-504", "a request is not sent again for %s", yamlfile.Quote(s.Text))
		}
		return s.Text, nil
	}
	return yamlfile.Word(retryReasons)(s)
}
