package stage_test

import (
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/weirhq/weir/front/stage"
)

// FuzzParameters compares the parameters of a query with those of net/url.
func FuzzParameters(f *testing.F) {
	for _, s := range []string{"", "a", "a=1&b=2&a=3", "a+b=%2B", "%zz=1&a=%", "a;b=1&c", "&&=&=1&a=", "%C3%BC=%26%3D"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		x := &stage.Exchange{Query: query}
		got := url.Values{}
		for _, p := range x.Parameters() {
			got.Add(p.Name, p.Value)
		}
		want, _ := url.ParseQuery(query) // an error is about parameters that are left out
		if !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	})
}
