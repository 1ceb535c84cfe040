package router_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// TestReleasedParamsAreEmpty uses a Params after an unusual path and after Release.
func TestReleasedParamsAreEmpty(t *testing.T) {
	table, err := router.NewTable(nil, []router.Entry[int]{{Pattern: "/{path...}", Value: 1}})
	if err != nil {
		t.Fatal(err)
	}
	var p router.Params
	for _, path := range []string{"/a", "/" + strings.Repeat("%2F", 10000), "/b%2Fc"} {
		if !lookup(table, "GET", "", path, &p).Found {
			t.Fatalf("%.20s is not found", path)
		}
		if want := strings.ReplaceAll(path[1:], "%2F", "/"); p.Get("path") != want {
			t.Errorf("path = %.20q, want %.20q", p.Get("path"), want)
		}
		p.Release()
		if p.Len() != 0 || p.Get("path") != "" {
			t.Errorf("after Release: %d parameters", p.Len())
		}
	}
}
