package target_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/load/target"
)

func TestGrowPathAddsSegments(t *testing.T) {
	for _, c := range []struct {
		url  string
		most int
		want []string
	}{
		{"http://a", 2, []string{"http://a", "http://a/0", "http://a/0/1"}},
		{"http://a/", 3, []string{"http://a/", "http://a/0", "http://a/0/1", "http://a/0/1/2"}},
		{"http://a/api?x=/y#z", 1, []string{"http://a/api?x=/y#z", "http://a/api/0?x=/y#z"}},
		{"http://a/api/", 1, []string{"http://a/api/", "http://a/api/0"}},
		{"http://a?x", 1, []string{"http://a?x", "http://a/0?x"}},
		{`http://a/{{line "what?"}}?q`, 1, []string{`http://a/{{line "what?"}}?q`, `http://a/{{line "what?"}}/0?q`}},
		{"http://a/", 0, []string{"http://a/"}},
		{"http://a/", -1, []string{"http://a/"}},
	} {
		var got []string
		for _, target := range target.GrowPath(target.Target{Method: "PUT", URL: c.url}, c.most) {
			got = append(got, target.URL)
			if target.Method != "PUT" {
				t.Errorf("%s: the method is %q", target.URL, target.Method)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("GrowPath(%s, %d) = %q, want %q", c.url, c.most, got, c.want)
		}
	}
	deep := target.GrowPath(target.Target{URL: "http://a/"}, 100)
	if last := deep[len(deep)-1].URL; len(deep) != 101 || !strings.HasSuffix(last, "/97/98/99") {
		t.Errorf("%d targets, the last %s", len(deep), last)
	}
}

func TestRebaseChangesTheOrigin(t *testing.T) {
	from := []target.Target{
		{URL: "https://u:p@one.example/a?b#c", Header: []target.Header{{Name: "Host", Value: "one"}}},
		{URL: "http://two.example:81"},
		{URL: "http://three?x"},
	}
	got, err := target.Rebase(from, "http://127.0.0.1:8080/")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"http://127.0.0.1:8080/a?b#c", "http://127.0.0.1:8080", "http://127.0.0.1:8080?x"} {
		if got[i].URL != want {
			t.Errorf("target %d is %s, want %s", i+1, got[i].URL, want)
		}
	}
	if len(got[0].Header) != 1 || from[1].URL != "http://two.example:81" {
		t.Errorf("a header is lost, or the targets that were given have changed: %+v, %+v", got[0], from[1])
	}
	for _, c := range []struct{ url, origin, want string }{
		{"http://a/", "a:80", `origin "a:80": column 1: the URL "a:80" has no scheme`},
		{"http://a/", "http://b/x", `origin "http://b/x": column 9: "/x" is more than an origin`},
		{"a", "http://b", `target 1: URL column 1`},
	} {
		if _, err := target.Rebase([]target.Target{{URL: c.url}}, c.origin); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("Rebase(%s, %s): %v, want %s", c.url, c.origin, err, c.want)
		}
	}
}

// TestGrownTargetsShareABody checks that all targets share a body.
func TestGrownTargetsShareABody(t *testing.T) {
	text := strings.Repeat("x", 1000)
	for _, target := range target.GrowPath(target.Target{URL: "http://a/", Body: target.Body{Text: text}}, 2) {
		if target.Body.Text != "" || target.Body.Size != 1000 {
			t.Errorf("%s: the body is a text of %d bytes and a file of %d", target.URL, len(target.Body.Text),
				target.Body.Size)
		}
	}
	const template = "{{seq}}"
	for _, target := range target.GrowPath(target.Target{URL: "http://a/", Body: target.Body{Text: template}}, 2) {
		if target.Body.Text != template {
			t.Errorf("%s: the body is %+v, want the template", target.URL, target.Body)
		}
	}
}
