package filebudget_test

import (
	"testing"

	"github.com/weirhq/weir/internal/filebudget"
)

func TestShareDividesTheFiles(t *testing.T) {
	for _, c := range []struct {
		name         string
		allowed      uint64
		open, wanted int
		want         filebudget.Budget
	}{
		{"all", 1064, 0, 0, filebudget.Budget{Files: 1064, Clients: 500, Upstreams: 500}},
		{"some open", 1064, 100, 0, filebudget.Budget{Files: 1064, Clients: 450, Upstreams: 450}},
		{"few clients", 1064, 0, 100, filebudget.Budget{Files: 1064, Clients: 100, Upstreams: 900}},
		{"more clients than possible", 1064, 0, 5000, filebudget.Budget{Files: 1064, Clients: 500, Upstreams: 500}},
		{"few files", 40, 0, 0, filebudget.Budget{Files: 40, Clients: 15, Upstreams: 15}},
		{"no files left", 10, 20, 0, filebudget.Budget{Files: 10, Clients: 1, Upstreams: 1}},
		{"unknown", 0, 0, 10, filebudget.Budget{Clients: 10, Upstreams: 1<<20 - 64 - 10}},
	} {
		if got := filebudget.Share(c.allowed, c.open, c.wanted); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
