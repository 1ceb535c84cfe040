package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/testkit"
)

// TestReloadReadsRedirectsAgain checks that SIGHUP reads the file of redirects again, and
// that an invalid one changes nothing.
func TestReloadReadsRedirectsAgain(t *testing.T) {
	t.Parallel()
	site := testkit.Serve(t, backend.Handler(backend.Options{}))
	config := configFile(t, "redirects: r.csv\n"+allTo(site.URL))
	redirects := filepath.Join(filepath.Dir(config), "r.csv")
	write := func(lines string) {
		t.Helper()
		if err := os.WriteFile(redirects, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("/a,/b\n")
	p := start(t, "serve", "--config", config)
	c := client(t)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	leadsTo := func(want string) {
		t.Helper()
		req, err := http.NewRequest("GET", p.url()+"/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := do(t, c, req).Header.Get("Location"); got != want {
			t.Errorf("/a leads to %q, want %q", got, want)
		}
	}
	leadsTo("/b")

	write(strings.Repeat("/a,/c\n", 5000))
	p.signal(syscall.SIGHUP)
	p.says(fmt.Sprintf(`%s has 4999 mistakes; the first 20 are:\n.*r.csv:2:1: "/a" is given twice`,
		config))
	leadsTo("/b")

	write("/a,/d\n")
	p.signal(syscall.SIGHUP)
	p.says(`weir: reloaded `)
	leadsTo("/d")
}
