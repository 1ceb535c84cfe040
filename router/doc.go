// Package router finds the pattern, among many, that matches a request.
//
// [Table] is the engine: an immutable set of patterns that maps method, host and path
// to a value of any type and to the parameters in the path. It does not depend on
// net/http, goroutines may share it, and a lookup does not allocate. [Router] is an
// http.Handler on top of it, to use in place of http.ServeMux. Choose Router to serve
// handlers, and Table to route anything else, such as the exchanges of a proxy.
//
// # Patterns
//
// Patterns have the syntax of net/http since Go 1.22, with a few extensions:
//
//	[METHOD[,METHOD...] ][HOST]/[PATH]
//
//	/census                    this path only
//	GET,HEAD /census           for two methods
//	example.com/census         for one host, in any case, on any port
//	*.example.com/census       for all hosts with one label before example.com
//	{tenant}.example.com/      the same with a name, possibly with a constraint
//	{sub...}.example.com/      one or more labels
//	/datasets/{id}             {id} is one non-empty segment
//	/static/{id:uuid}          one segment that the constraint uuid accepts
//	/report-{id:int}.pdf       one segment with text around the parameter
//	/datasets/{uri...}         everything after the slash, possibly nothing
//	/datasets/                 the same without a name
//	/datasets/{$}              /datasets/ and nothing below it
//	/{topic...}/datasets/{id}  one or more segments in the middle of a path
//
// A wildcard is the whole first label of a host. As in a TLS certificate, * matches one
// label, of up to 63 letters, digits, - and _. Its value is in lower case, and a label
// in Unicode has the form of an A-label.
//
// The constraints uuid, ipv4, ipv6, int, uint, hex, slug, word, date and base64url are
// built in. [Range], [Length], [Any], [All] and [Regexp] make others, which
// [Router.Constrain] or [Constraints] name.
//
// Paths are split while still escaped, and each segment is unescaped once: /d%61ta is
// /data, and the slash in a%2Fb does not separate segments. A GET pattern serves HEAD
// unless another pattern with the same path names HEAD.
//
// # Precedence
//
// If several patterns match, the following rules select one. The order of registration
// does not matter.
//
//  1. Hosts without a wildcard precede hosts with one, and both precede patterns
//     without a host. Of two wildcards, the longer suffix precedes, then one label
//     before several, then a constraint.
//  2. Then the first segment that the patterns match differently decides: literals
//     precede parameters, and parameters precede {x...}. Of two parameters, the longer
//     prefix precedes, then the longer suffix, then a constraint. A wildcard in the
//     middle takes as few segments as
//     possible.
//  3. A pattern with methods precedes one without.
//
// If a pattern does not match after all, because of a later segment or its method, the
// next one is tried. Two patterns that these rules cannot order are a conflict, which
// is rejected with a request that both match.
//
// # Bounds
//
// A lookup takes at most segments(path) × nodes(tree) steps for any patterns and path.
// The number of hosts does not matter. A lookup does not recurse: its stack has at most
// one frame for each segment of the longest pattern. It does not read the part of a path
// that a wildcard at the end takes.
//
// # For net/http
//
// [Routes.Group], [Routes.With], [Routes.Accept] and [Routes.Name] return places to
// register handlers: below a prefix, wrapped in middleware, for a media type, with a
// name from which [Router.URL] builds a path. [Routes.Guard] wraps all responses below
// a prefix in middleware. [Routes.Mount] gives a handler everything below a prefix.
// Handlers read values with Request.PathValue and the pattern from Request.Pattern,
// which middleware around the Router can also use for metrics and logs.
package router
