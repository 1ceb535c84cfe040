package upstreams

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/statuses"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// healthKeys returns the keys of [Health] at a path.
func healthKeys[T any](path string, at func(T) **Health) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Short: "path", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			readHealth(r, p, n, at(p.To))
		}},
		{Path: path + ".path", Doc: "the path by which servers are checked",
			Required:  "name the page that checks the service, as in: health: {path: /healthz}",
			Ambiguous: true, Read: yamlfile.One(parseCheckPath, func(t T) *string { return &(*at(t)).Path })},
		{Path: path + ".method", Doc: "the method of a check",
			Read: yamlfile.One(yamlfile.Word(checkMethods), func(t T) *string { return &(*at(t)).Method })},
		{Path: path + ".host", Doc: "the Host of a check",
			Read: yamlfile.One(parseCheckHost, func(t T) *string { return &(*at(t)).Host })},
		{Path: path + ".interval", Doc: "the time between two checks of a server", Ambiguous: true,
			Read: yamlfile.One(atLeast(100*time.Millisecond), func(t T) *time.Duration { return &(*at(t)).Interval })},
		{Path: path + ".timeout", Doc: "how long a check may take", Ambiguous: true,
			Read: yamlfile.One(atLeast(time.Millisecond), func(t T) *time.Duration { return &(*at(t)).Timeout })},
		{Path: path + ".status", Doc: "the statuses of a healthy server", Ambiguous: true,
			Read: yamlfile.Some(scalar.Statuses(200, "a status"), func(t T) *[]statuses.Range { return (*[]statuses.Range)(&(*at(t)).Status) })},
		{Path: path + ".body", Doc: "an expression that the body of a healthy server matches", Ambiguous: true,
			Read: yamlfile.One(parseBodyExpr, func(t T) *string { return &(*at(t)).Body })},
		{Path: path + ".rise", Doc: "the number of checks that make a server healthy",
			Read: yamlfile.One(scalar.Some, func(t T) *int { return &(*at(t)).Rise })},
		{Path: path + ".fall", Doc: "the number of checks that make a server unhealthy",
			Read: yamlfile.One(scalar.Some, func(t T) *int { return &(*at(t)).Fall })},
	}
}

// outlierKeys returns the keys of [Outliers] at a path.
func outlierKeys[T any](path string, at func(T) **Outliers) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Off: func(t T) { *at(t) = nil }, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			readOutliers(r, p, n, at(p.To))
		}},
		{Path: path + ".consecutive", Doc: "the number of failures in a row that eject a server",
			Off:  func(t T) { (*at(t)).Consecutive = 0 },
			Read: yamlfile.One(scalar.Some, func(t T) *int { return &(*at(t)).Consecutive })},
		{Path: path + ".failure_rate", Doc: "how far the share of failures may exceed the median of the others",
			Off:  func(t T) { (*at(t)).FailureRate = 0 },
			Read: yamlfile.One(parsePoints, func(t T) *int { return &(*at(t)).FailureRate })},
		{Path: path + ".latency", Doc: "how many times the median time of the others a server may take",
			Off:  func(t T) { (*at(t)).Latency = 0 },
			Read: yamlfile.One(parseFactor, func(t T) *float64 { return &(*at(t)).Latency })},
		{Path: path + ".interval", Doc: "the time for which servers are compared", Ambiguous: true,
			Read: yamlfile.One(atLeast(time.Second), func(t T) *time.Duration { return &(*at(t)).Interval })},
		{Path: path + ".requests", Doc: "the number of requests that a comparison needs",
			Read: yamlfile.One(scalar.Some, func(t T) *int { return &(*at(t)).Requests })},
		{Path: path + ".ejection", Doc: "the time of the first ejection",
			Read: yamlfile.One(atLeast(time.Second), func(t T) *time.Duration { return &(*at(t)).Ejection })},
		{Path: path + ".max_ejection", Doc: "the maximum time of an ejection",
			Read: yamlfile.One(atLeast(time.Second), func(t T) *time.Duration { return &(*at(t)).MaxEjection })},
		{Path: path + ".status", Doc: "the statuses that count as failures", Ambiguous: true,
			Read: yamlfile.Some(scalar.Statuses(200, "a status"), func(t T) *[]statuses.Range { return (*[]statuses.Range)(&(*at(t)).Status) })},
	}
}

