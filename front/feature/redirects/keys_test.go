package redirects_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/internal/mistaketest"
)

func TestRedirectIsParsedWithDefaults(t *testing.T) {
	c, err := config.Parse("weir.yaml", []byte("routes:\n- {match: '/c/{id}', redirect: {to: 'https://{request.host}/d/{id}'}}\n"+
		"- {match: /d, redirect: {to: /, status: 301, query: drop}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []*redirects.Config{
		{To: "https://{request.host}/d/{id}", Status: 307}, {To: "/", Status: 301, Query: redirects.QueryDrop}} {
		if diff := cmp.Diff(want, c.Routes[i].Redirect); diff != "" {
			t.Errorf("redirect (-want +got):\n%s", diff)
		}
	}
}

// Each case is the keys of a route with the pattern "h.example/api/{id}/{path...}" from line 4
// on, and its mistakes.
func TestRedirectMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       []string
	}{
		{"no address", "  redirect: {status: 301}\n", []string{`4:3 "redirect" has no "to"|redirect: {to: /new}`}},
		{"a status", "  redirect: {to: /x, status: 303}\n", []string{`4:30 "303"|301, 302, 307 or 308`}},
		{"a query", "  redirect: {to: /x, query: yes}\n", []string{`4:29 "yes"|keep`}},
		{"a redirect and an upstream", "  to: a\n  redirect: {to: /x}\n", []string{`5:3 second action|after "to"`}},
		{"an address of another host", "  redirect: {to: //evil.example}\n", []string{`4:18 another host`}},
		{"an address without a slash", "  redirect: {to: 'new/{id}'}\n", []string{`4:18 neither a path nor a URL`}},
		{"a parameter as a host", "  redirect: {to: 'https://{id}/x'}\n", []string{`4:27 let a request choose the host`}},
		{"a host", "  redirect: {to: 'https://u:hunter2@a/'}\n", []string{`4:18 no valid host`}},
		{"an address with a star", "  redirect: {to: '/x/*'}\n", []string{`4:22 "*"|{name}`}},
		{"an address with an unknown parameter", "  redirect: {to: '/x/{no}?a={id}&b={non}'}\n",
			[]string{`4:22 no parameter "no"`}},
		{"an address with dots", "  redirect: {to: '/x/../{id}'}\n", []string{`4:18 dot segment`}},
		{"paths of a redirect", "  redirect: {to: /x}\n  strip_prefix: /api\n",
			[]string{`5:3 only to requests that are forwarded`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := "upstreams: {a: {servers: http://a}}\nroutes:\n- match: h.example/api/{id}/{path...}\n" + c.keys
			_, err := config.Parse("weir.yaml", []byte(src), nil)
			mistaketest.Want(t, err, c.want)
		})
	}
}
