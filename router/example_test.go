package router_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"

	"github.com/weirhq/weir/router"
)

func Example() {
	r := router.New()
	r.HandleFunc("GET /users/{id:int}", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(w, "user", req.PathValue("id"))
	})
	r.HandleFunc("GET /report-{day:date}.pdf", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(w, "the report of", req.PathValue("day"))
	})
	r.HandleFunc("/{topic...}/datasets/{rest...}", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(w, "datasets of", req.PathValue("topic"), "by", req.Pattern)
	})
	fmt.Println(r) // the patterns as a tree, in the order in which they are tried
	for _, path := range []string{"/users/7", "/users/me", "/report-2024-02-29.pdf", "/economy/prices/datasets/cpi"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// (any host)
	//   users
	//     {:int} -> GET /users/{id:int}
	//   report-{:date}.pdf -> GET /report-{day:date}.pdf
	//   {...}/
	//     datasets
	//       {...} -> /{topic...}/datasets/{rest...}
	//
	// 200 user 7
	// 404 404 page not found
	// 200 the report of 2024-02-29
	// 200 datasets of economy/prices by /{topic...}/datasets/{rest...}
}

func ExampleNewTable() {
	table, err := router.NewTable(nil, []router.Entry[string]{
		{Pattern: "/{uri...}", Value: "babbage"},
		{Pattern: "GET,HEAD /datasets/{uri...}", Value: "datasets"},
		{Pattern: "/users/{id:int}", Value: "users"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var params router.Params
	for _, path := range []string{"/datasets/cpih/editions", "/users/42", "/users/me"} {
		entry, _ := table.Lookup("GET", "www.example.com", path, "", &params)
		fmt.Println(entry.Value, entry.Pattern)
		for i := range params.Len() {
			name, value := params.At(i)
			fmt.Println("  ", name, "=", value)
		}
	}
	// Output:
	// datasets GET,HEAD /datasets/{uri...}
	//    uri = cpih/editions
	// users /users/{id:int}
	//    id = 42
	// babbage /{uri...}
	//    uri = users/me
}

func ExampleMistake() {
	_, err := router.NewTable(nil, []router.Entry[int]{
		{Pattern: "/users/{id:number}"},
		{Pattern: "GET /areas/{code:hex}/map"},
		{Pattern: "/areas/{n:int}/{rest...}"},
	})
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		for _, m := range list.Unwrap() {
			fmt.Println(m)
		}
	}
	// Output:
	// pattern "/users/{id:number}": at offset 11: there is no constraint "number"; there are base64url, date, hex, int, ipv4, ipv6, slug, uint, uuid, word
	// pattern "/areas/{n:int}/{rest...}": conflicts with pattern "GET /areas/{code:hex}/map": both match "GET /areas/1/map" and neither is more specific
}

func ExampleTable_Lookup() {
	table, err := router.NewTable(nil, []router.Entry[string]{
		{Pattern: "GET /users/{id:int}", Value: "users"},
		{Pattern: "DELETE /users/{id}", Value: "removal"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var params router.Params
	for _, method := range []string{"GET", "POST"} {
		req := httptest.NewRequest(method, "http://example.com:8080/users/7", nil)
		entry, allow := table.Lookup(req.Method, req.Host, req.URL.Path, req.URL.RawPath, &params)
		switch {
		case entry != nil:
			fmt.Println(entry.Value, params.Get("id"))
		case allow != "":
			fmt.Println("405, Allow:", allow)
		default:
			fmt.Println("404")
		}
	}
	// Output:
	// users 7
	// 405, Allow: DELETE, GET, HEAD
}

func ExampleRegexp() {
	sort := router.Regexp(`asc|desc`)
	fmt.Println(sort.Match("desc"), sort.Match("descending"))
	// Output: true false
}

func ExampleCompileRegexp() {
	period, err := router.CompileRegexp(`20[0-9]{2}(-q[1-4])?`)
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := router.NewTable(
		router.Constraints{"period": period},
		[]router.Entry[string]{{Pattern: "/gdp/{p:period}", Value: "gdp"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range []string{"/gdp/2024-q2", "/gdp/2024-q5"} {
		entry, _ := table.Lookup("GET", "", path, "", nil)
		fmt.Println(path, entry != nil)
	}
	// Output:
	// /gdp/2024-q2 true
	// /gdp/2024-q5 false
}

func ExampleTable_String() {
	table, err := router.NewTable(nil, []router.Entry[int]{
		{Pattern: "/{path...}"}, {Pattern: "/{uri...}/datalist"}, {Pattern: "/datasets/{id:uuid}"},
		{Pattern: "GET /datasets/{name}"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table)
	// Output:
	// (any host)
	//   datasets
	//     {:uuid} -> /datasets/{id:uuid}
	//     {} -> GET /datasets/{name}
	//   {...}/
	//     datalist -> /{uri...}/datalist
	//   {...} -> /{path...}
}

func ExampleRoutes_Handle() {
	defer func() {
		// The panic also names both positions in the source.
		fmt.Println("refused:", recover() != nil)
	}()
	var r router.Router
	r.Handle("GET /users/{id:int}", http.NotFoundHandler())
	r.Handle("/users/{code:hex}", http.NotFoundHandler())
	// Output: refused: true
}

// Groups share a prefix and middleware, and a handler knows its route.
func ExampleRoutes_Group() {
	logged := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			fmt.Println(req.Method, req.URL, "is", req.Pattern)
			next.ServeHTTP(w, req)
		})
	}
	authorised := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Header.Get("Authorization") == "" {
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, req)
		})
	}
	var r router.Router
	api := r.Group("/api").With(logged)
	api.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "well") })
	team := api.Group("/teams/{team}").With(authorised)
	team.HandleFunc("GET /members/{id:int}", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(w, req.PathValue("id"), "of", req.PathValue("team"))
	})
	for _, path := range []string{"/api/health", "/api/teams/blue/members/7"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// GET /api/health is GET /api/health
	// 200 well
	// GET /api/teams/blue/members/7 is GET /api/teams/{team}/members/{id:int}
	// 401 who are you?
}

// Request.Pattern is a label with few values for metrics and logs. Middleware around
// the Router can read it.
func ExampleRouter_metrics() {
	r := router.New()
	r.HandleFunc("GET /users/{id:int}", func(http.ResponseWriter, *http.Request) {})
	served := map[string]int{}
	counted := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.ServeHTTP(w, req)
		served[req.Pattern]++
	})
	for _, path := range []string{"/users/1", "/users/2", "/users/me", "/.env"} {
		counted.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	fmt.Println(served)
	// Output: map[:2 GET /users/{id:int}:2]
}

