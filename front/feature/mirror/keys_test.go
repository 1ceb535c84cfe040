package mirror_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/mirror"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// parse parses a configuration with the upstreams a and b and a route with keys from line 4 on.
func parse(keys string) (*config.Config, error) { return configtest.ParseRoute("/", keys) }

func TestMirrorShareIsParsed(t *testing.T) {
	for _, c := range []struct {
		keys string
		want mirror.Config
	}{
		{"b", mirror.Config{To: "b", Share: mirror.All, InFlight: 100}},
		{"{to: b}", mirror.Config{To: "b", Share: mirror.All, InFlight: 100}},
		{"{to: b, share: 10%, in_flight: 5}", mirror.Config{To: "b", Share: mirror.All / 10, InFlight: 5}},
		{"{to: b, share: 0.0001%}", mirror.Config{To: "b", Share: 1, InFlight: 100}},
		{"{to: b, share: 33.3333%}", mirror.Config{To: "b", Share: 333333, InFlight: 100}},
		{"{to: b, share: 100%}", mirror.Config{To: "b", Share: mirror.All, InFlight: 100}},
	} {
		for _, action := range []string{"  to: a\n", "  split: [{to: a, weight: 1}]\n"} {
			got, err := parse(action + "  mirror: " + c.keys + "\n")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&c.want, got.Routes[0].Mirror); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.keys, diff)
			}
		}
	}
}

func TestMirrorMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       []string
	}{
		{"no upstream", "  to: a\n  mirror: {share: 10%}\n", []string{`5:3 no "to"|share: 10%`}},
		{"an unknown upstream", "  to: a\n  mirror: {to: c}\n", []string{`5:16 no upstream "c"`}},
		{"the upstream itself", "  to: a\n  mirror: {to: a}\n", []string{`5:16 forwards to "a"|twice`}},
		{"an upstream of the split", "  split: [{to: a, weight: 1}, {to: b, weight: 1}]\n  mirror: {to: b}\n",
			[]string{`5:16 forwards to "b"|twice`}},
		{"a response of the route", "  respond: {status: 200}\n  mirror: {to: b}\n",
			[]string{`5:3 "mirror" applies only to requests that are forwarded`}},
		{"no percent sign", "  to: a\n  mirror: {to: b, share: 10}\n", []string{`5:26 "10"|write 10%`}},
		{"nothing", "  to: a\n  mirror: {to: b, share: 0%}\n", []string{`5:26 "0%"|as in 10%`}},
		{"too little", "  to: a\n  mirror: {to: b, share: 0.00001%}\n", []string{`5:26 "0.00001%"|0.0001% or more`}},
		{"too much", "  to: a\n  mirror: {to: b, share: 100.1%}\n", []string{`5:26 "100.1%"`}},
		{"not a number", "  to: a\n  mirror: {to: b, share: NaN%}\n", []string{`5:26 "NaN%"`}},
		{"below zero", "  to: a\n  mirror: {to: b, share: -5%}\n", []string{`5:26 "-5%"`}},
		{"no copies", "  to: a\n  mirror: {to: b, in_flight: 0}\n", []string{`5:30 "0" allows nothing`}},
		{"no action", "  mirror: {to: b}\n", []string{`3:3 no action`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(c.keys)
			mistaketest.Want(t, err, c.want)
		})
	}
}
