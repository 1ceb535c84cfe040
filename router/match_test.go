package router_test

import (
	"testing"

	"github.com/weirhq/weir/router"
)

func TestMatchAgreesWithServing(t *testing.T) {
	r := newRouter("GET /users/{a:int}", "/files/{a...}", "/tree/", "POST /own", "/page")
	r.Name("named").Handle("GET example.com/users/{a}", echo("named"))
	r.Accept("text/html").Handle("GET /versions", echo("html"))
	r.RedirectSlash = true
	for _, c := range []struct {
		request, accept string
		want            router.Route // zero if there is no match
	}{
		{"GET /users/7", "", router.Route{Pattern: "GET /users/{a:int}"}},
		{"HEAD /users/7", "", router.Route{Pattern: "GET /users/{a:int}"}},
		{"GET example.com:80/users/me", "", router.Route{Pattern: "GET example.com/users/{a}", Name: "named"}},
		{"GET /files/x/%2e%2Ey", "", router.Route{Pattern: "/files/{a...}"}},
		{"GET /versions", "", router.Route{Pattern: "GET /versions", Accept: "text/html"}},
		{"GET /versions", "text/plain", router.Route{}}, // 406
		{"GET /users/me", "", router.Route{}},           // 404
		{"PUT /users/7", "", router.Route{}},            // 405
		{"OPTIONS /own", "", router.Route{}},            // 204
		{"GET /tree", "", router.Route{}},               // 307 to /tree/
		{"GET /files/../page", "", router.Route{}},      // 307 to /page
		{"GET /page/", "", router.Route{}},              // 308 to /page
	} {
		req := newRequest(c.request)
		if c.accept != "" {
			req.Header.Set("Accept", c.accept)
		}
		got, ok := r.Match(req)
		if got != c.want || ok != (c.want.Pattern != "") {
			t.Errorf("%s: got %+v and %t, want %+v", c.request, got, ok, c.want)
		}
		if req.Pattern != "" || req.PathValue("a") != "" {
			t.Errorf("%s: Match left the pattern %q in the request", c.request, req.Pattern)
		}
		if served := answerTo(r, req); ok != (served[:3] == "200") {
			t.Errorf("%s: Match returns %t, and the request is served: %s", c.request, ok, served)
		}
	}
}
