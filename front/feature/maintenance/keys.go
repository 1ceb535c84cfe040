package maintenance

import (
	"time"

	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key maintenance: the response with status 503 while no server of the upstream accepts
// a connection, or to all requests.
type Config struct {
	Page       errorpages.Page // the body; without one, the body of the error pages
	RetryAfter time.Duration   // in whole seconds; zero for no Retry-After
	Active     bool            // respond to all requests, without the upstream
}

// Keys returns the keys of a [Config] at a path. at returns where it is kept, and file reads a file of the page.
func Keys[T any](path string, at func(T) **Config, file errorpages.FileReader[T]) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Short: "active", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			*at(p.To) = new(Config)
			r.Fields(p, n)
		}},
		{Path: path + ".page", Doc: "the body of the response during maintenance",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				(*at(p.To)).Page = errorpages.ReadPage(r, p, n, file)
			}},
		{Path: path + ".retry_after", Doc: "the Retry-After of that response",
			Read: yamlfile.One(parseRetryAfter, func(t T) *time.Duration { return &(*at(t)).RetryAfter })},
		{Path: path + ".active", Doc: "maintenance by hand, for all requests of the route",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &(*at(t)).Active })},
	}
}

// parseRetryAfter reads a duration of whole seconds, as Retry-After has them.
func parseRetryAfter(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	return scalar.WholeSeconds(s, time.Second, "write whole seconds, as in 30s", "valid in Retry-After")
}
