package split_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/split"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// parse parses a configuration with the upstreams a and b and a route with keys from line 4 on.
func parse(keys string) (*config.Config, error) { return configtest.ParseRoute("/", keys) }

// parseRoute parses a configuration without mistakes, and returns its route.
func parseRoute(t *testing.T, keys string) config.Route {
	t.Helper()
	c, err := parse(keys)
	if err != nil {
		t.Fatal(err)
	}
	return c.Routes[0]
}

func TestSplitAndStickySplitAreParsed(t *testing.T) {
	got := parseRoute(t, "  split: [{to: a, weight: 95}, {to: b, weight: 0}]\n  sticky_split: {cookie: door, max_age: 1h}\n")
	if diff := cmp.Diff([]split.Share{{To: "a", Weight: 95}, {To: "b"}}, got.Split); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&split.Sticky{Cookie: "door", MaxAge: time.Hour}, got.StickySplit); diff != "" {
		t.Errorf("sticky (-want +got):\n%s", diff)
	}
}

func TestShareWithConditionNeedsNoWeight(t *testing.T) {
	got := parseRoute(t, "  split:\n  - {to: a, weight: 1}\n  - {to: b, when: {headers: {X-A: '1'}}}\n"+
		"  - {to: b, weight: 2, when: {cookies: {c: true}, query: {d: false}}}\n  when: {cookies: {e: '2'}}\n")
	want := []split.Share{
		{To: "a", Weight: 1},
		{To: "b", When: condition.Set{Headers: []condition.Condition{{Name: "X-A", Value: "1"}}}},
		{To: "b", Weight: 2, When: condition.Set{
			Query:   []condition.Condition{{Name: "d", Test: condition.IsAbsent}},
			Cookies: []condition.Condition{{Name: "c", Test: condition.IsPresent}},
		}},
	}
	if diff := cmp.Diff(want, got.Split); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
	if names := got.When.Names(); names != "cookie e" {
		t.Errorf("the names of the route's own conditions are %q", names)
	}
}

func TestSplitMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       []string
	}{
		{"empty", "  split: []\n", []string{`4:10 "split" is empty`}},
		{"names", "  split: [a, b]\n", []string{`4:11 must be a mapping`, `4:14 must be a mapping`}},
		{"no upstream", "  split: [{weight: 1}]\n", []string{`4:11 has no "to"`}},
		{"unknown upstreams", "  split: [{to: c, weight: 1}, {to: d, weight: 1}]\n",
			[]string{`4:16 no upstream "c"`, `4:36 no upstream "d"`}},
		{"no weight", "  split: [{to: a, weight: 1}, {to: b}]\n", []string{`4:31 has no weight|weight: 95`}},
		{"a negative weight", "  split: [{to: a, weight: -1}]\n", []string{`4:27 "-1"`}},
		{"a fraction", "  split: [{to: a, weight: 0.5}]\n", []string{`4:27 "0.5"`}},
		{"a great weight", "  split: [{to: a, weight: 1000001}]\n", []string{`4:27 "1000001"|0 to 1000000`}},
		{"weights of 0", "  split: [{to: a, weight: 0}, {to: b, weight: 0}]\n",
			[]string{`4:3 all weights of the split are 0|above 0`}},
		{"an upstream twice", "  split: [{to: a, weight: 1}, {to: a, weight: 2}]\n", []string{`4:36 "a" twice`}},
		{"an unknown key", "  split: [{to: a, wieght: 1}]\n",
			[]string{`4:11 has no weight`, `4:19 "wieght"|did you mean "weight"?`}},
		{"conditions and no weight", "  split: [{to: a, when: {headers: {X-A: '1'}}}]\n",
			[]string{`4:3 all weights of the split are 0`}},
		{"no conditions", "  split: [{to: a, weight: 1, when: {}}]\n", []string{`4:36 "when" is empty`}},
		{"a cookie", "  split: [{to: a, weight: 1, when: {cookies: {'a b': '1'}}}]\n",
			[]string{`4:47 "a b" is not the name of a cookie`}},
		{"a second action", "  to: a\n  split: [{to: a, weight: 1}]\n",
			[]string{`5:3 "split" is a second action|after "to"`}},
		{"sticky without a split", "  to: a\n  sticky_split: {cookie: door}\n", []string{`5:3 only a split`}},
		{"sticky without a cookie", "  split: [{to: a, weight: 1}]\n  sticky_split: {}\n",
			[]string{`5:3 no "cookie"|cookie: door`}},
		{"a name of a cookie", "  split: [{to: a, weight: 1}]\n  sticky_split: {cookie: 'a b'}\n",
			[]string{`5:26 "a b" is not the name of a cookie`}},
		{"an age of a cookie", "  split: [{to: a, weight: 1}]\n  sticky_split: {cookie: door, max_age: 1500ms}\n",
			[]string{`5:41 "1500ms"|whole seconds`}},
		{"no age of a cookie", "  split: [{to: a, weight: 1}]\n  sticky_split: {cookie: door, max_age: 0s}\n",
			[]string{`5:41 "0s"|whole seconds`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(c.keys)
			mistaketest.Want(t, err, c.want)
		})
	}
}
