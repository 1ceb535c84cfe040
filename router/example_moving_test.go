package router_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/weirhq/weir/router"
)

// The code of docs/router-moving.md. A test finds every snippet of that page in
// this file.

// The most common calls of chi's users and their equivalents.
func Example_fromChi() {
	var h http.Handler = http.HandlerFunc(show)
	r := router.New()
	r.NotFound = http.HandlerFunc(lost)
	r.HandleFunc("GET /users/{id}", show)
	r.Handle("PUT /users/{id}", h)
	r.HandleFunc("GET /orders/{id:uint}", show)

	r.Constrain("code", router.Regexp("[A-Z]{3}[0-9]+"))
	r.HandleFunc("GET /areas/{id:code}", show)

	r.HandleFunc("GET /files/{path...}", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(w, "file", req.PathValue("path"))
	})

	api := r.Group("/api").With(logged)
	api.HandleFunc("GET /status", show)
	private := api.With(authorised)
	private.HandleFunc("GET /users/{id}", show)

	r.Mount("/debug", h)

	tenants := r.Group("{tenant}.example.com")
	tenants.HandleFunc("GET /home", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(w, "tenant", req.PathValue("tenant"))
	})

	// Middleware for every request, those that find nothing included.
	ask(traced(r), "GET /users/7", "HEAD /users/7", "GET /orders/x", "GET /areas/EDN9", "GET /files/a/b.txt",
		"GET /api/users/7", "GET http://shop.example.com/home", "GET /none")
	// Output:
	// GET /users/7: 200 traced user 7 by GET /users/{id}
	// HEAD /users/7: 200 traced user 7 by GET /users/{id}
	// GET /orders/x: 404 traced lost
	// GET /areas/EDN9: 200 traced user EDN9 by GET /areas/{id:code}
	// GET /files/a/b.txt: 200 traced file a/b.txt
	// GET /api/users/7: 200 traced logged authorised user 7 by GET /api/users/{id}
	// GET http://shop.example.com/home: 200 traced tenant shop
	// GET /none: 404 traced lost
}

// Several values in one segment: one parameter, which the handler splits.
func Example_severalValuesInOneSegment() {
	r := router.New()
	r.Constrain("span", router.Regexp(`[0-9]{4}-[0-9]{4}`))
	r.HandleFunc("GET /gdp/{years:span}", func(w http.ResponseWriter, req *http.Request) {
		from, to, _ := strings.Cut(req.PathValue("years"), "-")
		fmt.Fprintln(w, "from", from, "to", to)
	})
	ask(r, "GET /gdp/1999-2024", "GET /gdp/1999")
	// Output:
	// GET /gdp/1999-2024: 200 from 1999 to 2024
	// GET /gdp/1999: 404 404 page not found
}

// A guard wraps all responses of a group, including 404, 405 and those to OPTIONS.
func Example_guardedGroup() {
	r := router.New()
	admin := r.Group("/admin")
	admin.Guard(authorised)
	admin.HandleFunc("GET /accounts/{id}", show)
	ask(r, "GET /admin/accounts/7", "GET /admin/none", "GET /none")
	// Output:
	// GET /admin/accounts/7: 200 authorised user 7 by GET /admin/accounts/{id}
	// GET /admin/none: 404 authorised 404 page not found
	// GET /none: 404 404 page not found
}

// A router below another one has complete patterns and its own settings.
func Example_routerBelowRouter() {
	r := router.New()
	inner := router.New()
	admin := inner.Group("/admin").With(authorised)
	admin.HandleFunc("GET ", show)
	admin.HandleFunc("GET /accounts/{id}", show)
	r.Mount("/admin", inner)
	inner.RedirectSlash = true
	ask(r, "GET /admin", "GET /admin/accounts/7", "GET /admin/accounts/7/")
	// Output:
	// GET /admin: 200 authorised user by GET /admin
	// GET /admin/accounts/7: 200 authorised user 7 by GET /admin/accounts/{id}
	// GET /admin/accounts/7/: 308 to /admin/accounts/7
}

// Options for defaults of httprouter: redirects for a final slash and for letters of
// the wrong case.
func Example_fromHTTPRouter() {
	r := router.New()
	r.RedirectSlash = true
	r.RedirectCase = true
	r.Panic = func(w http.ResponseWriter, req *http.Request, value any) {
		http.Error(w, fmt.Sprint(value), http.StatusInternalServerError)
	}
	r.HandleFunc("GET /users/{id}", show)
	r.HandleFunc("GET /users/me", func(http.ResponseWriter, *http.Request) { panic("nobody") })
	r.Handle("GET /src/{path...}", http.StripPrefix("/src", http.FileServer(http.Dir("testdata"))))
	ask(r, "GET /users/7", "GET /users/me", "GET /USERS/7/", "GET /users/a%2Fb", "OPTIONS /users/7", "DELETE /users/7")
	// Output:
	// GET /users/7: 200 user 7 by GET /users/{id}
	// GET /users/me: 500 nobody
	// GET /USERS/7/: 308 to /users/7
	// GET /users/a%2Fb: 200 user a/b by GET /users/{id}
	// OPTIONS /users/7: 204 allow GET, HEAD, OPTIONS
	// DELETE /users/7: 405 Method Not Allowed allow GET, HEAD, OPTIONS
}

