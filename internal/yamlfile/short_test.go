package yamlfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/yamlfile"
)

// A form is a value, and what a reader makes of it.
type form struct{ src, want string }

// readForms reads a file with the keys limit, a mapping with short form max; hosts, with a list as short form; and
// zip, a mapping of two optional keys.
func readForms(src string, hasOff bool) string {
	type (
		into   = *strings.Builder
		reader = yamlfile.Reader[into]
		place  = yamlfile.Place[into]
	)
	write := func(r *reader, p place, n *yamlfile.Node) { fmt.Fprintf(p.To, "%s=%s ", p.Path, n.Flow()) }
	count := func(r *reader, p place, n *yamlfile.Node) {
		if _, ok := yamlfile.ReadOne(r, p, n, yamlfile.Count); ok {
			write(r, p, n)
		}
	}
	off := func(to into) { to.WriteString("off ") }
	fields := func(r *reader, p place, n *yamlfile.Node) {
		fmt.Fprintf(p.To, "%s ", p.Path)
		r.Fields(p, n)
	}
	f, root := yamlfile.Read("f", "a test", []byte(src))
	var out strings.Builder
	r := &reader{File: f, HasOff: hasOff, Positions: map[string][]yamlfile.Pos{}, Schema: []yamlfile.Key[into]{
		{Path: "limit", Read: fields, Short: "max"},
		{Path: "limit.max", Read: count, Required: "as in max: 7"},
		{Path: "limit.wait", Read: count, Off: off},
		{Path: "hosts", Read: fields, Short: "names", Off: off},
		{Path: "hosts.names", Read: write},
		{Path: "zip", Read: fields, Off: off},
		{Path: "zip.level", Read: count},
		{Path: "zip.name", Read: write},
	}, Expand: func(text string) (string, []*yamlfile.Refusal) {
		return strings.ReplaceAll(text, "$X", "off"), nil
	}}
	r.Fields(place{To: &out}, root)
	for _, m := range f.Mistakes() {
		fmt.Fprintf(&out, "%v ", m)
	}
	return strings.TrimSpace(out.String())
}

func TestShortFormsAreExpanded(t *testing.T) {
	for _, c := range []form{
		{"limit: 7", "limit limit.max=7"},
		{"limit: {max: 7}", "limit limit.max=7"},
		{"limit: true", `limit f:1:1: "limit" has no "max"; as in max: 7`},
		{"limit: x", `limit f:1:8: "x" is not a count; write a whole number, as in 7`},
		{"hosts: a", "hosts hosts.names=a"},
		{"hosts: [a, b]", "hosts hosts.names=[a, b]"},
		{"hosts: true", "hosts hosts.names=true"},
		{"limit: [7]", `limit f:1:8: "limit" must be a single value, not a list`},
		{"zip: true", "zip"},
		{`zip: "true"`, `zip f:1:6: "zip" must be a mapping of keys to values, not the value "true"; write true`},
		{"zip: [a]", `zip f:1:6: "zip" must be a mapping of keys to values, not a list; its keys are level, name`},
		{"zip:", `zip f:1:5: "zip" has no value; give it one, or leave it out`},
	} {
		if got := readForms(c.src, true); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.src, got, c.want)
		}
	}
}

func TestOffTurnsOffWhatHasADefault(t *testing.T) {
	for _, c := range []form{
		{"zip: off", "off"},
		{"hosts: off", "off"},
		{`hosts: "off"`, `hosts hosts.names="off"`},
		{"hosts: $X", "off"},
		{`hosts: "$X"`, "off"},
		{"zip: OFF", `f:1:6: the value "OFF" is not known here; write off`},
		{"zip: false", `f:1:6: the value "false" is not known here; write off`},
		{"zip: []", "f:1:6: an empty list is not known here; write off"},
		{"limit: {max: 1, wait: 0s}", `limit limit.max=1 f:1:23: the value "0s" is not known here; write off`},
		{"limit: {max: 1, wait: 0.0KiB/s}", `limit limit.max=1 f:1:23: the value "0.0KiB/s" is not known here; write off`},
		{"limit: {max: 1, wait: off}", "limit limit.max=1 off"},
		{"limit: {max: 1, wait: 0}", `limit limit.max=1 f:1:23: the value "0" is not known here; write off`},
		{"limit: off", `limit f:1:8: "limit" cannot be off; leave it out`},
		{"limit: {max: off}", `limit f:1:14: "off" is not a count; write a whole number, as in 7`},
		{"zip: {name: off}", `zip zip.name=off f:1:13: "name" cannot be off; leave it out, or write "off" in quotes if it is a text`},
		{`zip: {name: "off"}`, `zip zip.name="off"`},
	} {
		if got := readForms(c.src, true); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.src, got, c.want)
		}
	}
	if got, want := readForms("zip: {name: off}", false), "zip zip.name=off"; got != want {
		t.Errorf("got %s, want %s: off is a text in a file without this word", got, want)
	}
}
