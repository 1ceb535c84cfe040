// Package router finds out which of many patterns a request is for.
//
// [Table] is the engine: an immutable set of patterns that maps method, host
// and path to a value of any type and to the parameters in the path. It knows
// nothing of net/http, may be shared by any number of goroutines, and its
// lookup allocates nothing. [Router] is its face for net/http: an http.Handler
// to use in place of http.ServeMux. Choose Router to serve handlers, Table to
// route anything else, such as the exchanges of a proxy.
//
// # Patterns
//
// A pattern is written as net/http writes it since Go 1.22, and a little more:
//
//	[METHOD[,METHOD...] ][HOST]/[PATH]
//
//	/census                    this path alone
//	GET,HEAD /census           for two methods
//	example.com/census         for one host, in any case, on any port
//	/datasets/{id}             {id} is one segment, never an empty one
//	/static/{id:uuid}          one segment that the constraint uuid accepts
//	/report-{id:int}.pdf       one segment with text around the parameter
//	/datasets/{uri...}         all that follows the slash, possibly nothing
//	/datasets/                 the same without a name
//	/datasets/{$}              /datasets/ and nothing below it
//	/{topic...}/datasets/{id}  one or more segments in the middle of a path
//
// The constraints uuid, ipv4, ipv6, int, uint, hex, slug, word, date and
// base64url are always there. [Range], [Length], [Any], [All] and [Regexp] make
// more, to which [Router.Constrain] or [Constraints] give a name.
//
// Paths are matched escaped, segment by segment, each segment unescaped once:
// /d%61ta is /data, and the slash in a%2Fb separates nothing. A GET pattern
// serves HEAD unless another pattern with the same path names HEAD.
//
// # Precedence
//
// When several patterns match, these rules choose, never the order of
// registration:
//
//  1. a pattern with a host before one without;
//  2. then, at the first segment of the request that the patterns treat
//     differently: literal before parameter before {x...}; of two parameters
//     the one with more text before it, then the one with more text behind
//     it, then the one with a constraint; a wildcard in the middle takes as
//     few segments as it can;
//  3. then a pattern with methods before one without.
//
// A pattern that turns out not to match, be it for a later segment or for its
// method, gives way to the next one. Two patterns that these rules cannot
// order are a conflict and refused, with a request that both match.
//
// # Bounds
//
// A lookup takes at most segments(path) × nodes(tree) steps, whatever the
// patterns and the path. It does not recurse: it remembers at most one place to
// go back to for each segment of the longest pattern. What a wildcard at the
// end takes is not looked at.
//
// # For net/http
//
// [Routes.Group], [Routes.With], [Routes.Accept] and [Routes.Name] make places
// for handlers: below a prefix, behind middleware, for a media type, with a
// name from which [Router.URL] builds a path. [Routes.Guard] puts middleware
// around all responses below a prefix. [Routes.Mount] gives a handler
// all that is below a prefix. Handlers read values by Request.PathValue and the
// pattern in Request.Pattern, which is also there for metrics and logs around
// the Router.
package router
