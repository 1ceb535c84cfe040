package router_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/weirhq/weir/router"
)

func ExampleAny() {
	edition := router.Any(router.Date, router.Regexp(`latest`))
	fmt.Println(edition.Match("2024-02-29"), edition.Match("latest"), edition.Match("2024-02-30"))
	// Output: true true false
}

func ExampleAll() {
	r := router.New()
	r.Constrain("page", router.All(router.Uint, router.Range(1, 500)))
	r.Constrain("title", router.All(router.Slug, router.Length(3, 20)))
	r.HandleFunc("GET /articles/{title:title}/{n:page}", func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintln(w, req.PathValue("title"), "page", req.PathValue("n"))
	})
	for _, path := range []string{"/articles/spring-budget/12", "/articles/spring-budget/501", "/articles/x/1"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 spring-budget page 12
	// 404 404 page not found
	// 404 404 page not found
}

func ExampleRange() {
	month := router.Range(1, 12)
	fmt.Println(month.Match("12"), month.Match("02"), month.Match("13"))
	// Output: true true false
}

func ExampleLength() {
	name := router.Length(2, 4)
	fmt.Println(name.Match("日本語"), name.Match("a"), name.Match("abcde"))
	// Output: true false false
}
