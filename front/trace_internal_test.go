package front

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/log/traceid"
)

func FuzzTrace(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "", "")
	f.Add("", "c9bf9e57-1685-4c89-bafb-ff5af830be8a", "x")
	f.Add("00-00000000000000000000000000000000-00f067aa0ba902b7-01", strings.Repeat("0", 32), "abcdefghijklmnop")
	valid := regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	plain := regexp.MustCompile(`^[!-~]{1,128}$`)
	f.Fuzz(func(t *testing.T, parent, id, second string) {
		header := []proxying.Field{{Name: "traceparent", Value: parent}, {Name: "X-REQUEST-ID", Value: id}}
		if second != "" {
			header = append(header, proxying.Field{Name: "X-Request-Id", Value: second})
		}
		var tr trace
		tr.read(header)
		if !plain.MatchString(tr.id) || strings.ContainsAny(tr.id, `"'\,`) {
			t.Errorf("id %q", tr.id)
		}
		if !valid.MatchString(tr.parent) || tr.parent[:2] == "ff" || tr.parent[3:35] == strings.Repeat("0", 32) ||
			tr.parent[36:52] == strings.Repeat("0", 16) {
			t.Errorf("traceparent %q", tr.parent)
		}
		switch {
		case tr.parent == parent:
			if made := string(traceid.AppendW3C(nil, tr.id)); made != parent[3:35] {
				t.Errorf("id %q of traceparent %q", tr.id, parent)
			}
		case second == "" && plain.MatchString(id) && !strings.ContainsAny(id, `"'\,`):
			if tr.id != id {
				t.Errorf("id %q became %q", id, tr.id)
			}
		case len(tr.id) != traceid.Length:
			t.Errorf("id %q was made up", tr.id)
		}
	})
}
