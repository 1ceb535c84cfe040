package rewrite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/rewrite"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// parse parses a configuration with a route for h.example/api/{id}/{path...} with keys from line 4 on.
func parse(keys string) (*config.Config, error) {
	return configtest.ParseRoute("h.example/api/{id}/{path...}", keys)
}

func TestRewriteIsParsed(t *testing.T) {
	for _, c := range []struct {
		keys string
		want rewrite.Config
	}{
		{"  to: a\n  strip_prefix: /api\n  add_prefix: /v2\n", rewrite.Config{StripPrefix: "/api", AddPrefix: "/v2"}},
		{"  to: a\n  rewrite: /c?id={id}\n", rewrite.Config{To: "/c?id={id}"}},
	} {
		got, err := parse(c.keys)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got.Routes[0].Rewrite); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.keys, diff)
		}
	}
}

func TestRewriteMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       []string
	}{
		{"a prefix that is not there", "  to: a\n  strip_prefix: /ap\n",
			[]string{`5:17 also matches paths that do not begin with "/ap"|/ap/{path...}`}},
		{"a prefix that ends in a slash", "  to: a\n  strip_prefix: /api/\n  add_prefix: v2\n",
			[]string{`5:17 "/api/" is not a prefix|/api`, `6:15 "v2" is not a prefix`}},
		{"prefixes with parameters", "  to: a\n  strip_prefix: /api/{id}\n  add_prefix: /{id}\n",
			[]string{`5:22 no parameters|rewrite: /new/{id}`, `6:16 no parameters`}},
		{"ambiguous prefixes", "  to: a\n  strip_prefix: /api/..\n  add_prefix: //a\n",
			[]string{`5:17 dot segment`, `6:15 "//a" is not a prefix`}},
		{"empty texts", "  to: a\n  strip_prefix: ''\n  add_prefix: ''\n  rewrite: ''\n",
			[]string{`5:17 empty`, `6:15 empty`, `7:12 empty`}},
		{"a rewrite and a prefix", "  to: a\n  rewrite: /x\n  add_prefix: /v2\n",
			[]string{`5:12 prefixes or a rewrite|one of them`}},
		{"rewrites", "  to: a\n  rewrite: '{path}'\n", []string{`5:12 does not begin with a slash|/new/{id}`}},
		{"a rewrite to a host", "  to: a\n  rewrite: '//{path}'\n", []string{`5:12 empty segment`}},
		{"a rewrite with dots", "  to: a\n  rewrite: '/{id}/../x'\n", []string{`5:12 dot segment`}},
		{"a rewrite with a fragment", "  to: a\n  rewrite: '/{id}#x'\n", []string{`5:18 fragment|%23`}},
		{"a rewrite with a star", "  to: a\n  rewrite: /x/*\n", []string{`5:15 "*"|{name}`}},
		{"variables of nginx", "  to: a\n  rewrite: /x/$1\n" +
			"  request_headers: {set: {A: 'from $remote_addr', B: '$ $$$$x $5 %24'}}\n  response_headers: {add: {C: $host}}\n",
			[]string{`5:15 $1 is text|{name}|%24`, `6:36 $remote_addr is text|{client.address}`, `7:31 $host|{request.host}`}},
		{"a rewrite with an unknown parameter", "  to: a\n  rewrite: '/x/{it}?y={paht}'\n",
			[]string{`5:16 no parameter "it"`}},
		{"a rewrite with a misspelt parameter", "  to: a\n  rewrite: '/x?y={paht}'\n",
			[]string{`5:18 no parameter "paht"|did you mean {path}?`}},
		{"a rewrite of no upstream", "  respond: {status: 200}\n  rewrite: /x\n  request_headers: {set: {A: b}}\n",
			[]string{`5:3 "rewrite" applies only to requests that are forwarded|with to`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(c.keys)
			mistaketest.Want(t, err, c.want)
		})
	}
}