// httprouter responds with 404 to an unknown method if HandleMethodNotAllowed is false.
func Example_methodsAreNotFound() {
	r := router.New()
	r.MethodNotAllowed = http.NotFoundHandler()
	r.HandleFunc("GET /users/{id}", show)
	ask(r, "DELETE /users/7")
	// Output: DELETE /users/7: 404 404 page not found allow GET, HEAD, OPTIONS
}

// httprouter's Lookup without a request is a Table.
func Example_lookupWithoutRequest() {
	table, err := router.NewTable(nil, []router.Entry[http.HandlerFunc]{
		{Pattern: "GET /users/{id}", Value: show},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var params router.Params
	entry, allow := table.Lookup("GET", "", "/users/7", "", &params)
	fmt.Println(entry.Pattern, params.Get("id"), allow == "")
	// Output: GET /users/{id} 7 true
}

// violetear's routes by method list, constraint, media type and name.
func Example_fromVioletear() {
	r := router.New()
	r.Constrain("code", router.Regexp("[A-Z]{3}"))
	r.HandleFunc("GET /ping/{ip:ipv4}", show)
	r.HandleFunc("GET,PUT /areas/{id:code}", show)
	r.HandleFunc("/pairs/{a:uuid}/{b:uuid}", show)
	r.HandleFunc("/static/{path...}", show)
	r.HandleFunc("/{path...}", lost)

	r.Accept("application/vnd.api.v1+json").HandleFunc("/secret", show)
	r.HandleFunc("/secret", show) // for everybody else

	r.Name("user").HandleFunc("GET /users/{id}", show)
	r.With(logged, authorised).HandleFunc("GET /chain/{id}", show)
	ask(r, "GET /areas/EDN", "GET /areas/x", "GET /static", "GET /chain/1")
	fmt.Println(r.URL("user", "id", "7"))
	// Output:
	// GET /areas/EDN: 200 user EDN by GET,PUT /areas/{id:code}
	// GET /areas/x: 404 lost
	// GET /static: 307 to /static/
	// GET /chain/1: 200 logged authorised user 1 by GET /chain/{id}
	// /users/7 <nil>
}

// gin's and echo's groups with middleware.
func Example_groupBehindMiddleware() {
	r := router.New()
	private := r.Group("/api").With(authorised)
	private.HandleFunc("GET /users/{id}", show)
	ask(r, "GET /api/users/7")
	// Output: GET /api/users/7: 200 authorised user 7 by GET /api/users/{id}
}

// Walk returns all routes in the order of registration, and Println in the order of a
// lookup.
func Example_listsOfRoutes() {
	r := router.New()
	r.HandleFunc("GET /users/{id}", show)
	r.HandleFunc("GET /users/me", show)
	f := func(route router.Route) error {
		fmt.Println(route.Pattern)
		return nil
	}
	if err := r.Walk(f); err != nil {
		fmt.Println(err)
	}
	fmt.Println(r)
	// Output:
	// GET /users/{id}
	// GET /users/me
	// (any host)
	//   users
	//     me -> GET /users/me
	//     {} -> GET /users/{id}
}

// A handler that returns an error, as in echo, is a type with one method.
func Example_handlersThatReturnErrors() {
	r := router.New()
	r.Handle("GET /users/{id}", failing(func(w http.ResponseWriter, req *http.Request) error {
		return fmt.Errorf("there is no user %s", req.PathValue("id"))
	}))
	ask(r, "GET /users/7")
	// Output: GET /users/7: 500 there is no user 7
}

type failing func(w http.ResponseWriter, req *http.Request) error

func (f failing) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if err := f(w, req); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// To abort, middleware responds and does not call the next handler. It passes values to
// the handler in the context.
func Example_abort() {
	type userKey struct{}
	known := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			user := req.Header.Get("X-User")
			if user == "" {
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), userKey{}, user)))
		})
	}
	r := router.New()
	r.With(known).HandleFunc("GET /users/{id}", show)
	ask(r, "GET /users/7")
	// Output: GET /users/7: 401 who are you?
}

func show(w http.ResponseWriter, req *http.Request) {
	fmt.Fprintln(w, "user", req.PathValue("id"), "by", req.Pattern)
}

func lost(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprintln(w, "lost")
}

var traced, logged, authorised = marked("traced"), marked("logged"), marked("authorised")

// marked returns middleware that records its name for ask.
func marked(name string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			w.Header().Add("Seen-By", name)
			next.ServeHTTP(w, req)
		})
	}
}

// ask prints the responses to some requests.
func ask(h http.Handler, requests ...string) {
	for _, request := range requests {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		said := append([]string{fmt.Sprint(w.Code)}, w.Header()["Seen-By"]...)
		if to := w.Header().Get("Location"); to != "" {
			said = append(said, "to", to)
		} else {
			said = append(said, strings.Fields(w.Body.String())...)
		}
		if allow := w.Header().Get("Allow"); allow != "" {
			said = append(said, "allow", allow)
		}
		fmt.Printf("%s: %s\n", request, strings.Join(said, " "))
	}
}
