package condition_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/configtest"
)

func TestConditionsAreParsed(t *testing.T) {
	c, err := config.Parse("weir.yaml", []byte(configtest.When(`{headers: {X-Beta: "1", x-n: 2, X-T: true, X-F: false, `+
		`X-S: "true", X-E: "", X-O: on}, query: {v: a b, d: false}}`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := condition.Set{
		Headers: []condition.Condition{{Name: "X-Beta", Value: "1"}, {Name: "x-n", Value: "2"},
			{Name: "X-T", Test: condition.IsPresent}, {Name: "X-F", Test: condition.IsAbsent}, {Name: "X-S", Value: "true"},
			{Name: "X-E"}, {Name: "X-O", Value: "on"}},
		Query: []condition.Condition{{Name: "v", Value: "a b"}, {Name: "d", Test: condition.IsAbsent}},
	}
	if diff := cmp.Diff(want, c.Routes[0].When); diff != "" {
		t.Errorf("when (-want +got):\n%s", diff)
	}
	const names = "X-Beta and x-n and X-T and no X-F and X-S and X-E and X-O and ?v and no ?d"
	if got := c.Routes[0].When.Names(); got != names {
		t.Errorf("got the names %s, want %s", got, names)
	}
}

func TestConditionMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"none", configtest.When("{}", "{headers: {}}", "{query: []}", "X-Beta"),
			[]string{`3:28 "when" is empty`, `4:38 "headers" is empty`, `5:36 "query" is empty`,
				`6:28 "when" must be a mapping`}},
		{"a key", configtest.When("{header: {X-A: 1}}"), []string{`3:29 "header"|did you mean "headers"?`}},
		{"fields", configtest.When("{headers: {Host: a, 'X A': 1, X-A: 1, x-a: 2}}"),
			[]string{`3:39 the host is no condition|in the pattern`, `3:48 "X A" is not the name of a header field`,
				`3:66 "x-a" is the same as "X-A"`}},
		{"parameters", configtest.When(`{query: {'a=1': true, '': 1, '?e': x}}`),
			[]string{`3:37 "a=1" is not the name of a parameter|write its name and value apart`, `3:50 "" is not the name`,
				`3:57 "?e" is not the name`}},
		{"values", configtest.When(`{query: {b: ' c', d: [1], e: "x\ny"}, headers: {X-A: null}}`),
			[]string{`3:40 no request has the value " c"`, `3:49 "d" must be a single value`,
				`3:57 no request has the value "x\ny"`, `3:81 "X-A" has no value`}},
	} {
		configtest.WantMistakes(t, c.name, c.src, c.want)
	}
}
