package router_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/weirhq/weir/router"
)

func Example() {
	r := router.New()
	r.Constrain("code", router.Regexp(`^[A-Z]{3}[0-9]+$`))
	r.HandleFunc("GET /areas/{area:code}", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(w, "area", req.PathValue("area"))
	})
	r.HandleFunc("/{topic...}/datasets/{rest...}", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(w, "datasets of", req.PathValue("topic"))
	})
	for _, path := range []string{"/areas/EDN9", "/areas/edinburgh", "/economy/prices/datasets/cpi"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 area EDN9
	// 404 404 page not found
	// 200 datasets of economy/prices
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
		m := lookup(table, "GET", "www.example.com", path, &params)
		fmt.Println(m.Value, m.Pattern)
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

func ExampleMistakes() {
	_, err := router.NewTable(nil, []router.Entry[int]{
		{Pattern: "/users/{id:number}"},
		{Pattern: "GET /areas/{code:hex}/map"},
		{Pattern: "/areas/{n:int}/{rest...}"},
	})
	var mistakes router.Mistakes
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			fmt.Println(m)
		}
	}
	// Output:
	// pattern "/users/{id:number}": at offset 11: there is no constraint "number"; there are base64url, date, hex, int, ipv4, ipv6, slug, uint, uuid, word
	// pattern "/areas/{n:int}/{rest...}": conflicts with pattern "GET /areas/{code:hex}/map": both match "GET /areas/1/map" and neither is more specific
}

func ExampleTable_Lookup() {
	table, err := router.NewTable(nil, []router.Entry[string]{
		{Pattern: "GET /reports/{id}", Value: "show"},
		{Pattern: "DELETE /reports/{id}", Value: "remove"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := lookup(table, "POST", "", "/reports/7", nil)
	fmt.Println(m.Found, m.Allow)
	// Output: false DELETE, GET, HEAD
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
	fmt.Println(lookup(table, "GET", "", "/gdp/2024-q2", nil).Found, lookup(table, "GET", "", "/gdp/2024-q5", nil).Found)
	// Output: true false
}

func ExampleTable_String() {
	table, err := router.NewTable(nil, []router.Entry[int]{
		{Pattern: "/{path...}"}, {Pattern: "/{uri...}/datalist"}, {Pattern: "/datasets/{id:uuid}"}, {Pattern: "GET /datasets/{name}"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(table)
	// Output:
	// (any host)
	//   datasets
	//     {:uuid} -> /datasets/{id:uuid}
	//     {} -> GET /datasets/{name}
	//   {...}/
	//     datalist -> /{uri...}/datalist
	//   {...} -> /{path...}
}

func ExampleRouter_Handle() {
	defer func() {
		// The panic names both places in the source as well.
		fmt.Println("refused:", recover() != nil)
	}()
	r := router.New()
	r.Handle("GET /users/{id:int}", http.NotFoundHandler())
	r.Handle("/users/{code:hex}", http.NotFoundHandler())
	// Output: refused: true
}
