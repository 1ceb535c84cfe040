package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestNodeExampleHasOneTraceID runs examples/node: a request to the Go service, which asks the Node service through the
// front door. Every event of the front door and of both services must have the trace id that the client gets. weir tail
// reads all three logs.
func TestNodeExampleHasOneTraceID(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("needs node, which CI installs: %v", err)
	}
	folder := t.TempDir()
	example := "../../examples/node"
	orders := filepath.Join(folder, "orders")
	if out, err := exec.Command("go", "build", "-o", orders, example).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", example, err, out)
	}
	program := filepath.Join(folder, "stock.js")
	copyFile(t, program, filepath.Join(example, "stock.js"))
	modules := filepath.Join(folder, "node_modules", "weir-log")
	if err := os.CopyFS(filepath.Join(modules, "src"), os.DirFS("../../node/src")); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(modules, "package.json"), "../../node/package.json")

	stock := startCommand(t, exec.Command("node", program), "PORT=0")
	stockURL := "http://127.0.0.1:" + stock.logs(`"listening".*"port":(\d+)`)
	ordersAddr := peer.FreeAddress(t)
	p := prepare(t, "serve", "--config", filepath.Join(example, "weir.yaml"), "--listen", "127.0.0.1:0", "--admin", "off")
	p.cmd.Env = append(p.cmd.Env, "STOCK_URL="+stockURL, "ORDERS_URL=http://"+ordersAddr)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	service := startCommand(t, exec.Command(orders), "ORDERS_ADDR="+ordersAddr, "DOOR_URL="+p.url())
	service.logs(`"listening"`)

	a := get(t, client(t), p.url()+"/orders/7")
	if want := "order 7: 1 teapot, of 6 in stock\n"; a.body != want {
		t.Fatalf("got %d and %q, want %q", a.StatusCode, a.body, want)
	}
	id := a.Header.Get("X-Request-Id")
	want := map[string]int{
		"shop-door http request received": 2, "shop-door proxying request": 2, "shop-door http request completed": 2,
		"orders http request received": 1, "orders order found": 1, "orders http request completed": 1,
		"stock http request received": 1, "stock stock counted": 1, "stock http request completed": 1,
	}
	testkit.Await(t, "the events of the request", func() bool {
		out, err := exec.Command("weir", "tail", "--format", "json", "--where", `trace_id == "`+id+`"`, p.stdout,
			service.stdout, stock.stdout).CombinedOutput()
		if err != nil {
			t.Fatalf("weir tail: %v\n%s", err, out)
		}
		got := map[string]int{}
		for line := range strings.Lines(string(out)) {
			var e struct{ Namespace, Event string }
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			got[e.Namespace+" "+e.Event]++
		}
		for name, n := range want {
			if got[name] != n {
				return false
			}
		}
		return len(got) == len(want)
	})
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// startCommand starts another command in the way of start, with variables of its environment.
func startCommand(t *testing.T, cmd *exec.Cmd, env ...string) *process {
	t.Helper()
	p := prepare(t)
	cmd.Stdout, cmd.Stderr, cmd.Env = p.cmd.Stdout, p.cmd.Stderr, append(p.cmd.Env, env...)
	p.cmd = cmd
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// logs waits until the stdout of the process matches expr, and returns the last group of the match, or all of it.
func (p *process) logs(expr string) string {
	p.t.Helper()
	re := regexp.MustCompile(expr)
	var match []string
	testkit.Await(p.t, expr+" on stdout", func() bool {
		out, err := os.ReadFile(p.stdout)
		if err != nil {
			p.t.Fatal(err)
		}
		match = re.FindStringSubmatch(string(out))
		return match != nil
	})
	return match[len(match)-1]
}