var checkMethods = []string{"GET", "HEAD", "OPTIONS"}

func readHealth[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, at **Health) {
	h := DefaultHealth()
	*at = h
	r.Fields(p, n)
	for _, pair := range n.Pairs {
		if pair.Key.Text == "body" && h.Method == "HEAD" {
			r.Mistakef(pair.Key.Pos, "remove it, or write method: GET", "the response to HEAD has no body")
		}
	}
}

func readOutliers[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, at **Outliers) {
	o := DefaultOutliers()
	*at = o
	r.Fields(p, n)
	for _, pair := range n.Pairs {
		switch {
		case pair.Key.Text == "max_ejection" && o.MaxEjection < o.Ejection:
			r.Mistakef(pair.Value.Pos, "write at least "+o.Ejection.String(), "the longest ejection is shorter than the first one")
		case pair.Key.Text == "ejection" && o.MaxEjection < o.Ejection && o.MaxEjection == DefaultOutliers().MaxEjection:
			o.MaxEjection = o.Ejection
		}
	}
}

// parseCheckPath reads the path of a request, perhaps with a query.
func parseCheckPath(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "path of a URL", Pattern: "/[^ #]*"})
	if !strings.HasPrefix(s.Text, "/") || strings.ContainsAny(s.Text, " #") || !httpsyntax.IsPlain(s.Text) {
		hint := "write it as in /healthz"
		if method, path, ok := strings.Cut(s.Text, " "); ok && slices.Contains(checkMethods, method) {
			hint = "write health: {path: " + path + ", method: " + method + "}"
		}
		return "", yamlfile.Refuse(hint, "%s is not a path", yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// parseCheckHost reads the Host of a request, perhaps with a port.
func parseCheckHost(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "host or host:port", Pattern: "[-._0-9A-Za-z]+(:[0-9]+)?"})
	host, port, found := strings.Cut(s.Text, ":")
	if !scalar.IsHost(host) || found && !scalar.IsPort(port) {
		return "", yamlfile.Refuse("write a name, as in shop.internal", "%s is not a host", yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// atLeast returns a parser of durations that are not shorter than a limit.
func atLeast(limit time.Duration) func(yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	return func(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
		d, refused := yamlfile.Duration(s)
		if refused == nil && d < limit {
			return 0, yamlfile.Refuse("write "+limit.String()+" or more", "%s is too short", yamlfile.Quote(s.Text))
		}
		return d, refused
	}
}

// parseBodyExpr reads a regular expression.
func parseBodyExpr(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "regular expression"})
	if _, err := regexp.Compile(s.Text); err != nil || s.Text == "" {
		return "", yamlfile.Refuse("see https://pkg.go.dev/regexp/syntax", "%s is not a regular expression",
			yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// parsePoints reads a number of percentage points.
func parsePoints(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	percent, refused := scalar.Share(s)
	if refused == nil && percent != math.Trunc(percent) {
		return 0, yamlfile.Refuse("write whole percentage points, as in 30%", "%s is too exact", yamlfile.Quote(s.Text))
	}
	return int(percent), refused
}

// parseFactor reads a factor above 1.
func parseFactor(s yamlfile.Scalar) (float64, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "factor", Pattern: `[0-9]+(\.[0-9]+)?`})
	f, err := strconv.ParseFloat(s.Text, 64)
	if err != nil || !(f > 1) || math.IsInf(f, 0) {
		return 0, yamlfile.Refuse("write a factor above 1, as in 5, or off", "%s is not a factor", yamlfile.Quote(s.Text))
	}
	return f, nil
}
