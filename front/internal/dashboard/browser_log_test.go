package dashboard_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/browsertest"
	"github.com/weirhq/weir/internal/peer"
)

// run evaluates statements in the page.
func run(b *browsertest.Page, statements string) { browsertest.Evaluate[int](b, statements+"; 1") }

// TestPageShowsFailures sends requests that fail. The text of one would be an element of the page.
func TestPageShowsFailures(t *testing.T) {
	public, admin := serveDoor(t)
	b := openPage(t, admin)
	load(t, public, map[string]int{"/gone": 1})
	b.Await(`document.getElementById("failed").textContent === "1 since the start."`)
	load(t, public, map[string]int{"/shop/": 3, "/shop/broken?x=<img/src=x/onerror=alert(1)>": 1})
	b.Await(`document.querySelectorAll("#failures tbody tr").length === 2`)
	rows := strings.Split(browsertest.Evaluate[string](b, texts+`texts("failures")`), "\n")
	for i, want := range []string{"|GET|/shop/broken?x=<img/src=x/onerror=alert(1)>|/shop/{path...}|500|shop|http://",
		"|GET|/gone|/gone|502|gone|http://127.0.0.1:1|refused: "} {
		if !strings.Contains(rows[i], want) {
			t.Errorf("failure %d is %q, want %q", i, rows[i], want)
		}
	}
	if n := browsertest.Evaluate[int](b, `document.querySelectorAll("#failures img").length`); n != 0 {
		t.Error("the text of a request has become an element")
	}
	run(b, `import("/dashboard/text.js").then((m) => { window.shown = m.visible("a\u202eb\x07c"); })`)
	b.Await(`window.shown === "a\\u{202e}b\\u{7}c"`)

	run(b, `document.querySelector("#failures tbody button").focus(); document.activeElement.click()`)
	b.Await(`document.querySelectorAll("#request[open] pre").length === 2`)
	events := browsertest.Evaluate[string](b, `document.querySelector("#request pre").textContent`)
	for _, want := range []string{"http request received", "proxying request", "http request completed", "/shop/broken"} {
		if !strings.Contains(events, want) {
			t.Errorf("the events of the request lack %q:\n%s", want, events)
		}
	}
	if c := browsertest.Evaluate[string](b, `document.querySelector("#request .command").textContent`); !strings.HasPrefix(c, "weir tail --around ") {
		t.Errorf("the command is %q", c)
	}
	t.Run("no faults for axe-core", func(t *testing.T) { b.CheckAccess(peer.AxeCore(t)) })
	t.Run("400 to 1280 pixels", func(t *testing.T) { b.CheckWidths() })
	b.KeepPictures("failures")
	run(b, `document.querySelector("#request button").click()`)
	b.Await(`document.activeElement === document.querySelector("#failures tbody button")`)
	b.CheckQuiet()
}

// TestPageFollowsTheLog starts a live tail with a wrong condition, and then with a right one.
func TestPageFollowsTheLog(t *testing.T) {
	public, admin := serveDoor(t)
	b := openPage(t, admin)
	start := func(condition string) {
		run(b, `document.getElementById("where").value = '`+condition+`'; document.getElementById("follow").click()`)
	}
	start(`http.staus_code > 1`)
	b.Await(`document.getElementById("mistake").textContent.startsWith("--where: column 6: unknown name http.staus_code")`)
	b.Await(`document.getElementById("follow").textContent === "Start"`)
	start(`http.status_code == 500`)
	b.Await(`document.getElementById("followed").textContent.startsWith("following")`)
	load(t, public, map[string]int{"/shop/": 5, "/shop/broken": 2})
	b.Await(`document.querySelectorAll("#lines p").length === 2`)
	b.Await(`document.getElementById("followed").textContent === "following; 2 shown of 21 events"`)
	if text := browsertest.Evaluate[string](b, `document.querySelector("#lines p").textContent`); !strings.Contains(text, "GET /shop/broken 500") {
		t.Errorf("the event is %q", text)
	}
	t.Run("no faults for axe-core", func(t *testing.T) { b.CheckAccess(peer.AxeCore(t)) })
	t.Run("400 to 1280 pixels", func(t *testing.T) { b.CheckWidths() })
	b.KeepPictures("tail")
	run(b, `document.getElementById("follow").click()`)
	b.Await(`document.getElementById("followed").textContent.startsWith("stopped")`)
}

// TestPageDrainsWithTheToken looks for the button without a token, and uses it with a wrong one and the right one.
func TestPageDrainsWithTheToken(t *testing.T) {
	const token = "0123456789abcdef"
	_, admin := serveDoor(t)
	b := openPage(t, admin)
	b.Await(`document.querySelectorAll("#servers tbody tr").length === 2`)
	if n := browsertest.Evaluate[int](b, `document.querySelectorAll("#servers button:not([hidden])").length`); n != 0 {
		t.Errorf("%d buttons without admin.token", n)
	}
	if !browsertest.Evaluate[bool](b, `document.getElementById("operator").hidden`) {
		t.Error("a field for a token without admin.token")
	}
	_, admin = serveDoor(t, func(c *config.Config) { c.AdminToken = token })
	b.Navigate(admin + "/")
	b.Await(`document.querySelectorAll("#servers button:not([hidden])").length === 2`)
	press := func(token, want string) {
		t.Helper()
		run(b, `window.confirm = () => true; document.getElementById("token").value = "`+token+`";
			document.querySelectorAll("#servers button")[1].click()`)
		b.Await(`document.getElementById("drained").textContent.includes("` + want + `")`)
	}
	press("", "Enter the token first.")
	press(token+"0", "this needs the token")
	press(token, "done")
	b.Await(`document.querySelectorAll("#servers button")[1].textContent === "Undrain"`)
	b.Await(texts + `texts("servers").includes("|shop|draining|")`)
	b.Await(`document.getElementById("problems").textContent.includes("is draining")`)
	t.Run("no faults for axe-core", func(t *testing.T) { b.CheckAccess(peer.AxeCore(t)) })
	b.KeepPictures("drain")
	press(token, "undrain")
	b.Await(`document.querySelectorAll("#servers button")[1].textContent === "Drain"`)
	if kept := browsertest.Evaluate[string](b, `document.cookie + JSON.stringify({...localStorage, ...sessionStorage})`); kept != "{}" {
		t.Errorf("the page keeps %q", kept)
	}
}
