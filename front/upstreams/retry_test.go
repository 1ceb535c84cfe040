package upstreams_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/mistaketest"
)

func TestRetryIsParsed(t *testing.T) {
	c, err := config.Parse("weir.yaml", []byte(`upstreams:
  a: {servers: http://a, retry: {attempts: 5, methods: [get, PUT], on: [reset, 502, 503]}}
  b: {servers: http://b, retry: {on: timeout}}
  c: {servers: http://c, retry: {on: [reset, 503, 502-504]}}
routes: [{match: /, to: a}, {match: /b, to: b}, {match: /c, to: c}]
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []upstreams.Retry{
		{Attempts: 5, Methods: []string{"GET", "PUT"}, On: []string{"reset", "502", "503"}},
		{On: []string{"timeout"}},
		{On: []string{"reset", "503", "502", "504"}},
	}
	for i, u := range c.Upstreams {
		if diff := cmp.Diff(want[i], u.Retry); diff != "" {
			t.Errorf("retry of %s (-want +got):\n%s", u.Name, diff)
		}
	}
}

func TestRetryMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		value string
		want  []string
	}{
		{"2", []string{`1:43 "retry" must be a mapping`}},
		{"{attempts: 0}", []string{`1:54 "0" is not a number of attempts|retry: off to send each request once`}},
		{"{attempts: 6}", []string{`1:54 "6" is not a number of attempts|to 5`}},
		{"{tries: 2}", []string{`1:44 unknown key "tries"`}},
		{"{methods: [GET, post]}", []string{`1:59 a POST that is sent twice|PUT or DELETE`}},
		{"{methods: PURGE}", []string{`1:53 "PURGE" is not a method that can be sent again`}},
		{"{methods: []}", []string{`1:53 "methods"`}},
		{"{on: [500]}", []string{`1:49 "500"|write 502, 503 or 504`}},
		{"{on: [reset, 5xx]}", []string{`1:56 a request is not sent again for "5xx"|502-504`}},
		{"{on: [reset, busy]}", []string{`1:56 "busy" is not known here`}},
		{"{on: [connect]}", []string{`1:49 always replaced by another|connect_wait`}},
		{"{on: [stale]}", []string{`1:49 a stale connection is always replaced|retry is off`}},
		{"{on: [reset, reset]}", []string{`1:56 reset is given twice`}},
	} {
		src := fmt.Sprintf("upstreams: {a: {servers: http://a, retry: %s}}\nroutes: {match: /, to: a}\n", c.value)
		_, err := config.Parse("weir.yaml", []byte(src), nil)
		mistaketest.Want(t, err, c.want)
	}
}
