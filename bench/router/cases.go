package router

import "github.com/weirhq/weir/bench/measure"

// The names of the cases.
const (
	Static            = "router: 176 routes without parameters"
	GitHub            = "router: 294 routes of GitHub's API, every parameter read"
	GitHubStandard    = "router: the same through an http.Handler"
	GitHubUnread      = "router: 294 routes of GitHub's API through an http.Handler, no parameter read"
	GitHubParallel    = "router: the same from all processors at once"
	GooglePlus        = "router: 13 routes of Google+, every parameter read"
	Parse             = "router: 26 routes of Parse, every parameter read"
	Constrained       = "router: /static/{uuid}/{ipv4} and swapped, both read"
	ConstrainedMisses = "router: paths that miss the constrained routes, lookup only"
	NotFound          = "router: paths that none of GitHub's routes matches, lookup only"
	NotAllowed        = "router: methods that GitHub's routes do not take, lookup only"
	CatchAll10        = "router: a catch-all of 10 segments, read"
	CatchAll100       = "router: a catch-all of 100 segments, read"
	CatchAll1000      = "router: a catch-all of 1,000 segments, read"
	CatchAll10000     = "router: a catch-all of 10,000 segments, read"
	NotFound10        = "router: not found, 10 segments, lookup only"
	NotFound100       = "router: not found, 100 segments, lookup only"
	NotFound1000      = "router: not found, 1,000 segments, lookup only"
	NotFound10000     = "router: not found, 10,000 segments, lookup only"
	Params1           = "router: 1 parameter, read"
	Params5           = "router: 5 parameters, all read"
	Params20          = "router: 20 parameters, all read"
	Routes10          = "router: 10 routes, every parameter read"
	Routes100         = "router: 100 routes, every parameter read"
	Routes1000        = "router: 1,000 routes, every parameter read"
	Routes10000       = "router: 10,000 routes, every parameter read"
	Unread10000       = "router: 10,000 routes through an http.Handler, no parameter read"
)

// A comparison is a case before it is opened.
type comparison struct {
	name     string
	set      func() set
	rows     []contender
	parallel bool
}

func comparisons() []comparison {
	var (
		// The other routers of native have no constraints.
		constraints = []contender{weirTable, weirRouter, chiNative, foxNative, gorillaNative, violetearNative}
		misses      = []contender{weirTable, chiLookup, foxLookup, gorillaLookup, noted(violetearNative, "ServeHTTP")}
		// Echo treats some of these paths as known paths with a wrong method, because the last parameter of its
		// patterns matches the rest of the path.
		wrongPaths = without(lookups, "echo")
		// Denco does not detect a wrong method, and bunrouter responds with 404 if the path has a parameter. The
		// lookups of httprouter and fox do not search other methods.
		wrongMethods = append(without(lookups, "denco", "bunrouter", "httprouter", "fox"),
			noted(httprouterNative, "ServeHTTP"), noted(foxNative, "ServeHTTP"))
	)
	return []comparison{
		{name: Static, set: func() set { return reaching(newRoutes(staticRoutes)) }, rows: native},
		{name: GitHub, set: github, rows: native},
		{name: GitHubStandard, set: github, rows: standard},
		{name: GitHubUnread, set: func() set { return unread(github()) }, rows: fresh},
		{name: GitHubParallel, set: github, rows: native, parallel: true},
		{name: GooglePlus, set: func() set { return reaching(newRoutes(gplusRoutes)) }, rows: native},
		{name: Parse, set: func() set { return reaching(newRoutes(parseRoutes)) }, rows: native},
		{name: Constrained, set: constrained, rows: constraints},
		{name: ConstrainedMisses, set: constrainedMisses, rows: misses},
		{name: NotFound, set: githubMisses, rows: wrongPaths},
		{name: NotAllowed, set: githubWrongMethods, rows: wrongMethods},
		{name: CatchAll10, set: func() set { return rest(10) }, rows: native},
		{name: CatchAll100, set: func() set { return rest(100) }, rows: native},
		{name: CatchAll1000, set: func() set { return rest(1000) }, rows: native},
		{name: CatchAll10000, set: func() set { return rest(10_000) }, rows: native},
		{name: NotFound10, set: func() set { return missingLong(10) }, rows: lookups},
		{name: NotFound100, set: func() set { return missingLong(100) }, rows: lookups},
		{name: NotFound1000, set: func() set { return missingLong(1000) }, rows: lookups},
		{name: NotFound10000, set: func() set { return missingLong(10_000) }, rows: lookups},
		{name: Params1, set: func() set { return parameters(1) }, rows: native},
		{name: Params5, set: func() set { return parameters(5) }, rows: native},
		{name: Params20, set: func() set { return parameters(20) }, rows: native},
		{name: Routes10, set: func() set { return mixedSet(10) }, rows: native},
		{name: Routes100, set: func() set { return mixedSet(100) }, rows: native},
		{name: Routes1000, set: func() set { return mixedSet(1000) }, rows: native},
		{name: Routes10000, set: func() set { return mixedSet(10_000) }, rows: native},
		{name: Unread10000, set: func() set { return unread(reaching(mixed(10_000))) }, rows: fresh},
	}
}

func github() set { return reaching(newRoutes(githubRoutes)) }

// Cases returns the comparisons. An operation is one request.
func Cases() []measure.Case {
	var cases []measure.Case
	for _, c := range comparisons() {
		cases = append(cases, measure.Case{Name: c.name, Open: c.open, Parallel: c.parallel})
	}
	return cases
}

func (c comparison) open() ([]measure.Row, error) {
	s := c.set()
	var rows []measure.Row
	for _, peer := range c.rows {
		visit, err := peer.open(s)
		if err != nil {
			return nil, err
		}
		row := measure.Row{Name: peer.name, Note: peer.note, Ours: peer.ours}
		if c.parallel {
			row.Run = atOnce(visit, s)
		} else {
			row.Run = inTurn(visit(newVisitor(s)), 0, len(s.requests))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Build is the name of the case of Makings.
const Build = "router: building 10,000 routes"

// Makings returns functions that build each router with 10,000 routes. The patterns are prepared in each router's
// syntax, and the handlers do nothing. Bunrouter is left out because it takes seconds, 600 times as long as chi, and
// gorilla/mux because it compiles an expression for each route.
func Makings() []measure.Making {
	routes := mixed(10_000)
	return []measure.Making{
		{Name: WeirTable, Make: prepareTable(routes)},
		{Name: WeirRouter, Make: prepareRouter(routes)},
		{Name: Chi, Make: prepareChi(routes)},
		{Name: "httprouter", Make: prepareHTTPRouter(routes)},
		{Name: "gin", Make: prepareGin(routes)},
		{Name: "echo", Make: prepareEcho(routes)},
		{Name: "fox", Make: prepareFox(routes)},
		{Name: "denco", Make: prepareDenco(routes)},
		{Name: ServeMux, Make: prepareServeMux(routes)},
	}
}

// Chi is the peer for the comparison of building.
const Chi = "chi"
