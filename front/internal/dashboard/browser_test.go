package dashboard_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/logfiles"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/browsertest"
	"github.com/weirhq/weir/internal/peer"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.End()
	os.Exit(code)
}

// serveDoor starts a front door with two upstreams and a log in a file, and returns the addresses of its two listeners.
func serveDoor(t *testing.T, adjust ...func(*config.Config)) (public, admin string) {
	t.Helper()
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/shop/broken" {
			w.WriteHeader(500)
		}
	}))
	t.Cleanup(back.Close)
	cfg := config.Default()
	cfg.Listen, cfg.Admin, cfg.Drain = []string{"127.0.0.1:0"}, "127.0.0.1:0", config.Drain{Timeout: time.Minute}
	cfg.Upstreams = []upstreams.Upstream{
		{Name: "shop", Servers: []upstreams.Server{{URL: back.URL}}},
		{Name: "gone", Servers: []upstreams.Server{{URL: "http://127.0.0.1:1"}}},
	}
	cfg.Routes = []config.Route{config.DefaultRoute("/shop/{path...}", "shop"), config.DefaultRoute("/gone", "gone")}
	cfg.Log.To = []string{filepath.Join(t.TempDir(), "weir.log")}
	for _, f := range adjust {
		f(cfg)
	}
	out, _, _ := logfiles.Open(t, cfg.Log.Config, nil)
	door, err := front.New(cfg, out)
	if err != nil {
		t.Fatal(err)
	}
	if err := door.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, drain := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- door.Serve(ctx) }()
	t.Cleanup(func() {
		drain()
		<-served
	})
	return "http://" + door.Addrs()[0].String(), "http://" + door.AdminAddr().String()
}

// load sends requests, and waits for the responses.
func load(t *testing.T, url string, paths map[string]int) {
	t.Helper()
	for path, n := range paths {
		for range n {
			resp, err := http.Get(url + path)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
	}
}

// openPage opens the dashboard of a front door.
func openPage(t *testing.T, admin string) *browsertest.Page {
	t.Helper()
	b := browsertest.Open(t, admin+"/")
	b.Await(`document.getElementById("state").textContent === "ready"`)
	return b
}

// texts is a function of the page that returns the cells of a table.
const texts = `var texts = (id) => Array.from(document.querySelectorAll("#" + id + " tbody tr"), (row) =>
	Array.from(row.cells, (c) => c.textContent).join("|")).join("\n");`

// TestPageShowsTheLoad compares the numbers of the page with the requests that were sent.
func TestPageShowsTheLoad(t *testing.T) {
	public, admin := serveDoor(t)
	b := openPage(t, admin)
	load(t, public, map[string]int{"/shop/": 11, "/shop/broken": 4, "/elsewhere": 3})
	b.Await(`document.querySelector("#now").textContent.includes("requests18")`)
	rows := strings.Split(browsertest.Evaluate[string](b, texts+`texts("routes")`), "\n")
	got := make(map[string][]string)
	for _, row := range rows {
		cells := strings.Split(row, "|")
		got[cells[0]] = cells[4:] // since the start, and the classes
	}
	want := map[string][]string{"/shop/{path...}": {"15", "11", "0", "0", "4"}, "unmatched": {"3", "0", "0", "3", "0"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	if text := browsertest.Evaluate[string](b, texts+`texts("servers")`); !strings.Contains(text, "|shop|usable|0|") {
		t.Errorf("the servers are %q", text)
	}
	b.Await(`document.querySelector("#classes svg").getAttribute("aria-label").startsWith("Requests per second, now: 2xx ")`)
	if drawn := browsertest.Evaluate[int](b, `[...document.querySelectorAll("svg.chart path")].filter((p) => p.getAttribute("d").length > 8).length`); drawn < 10 {
		t.Errorf("%d lines are drawn", drawn)
	}
	b.Await(`[...document.querySelectorAll("#problems li.ended")].some((p) => / fail with 5xx – ended \d+ s ago$/.test(p.textContent))`)
	load(t, public, map[string]int{"/gone": 1})
	b.Await(`document.getElementById("upstreams").textContent.includes("refused 1")`)
	t.Run("no faults for axe-core", func(t *testing.T) { b.CheckAccess(peer.AxeCore(t)) })
	t.Run("400 to 1280 pixels", func(t *testing.T) { b.CheckWidths() })
	b.KeepPictures("dashboard")
	b.CheckQuiet()
}

// TestPageIsPrivate checks the fields that keep other sites away, and that a program gets the list of pages.
func TestPageIsPrivate(t *testing.T) {
	_, admin := serveDoor(t)
	req, err := http.NewRequest("GET", admin+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,*/*")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for field, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Set-Cookie": "",
	} {
		if got := resp.Header.Get(field); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	policy := resp.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	plain, err := http.Get(admin + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Body.Close()
	if text, err := io.ReadAll(plain.Body); err != nil || !strings.Contains(string(text), "/metrics       counters") {
		t.Errorf("a program gets %.80q, %v", text, err)
	}
}