// Custom handlers respond to requests without a match, and a path that is nearly right
// is redirected.
func ExampleRouter() {
	r := &router.Router{
		RedirectSlash: true,
		RedirectCase:  true,
		NotFound: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			http.Error(w, "nothing at "+req.URL.Path, http.StatusNotFound)
		}),
	}
	r.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(w, "user", req.PathValue("id"))
	})
	for _, path := range []string{"/users/Ann", "/Users/Ann/", "/people/Ann"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if to := w.Header().Get("Location"); to != "" {
			fmt.Println(w.Code, "to", to)
		} else {
			fmt.Print(w.Code, " ", w.Body)
		}
	}
	// Output:
	// 200 user Ann
	// 308 to /users/Ann
	// 404 nothing at /people/Ann
}

// A handler that reads the path itself, such as those of net/http/pprof, is mounted at
// the place that it expects.
func ExampleRoutes_Mount() {
	var debug http.ServeMux
	debug.HandleFunc("/debug/pprof/", pprof.Index)
	debug.HandleFunc("/debug/pprof/profile", pprof.Profile)
	debug.HandleFunc("/debug/pprof/trace", pprof.Trace)
	var r router.Router
	r.Mount("/debug", &debug)
	r.Mount("/files", http.StripPrefix("/files", http.FileServer(http.Dir("testdata"))))
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", "/debug/pprof/goroutine?debug=1", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 text/plain; charset=utf-8
}

// A handler for each version of a resource, and the newest for requests that do not ask
// for a version.
func ExampleRoutes_Accept() {
	version := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) { fmt.Fprintln(w, name, "of", req.PathValue("id")) }
	}
	var r router.Router
	r.Accept("application/vnd.api.v1+json").Handle("GET /users/{id}", version("version 1"))
	r.Accept("application/vnd.api.v2+json").Handle("GET /users/{id}", version("version 2"))
	r.Handle("GET /users/{id}", version("the page"))
	for _, accept := range []string{"application/vnd.api.v2+json", "application/vnd.api.v1+json, */*;q=0.5",
		"text/html"} {
		req := httptest.NewRequest("GET", "/users/7", nil)
		req.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		fmt.Print(w.Body)
	}
	// Output:
	// version 2 of 7
	// version 1 of 7
	// the page of 7
}

func ExampleRouter_URL() {
	var r router.Router
	r.Group("/users").Name("user").Handle("GET /{id:int}", http.NotFoundHandler())
	r.Name("file").Handle("files.example.com/{path...}", http.NotFoundHandler())
	fmt.Println(r.URL("user", "id", "42"))
	fmt.Println(r.URL("file", "path", "reports/2024 q1.pdf"))
	fmt.Println(r.URL("user", "id", "me"))
	// Output:
	// /users/42 <nil>
	// //files.example.com/reports/2024%20q1.pdf <nil>
	//  route "user", GET /users/{id:int}: parameter "id": the constraint int does not accept "me"
}

func ExampleRouter_Walk() {
	var r router.Router
	api := r.Group("/api")
	api.Name("users").Handle("GET /users", http.NotFoundHandler())
	api.Accept("text/csv").Handle("GET /report", http.NotFoundHandler())
	err := r.Walk(func(route router.Route) error {
		_, err := fmt.Printf("%s name=%q accept=%q\n", route.Pattern, route.Name, route.Accept)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// GET /api/users name="users" accept=""
	// GET /api/report name="" accept="text/csv"
}

func ExampleRouter_String() {
	var r router.Router
	api := r.Group("/api")
	api.Handle("GET /users/{id:int}", http.NotFoundHandler())
	api.Handle("GET,POST /users", http.NotFoundHandler())
	r.Mount("/debug", http.NotFoundHandler())
	fmt.Println(&r)
	// Output:
	// (any host)
	//   api
	//     users -> GET,POST /api/users
	//       {:int} -> GET /api/users/{id:int}
	//   debug -> /debug
	//     {...} -> /debug/
}
