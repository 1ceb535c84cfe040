package router

// A contender opens a set: it registers the routes and returns how to send a request.
type contender struct {
	name, note string
	ours       bool
	open       func(s set) (visiting, error)
}

// The names of Weir's rows.
const (
	WeirTable  = "weir Table"
	WeirRouter = "weir Router"
)

// ServeMux is the peer for the comparison of http.Handler.
const ServeMux = "net/http ServeMux"

// The rows with each router's own type of handler, or its lookup if it has no handlers.
var (
	weirTable  = contender{WeirTable, "Lookup", true, openTable}
	weirRouter = contender{WeirRouter, "", true, openRouter}

	httprouterNative = contender{"httprouter", "", false, openHTTPRouter}
	bunrouterNative  = contender{"bunrouter", "", false, openBunrouter}
	chiNative        = contender{"chi", "URLParam", false, openChi}
	ginNative        = contender{"gin", "", false, openGin}
	echoNative       = contender{"echo", "", false, openEcho}
	foxNative        = contender{"fox", "", false, openFox}
	dencoNative      = contender{"denco", "Lookup, a router for each method", false, openDenco}
	serveMux         = contender{ServeMux, "", false, openServeMux}
	gorillaNative    = contender{"gorilla/mux", "", false, openGorilla}
	violetearNative  = contender{"violetear", "", false, openVioletear}

	native = []contender{weirTable, weirRouter, httprouterNative, bunrouterNative, chiNative, ginNative, echoNative,
		foxNative, dencoNative, serveMux}
)

// The rows with an http.Handler.
var standard = []contender{
	weirRouter,
	{ServeMux, "PathValue", false, openServeMuxFresh},
	{"httprouter", "Handler, parameters in the context", false, openHTTPRouterStandard},
	{"bunrouter", "HTTPHandlerFunc, parameters in the context", false, openBunrouterStandard},
	{"chi", "PathValue", false, openChiPathValue},
	chiNative,
	{"fox", "WrapF, parameters in the context", false, openFoxStandard},
	{"gorilla/mux", "Vars", false, openGorilla},
}

// The rows that get a new request each time and read nothing from it, to show the cost of the router itself.
var fresh = []contender{
	weirRouter,
	{ServeMux, "", false, openServeMuxFresh},
	{"gin", "", false, openGinFresh},
}

// The rows for paths without a route. Those of "lookup only" make a lookup call if there is one.
var (
	httprouterLookup = contender{"httprouter", "Lookup", false, lookupHTTPRouter}
	chiLookup        = contender{"chi", "Match", false, lookupChi}
	echoLookup       = contender{"echo", "Router.Find", false, lookupEcho}
	foxLookup        = contender{"fox", "Match", false, lookupFox}
	serveMuxLookup   = contender{ServeMux, "Handler", false, lookupServeMux}
	gorillaLookup    = contender{"gorilla/mux", "Match", false, lookupGorilla}

	lookups = []contender{
		weirTable, httprouterLookup, noted(bunrouterNative, "ServeHTTP"), chiLookup, noted(ginNative,
			"ServeHTTP"), echoLookup, foxLookup,
		dencoNative, serveMuxLookup,
	}
)

// noted returns c with a note.
func noted(c contender, note string) contender {
	c.note = note
	return c
}

// without returns all contenders except those with the names.
func without(all []contender, names ...string) []contender {
	var left []contender
next:
	for _, c := range all {
		for _, name := range names {
			if c.name == name {
				continue next
			}
		}
		left = append(left, c)
	}
	return left
}

// paths returns the routes' paths in a peer's syntax.
func paths(routes []route, segment, rest func(name string) string) []string {
	out := make([]string, len(routes))
	for i, r := range routes {
		out[i] = r.rewrite(segment, rest)
	}
	return out
}

// The syntaxes of parameters and of the rest of a path.
func colon(name string) string  { return ":" + name }
func star(name string) string   { return "*" + name }
func alone(string) string       { return "*" }
func braces(name string) string { return "{" + name + "}" }

// expressions are the shapes of constrained parameters for routers without another notation.
var expressions = map[string]string{
	"uuid": `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`,
	"ipv4": `(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])`,
}

// braced returns a parameter in braces, with its expression if the set has constraints.
func (s set) braced(name string) string {
	if s.constrained {
		return "{" + name + ":" + expressions[name] + "}"
	}
	return braces(name)
}
