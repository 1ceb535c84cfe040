package upstreams_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/statuses"
)

func TestStatusesOfHealthAndOutliersAreParsed(t *testing.T) {
	c, err := config.Parse("weir.yaml", []byte(`upstreams:
  a: {servers: http://a, health: {path: /, status: [2xx, 404]}, outliers: {status: [429, 500-503]}}
  b: {servers: http://b, health: /, outliers: true}
  c: {servers: http://c}
routes: [{match: /, to: a}, {match: /b, to: b}, {match: /c, to: c}]
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := c.Upstreams[0], c.Upstreams[1]
	got := []statuses.Set{a.Health.Status, a.Outliers.Status, b.Health.Status, b.Outliers.Status, c.Upstreams[2].Outliers.Status}
	want := []statuses.Set{{{First: 200, Last: 299}, {First: 404, Last: 404}}, {{First: 429, Last: 429}, {First: 500, Last: 503}},
		{{First: 200, Last: 399}}, {{First: 502, Last: 504}}, nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
