package front_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/files"
	"github.com/weirhq/weir/front/statuses"
	"github.com/weirhq/weir/internal/testkit"
)

// A folder is a folder of files for a route.
type folder string

// newFolder writes files by their paths.
func newFolder(t testing.TB, contents map[string]string) folder {
	t.Helper()
	f := folder(t.TempDir())
	testkit.WriteFiles(t, string(f), contents)
	return f
}

// route returns a route with the files of the folder.
func (f folder) route(match string, adjust ...func(*files.Config)) config.Route {
	r := config.DefaultRoute(match, "")
	r.Files = &files.Config{Root: string(f), Index: []string{"index.html"}}
	for _, change := range adjust {
		change(r.Files)
	}
	return r
}

// routes replaces the routes of a configuration.
func routes(all ...config.Route) func(*config.Config) {
	return func(c *config.Config) { c.Routes = all }
}

// TestFilesAreServed checks status, type and body over both protocols.
func TestFilesAreServed(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{
		"index.html": "<p>home", "a.js": "js", "docs/index.html": "<p>docs", "docs/a b.txt": "blank", "docs/ü.txt": "ü",
		"docs/100%.txt": "percent", "app/index.html": "<p>app", "empty/x/y": "", "favicon.ico": "icon",
		".well-known/security.txt": "contact", "zero.css": "",
	})
	back := upstream(t, hello)
	d := openDoor(t, back.URL, routes(
		f.route("/{path...}", func(c *files.Config) { c.CacheControl = "no-cache" }),
		f.route("/assets/{path...}"),
		f.route("/favicon.ico"),
		folder(filepath.Join(string(f), "app")).route("/app/{path...}", func(c *files.Config) { c.Fallback = "/index.html" }),
		config.DefaultRoute("/api/{path...}", "site"),
	))
	const html, text = "text/html; charset=utf-8", "text/plain; charset=utf-8"
	notFound := "404 Not Found\n"
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, c := range []struct {
			method, target string
			status         int
			text, typ      string
		}{
			{"GET", "/", 200, "<p>home", html},
			{"GET", "/?query", 200, "<p>home", html},
			{"HEAD", "/", 200, "", html},
			{"GET", "/a.js", 200, "js", "text/javascript; charset=utf-8"},
			{"GET", "/assets/a.js", 200, "js", "text/javascript; charset=utf-8"},
			{"GET", "/assets/", 200, "<p>home", html},
			{"GET", "/docs/", 200, "<p>docs", html},
			{"GET", "/docs/a%20b.txt", 200, "blank", text},
			{"GET", "/docs/%C3%BC.txt", 200, "ü", text},
			{"GET", "/docs/100%25.txt", 200, "percent", text},
			{"GET", "/zero.css", 200, "", "text/css; charset=utf-8"},
			{"GET", "/favicon.ico", 200, "icon", "image/x-icon"},
			{"GET", "/.well-known/security.txt", 200, "contact", text},
			{"GET", "/none", 404, notFound, text},
			{"HEAD", "/none", 404, "", text},
			{"GET", "/a.js/", 404, notFound, text},
			{"GET", "/empty/", 404, notFound, text},
			{"GET", "/docs/a%20b.txt/x", 404, notFound, text},
			{"GET", "/app/x/y", 200, "<p>app", html},
			{"GET", "/app/", 200, "<p>app", html},
			{"GET", "/app/.env", 404, notFound, text},
			{"POST", "/a.js", 405, "405 Method Not Allowed\n", text},
			{"DELETE", "/none", 405, "405 Method Not Allowed\n", text},
			{"OPTIONS", "/a.js", 204, "", ""},
			{"GET", "/api/x", 200, "hello", text},
		} {
			req, err := http.NewRequest(c.method, d.url(c.target), nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, body := do(t, client, req)
			h := resp.Header
			if resp.StatusCode != c.status || body != c.text || h.Get("Content-Type") != c.typ {
				t.Errorf("%s %s %s: %d %q %q, want %d %q %q", name, c.method, c.target, resp.StatusCode, h.Get("Content-Type"),
					body, c.status, c.typ, c.text)
			}
			if c.status == 405 || c.status == 204 {
				if h.Get("Allow") != "GET, HEAD, OPTIONS" {
					t.Errorf("%s %s %s: Allow: %q", name, c.method, c.target, h.Get("Allow"))
				}
			}
			if c.status == 200 && c.text != "hello" && (h.Get("Etag") == "" || h.Get("X-Content-Type-Options") != "nosniff") {
				t.Errorf("%s %s %s: %v", name, c.method, c.target, h)
			}
			cached := strings.Count(c.target, "/") == 1 && c.status == 200 && c.target != "/favicon.ico"
			if cached && h.Get("Cache-Control") != "no-cache" || c.status >= 400 && h.Get("Cache-Control") != "" {
				t.Errorf("%s %s %s: Cache-Control: %q", name, c.method, c.target, h.Get("Cache-Control"))
			}
		}
	}
	e := d.completed(t, "/docs/")
	if e.HTTP.Route != "/{path...}" || e.HTTP.ResponseContentLength != int64(len("<p>docs")) || e.Severity != 3 {
		t.Errorf("the event of /docs/ is %s", e.raw)
	}
	if e := d.completed(t, "/none"); e.Data["refused"] != "no such file" {
		t.Errorf("the event of /none is %s", e.raw)
	}
	if n := d.metric(t, `weir_requests_total{code="200",method="GET",route="/assets/{path...}"}`); n != 4 {
		t.Errorf("%v requests of the route are counted, want 4", n)
	}
}

// TestUnsatisfiableRangeIsNotCached checks that the response to a range after the end of a file has no Cache-Control:
// a cache could send it to clients that ask for the whole file.
func TestUnsatisfiableRangeIsNotCached(t *testing.T) {
	t.Parallel()
	const cached = "public, max-age=31536000, immutable"
	f := newFolder(t, map[string]string{"a.js": "0123456789"})
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}", func(c *files.Config) {
		c.CacheControl, c.Precompressed = cached, []string{"gzip"}
	})))
	for _, c := range []struct {
		spans, contentRange, cacheControl string
		status                            int
	}{
		{"0-1", "bytes 0-1/10", cached, 206},
		{"10-", "bytes */10", "", 416},
	} {
		resp, _ := ask(t, d.addr, "GET /a.js HTTP/1.1\r\nHost: a\r\nRange: bytes="+c.spans+"\r\n\r\n")
		h := resp.Header
		if resp.StatusCode != c.status || h.Get("Content-Range") != c.contentRange ||
			h.Get("Cache-Control") != c.cacheControl || h.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %d with %v, want %d, Content-Range %q and Cache-Control %q", c.spans, resp.StatusCode, h, c.status,
				c.contentRange, c.cacheControl)
		}
	}
}

func TestFolderRedirectStaysOnTheHost(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{"docs/x": "", "a:b/x": "", "ü\"/x": "", "docs/evil.example/x": ""})
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}"), f.route("/in/{path...}")))
	for target, want := range map[string]string{
		"/docs":                "./docs/",
		"/docs?a=b&c":          "./docs/?a=b&c",
		"/in/docs":             "./docs/",
		"/a:b":                 "./a:b/",
		"/%C3%BC%22":           "./%C3%BC%22/",
		"/docs/evil.example":   "./evil.example/",
		"/docs?\"<>":           "./docs/?%22%3C%3E",
		"//docs":               "",
		"//evil.example/docs":  "",
		"/docs//evil.example":  "",
		"/docs%2Fevil.example": "",
	} {
		resp, _ := ask(t, d.addr, "GET "+target+" HTTP/1.1\r\nHost: a\r\n\r\n")
		status := 301
		if want == "" {
			status = 404
		}
		if got := resp.Header.Get("Location"); resp.StatusCode != status || got != want {
			t.Errorf("%s: %d, Location: %q, want %d, %q", target, resp.StatusCode, got, status, want)
		}
	}
}

// TestHostileNamesReachNoSecret asks for a secret outside of the folder, and for hidden files, in many
// spellings. No response may contain the secret, or wait.
func TestHostileNamesReachNoSecret(t *testing.T) {
	const secret = "the secret"
	top := newFolder(t, map[string]string{
		"secret": secret, "root/.env": secret, "root/.git/config": secret, "root/sub/.hidden": secret, "root/sub/a": "a",
		"root/.secret/x": secret, "root2/secret": secret, "root/page.html": "page",
	})
	f := top + "/root"
	for name, target := range map[string]string{"out": "../secret", "up": "..", "abs": string(top) + "/secret",
		"sub/up": "../..", "null": "/dev/zero", "self": "/proc/self/environ"} {
		if err := os.Symlink(target, filepath.Join(string(f), name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(string(f), "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := openDoor(t, upstream(t, hello).URL, routes(
		f.route("/{path...}", func(c *files.Config) { c.Precompressed = []string{"gzip"} }), f.route("/in/{path...}")))
	names := []string{
		"../secret", "..%2fsecret", "..%2Fsecret", "%2e%2e/secret", "%2e%2e%2fsecret", "%252e%252e/secret",
		"..%5csecret", "..\\secret", "sub/../../secret", "sub/..%2f..%2fsecret", "./../secret", "..;/secret",
		"..;a/secret", "%2e%2e;/secret", "..%00/secret", "../secret%00.html", "page.html%00.js", "..%c0%afsecret",
		"..%ef%bc%8fsecret", "....//secret", "..././secret", "/../secret", "//../secret", "%2f..%2fsecret",
		"../root2/secret", "2/secret", "%2e%2e%5csecret", "..%255csecret", ".env", "%2eenv", ".env/", ".%65nv", "./.env",
		"sub/../.env", "sub/.hidden", "sub/%2ehidden", "sub//.hidden", ".git/config", ".git%2fconfig", "%2egit/config",
		".git/", ".secret/x", ".secret", ".well-known/../.env", ".well-known/.env", ".env%20", ".env.", ".ENV",
		".env::$DATA", "page.html.", "page.html%20", "page.html%2e", "page.html::$DATA", "PAGE.HTML%20", "con", "nul",
		"aux.txt", "COM1", "~root", "page.html~", "page.html/.", "page.html/..", "out", "up/secret", "up/root2/secret",
		"abs", "sub/up/secret", "null", "self", "fifo", "fifo/", "out/", "up/", "up", string(top) + "/secret",
		"file:///" + string(top) + "/secret", strings.Repeat("a", 256), strings.Repeat("a/", 4000) + "a",
		strings.Repeat("../", 60) + "etc/passwd", "%ff%fe", "%80", "\x80\xff", "sub/a%0d%0aSet-Cookie:x", "sub/a%0a",
		"sub/a%7f", "sub%2fa", "sub%2Fa", "sub%5ca", "%u002e%u002e/secret", "sub/%", "sub/%2", "sub/a?/../../secret",
	}
	for _, prefix := range []string{"/", "/in/"} {
		for _, name := range names {
			resp, body := ask(t, d.addr, "GET "+prefix+name+" HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n")
			found := name == "sub/a?/../../secret"
			ok := resp.StatusCode == 404 || resp.StatusCode == 400
			if found {
				ok = resp.StatusCode == 200 && body == "a"
			}
			if !ok || strings.Contains(body, secret) || resp.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s%.60s: %s, %.40q", prefix, name, resp.Status, body)
			}
		}
	}
}

// TestNamesThatAreNoFilesGetTheFallback checks links that lead out of the folder, and a pipe.
func TestNamesThatAreNoFilesGetTheFallback(t *testing.T) {
	t.Parallel()
	top := newFolder(t, map[string]string{"secret": "the secret", "root/app.html": "the app"})
	root := top + "/root"
	for name, target := range map[string]string{"out": "../secret", "abs": string(top) + "/secret", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(string(root), name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(string(root), "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := openDoor(t, upstream(t, hello).URL,
		routes(root.route("/{path...}", func(c *files.Config) { c.Fallback = "/app.html" })))
	for _, name := range []string{"out", "abs", "loop", "pipe", "none"} {
		if resp, body := get(t, httpClient(t), d.url("/"+name)); resp.StatusCode != 200 || body != "the app" {
			t.Errorf("%s: %d %q, want the fallback", name, resp.StatusCode, body)
		}
	}
}

// TestPrecompressedFilesHaveOwnValidators checks the fields of a precompressed file, its ranges, and
// its validators, which differ from those of the file itself.
func TestPrecompressedFilesHaveOwnValidators(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{"a.js": "plain", "a.js.gz": "compressed", "b.js": "plain"})
	if err := os.Chtimes(string(f)+"/a.js.gz", time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	d := openDoor(t, upstream(t, hello).URL,
		routes(f.route("/{path...}", func(c *files.Config) { c.Precompressed = []string{"br", "gzip"} })))
	client := plainClient(httpClient(t))
	send := func(path string, fields ...string) (*http.Response, string) {
		req, err := http.NewRequest("GET", d.url(path), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(fields); i += 2 {
			req.Header.Add(fields[i], fields[i+1])
		}
		resp, body := do(t, client, req)
		if resp.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s %v: Vary: %q", path, fields, resp.Header.Get("Vary"))
		}
		return resp, body
	}
	check := func(what string, resp *http.Response, body string, status int, coding, want string) {
		t.Helper()
		if resp.StatusCode != status || resp.Header.Get("Content-Encoding") != coding || body != want {
			t.Errorf("%s: %d %q %q, want %d %q %q", what, resp.StatusCode, resp.Header.Get("Content-Encoding"), body, status,
				coding, want)
		}
	}
	plain, body := send("/a.js")
	check("plain", plain, body, 200, "", "plain")
	gz, body := send("/a.js", "Accept-Encoding", "deflate", "Accept-Encoding", "gzip")
	check("gzip", gz, body, 200, "gzip", "compressed")
	sameTag := gz.Header.Get("Etag") == plain.Header.Get("Etag")
	if gz.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || sameTag {
		t.Errorf("gzip: %v\nplain: %v", gz.Header, plain.Header)
	}
	resp, body := send("/a.js", "Accept-Encoding", "gzip", "If-None-Match", gz.Header.Get("Etag"))
	check("validated", resp, body, 304, "", "")
	if resp.Header.Get("Etag") != gz.Header.Get("Etag") || resp.Header.Get("Content-Type") != "" {
		t.Errorf("304: %v", resp.Header)
	}
	resp, body = send("/a.js", "Accept-Encoding", "gzip", "If-None-Match", plain.Header.Get("Etag"))
	check("the other coding", resp, body, 200, "gzip", "compressed")
	resp, body = send("/a.js", "Accept-Encoding", "gzip", "Range", "bytes=0-3")
	check("a range", resp, body, 206, "gzip", "comp")
	resp, body = send("/a.js", "Accept-Encoding", "gzip", "Range", "bytes=0-3", "If-Range", plain.Header.Get("Etag"))
	check("a range of the other coding", resp, body, 200, "gzip", "compressed")
	resp, body = send("/b.js", "Accept-Encoding", "gzip, br")
	check("no compressed file", resp, body, 200, "", "plain")
}

// TestShortenedFileCutsTheResponse shortens a file while it is sent. The response is cut, logged and
// counted, over both protocols.
func TestShortenedFileCutsTheResponse(t *testing.T) {
	t.Parallel()
	const size = 64 << 20 // more than the sockets hold
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		f := newFolder(t, map[string]string{"big": ""})
		file := filepath.Join(string(f), "big")
		d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}")))
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
		resp, err := client.Get(d.url("/big"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, 100); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err == nil || resp.ContentLength != size || n >= size {
			t.Errorf("%s: %d bytes of %d, %v", name, n, resp.ContentLength, err)
		}
		e := d.completed(t, "/big")
		if e.Data["failure"] != "file" || e.Data["cut"] != true || e.HTTP.StatusCode != 200 || e.Severity != 1 ||
			e.HTTP.ResponseContentLength < n || len(e.Errors) != 1 || !strings.Contains(e.Errors[0].Message, "shorter") {
			t.Errorf("%s: after %d bytes: %s", name, n, e.raw)
		}
		if n := d.metric(t, `weir_file_failures_total{reason="shortened",route="/{path...}"}`); n != 1 {
			t.Errorf("%s: %v failures are counted", name, n)
		}
	}
}

// TestGrowingFileKeepsItsLength appends to a file while it is sent. The response has the length that it
// announced.
func TestGrowingFileKeepsItsLength(t *testing.T) {
	t.Parallel()
	const size = 16 << 20
	f := newFolder(t, map[string]string{"big": ""})
	file := filepath.Join(string(f), "big")
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}")))
	resp, err := httpClient(t).Get(d.url("/big"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := os.Truncate(file, 2*size); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, resp.Body); n != size || err != nil {
		t.Errorf("%d bytes, %v, want %d", n, err, size)
	}
}

// TestMissingRootGetsAnErrorPage removes the folder and restores it. Errors have the page of the route.
func TestMissingRootGetsAnErrorPage(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{"root/a": "a"})
	root := f + "/root"
	pages := func(c *config.Config) {
		c.ErrorPages = &errorpages.Config{Pages: []errorpages.StatusPage{{Statuses: statuses.Range{First: 500, Last: 599}, Page: htmlPage("sorry")}}}
		pagesOfAll(c)
	}
	d := openDoor(t, "", func(c *config.Config) { c.Upstreams = nil },
		routes(root.route("/{path...}", func(c *files.Config) { c.Fallback = "/a" })), pages)
	client := httpClient(t)
	status := func() int {
		resp, body := get(t, client, d.url("/a"))
		if page := strings.Contains(body, "sorry"); page != (resp.StatusCode == 500) {
			t.Errorf("%s has the body %q", resp.Status, body)
		}
		return resp.StatusCode
	}
	if got := status(); got != 200 {
		t.Errorf("with the folder: %d", got)
	}
	if err := os.Rename(string(root), string(f)+"/away"); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != 500 {
		t.Errorf("without the folder: %d", got)
	}
	e := d.log.find(t, func(e event) bool { return e.HTTP.StatusCode == 500 })
	if e.Data["failure"] != "file" || e.Severity != 1 || e.Data["cut"] != false {
		t.Errorf("without the folder: %s", e.raw)
	}
	if n := d.metric(t, `weir_file_failures_total{reason="open",route="/{path...}"}`); n != 1 {
		t.Errorf("%v failures are counted", n)
	}
	if err := os.Rename(string(f)+"/away", string(root)); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != 200 {
		t.Errorf("with the folder again: %d", got)
	}
}

// TestSlowReadersOfFilesAreCut stalls after the head of a large file. The door cuts the response by
// its minimum speed, as that of an upstream.
func TestSlowReadersOfFilesAreCut(t *testing.T) {
	t.Parallel()
	const size = 64 << 20 // more than the sockets hold
	f := newFolder(t, map[string]string{"1": "", "2": ""})
	for _, name := range []string{"1", "2"} {
		if err := os.Truncate(filepath.Join(string(f), name), size); err != nil {
			t.Fatal(err)
		}
	}
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}")), limited(quick))
	conn := dial(t, d.addr)
	conn.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
	h2 := dialHTTP2(t, d.addr) // never opens its window
	h2.begin(true, ":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/2")
	for _, path := range []string{"/1", "/2"} {
		e := d.completed(t, path)
		if e.Data["limit"] != "download_rate" || e.Data["cut"] != true || e.HTTP.ResponseContentLength >= size {
			t.Errorf("%s: %s", path, e.raw)
		}
	}
}

func TestUncachedFilesAreServed(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789abcdef", 1<<16)
	f := newFolder(t, map[string]string{"big": content})
	evict(t, filepath.Join(string(f), "big"))
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}")))
	for range 2 { // the second time from the page cache
		if resp, body := get(t, httpClient(t), d.url("/big")); resp.StatusCode != 200 || body != content {
			t.Errorf("%s, %d bytes", resp.Status, len(body))
		}
	}
}

// TestReadersOfAFileDoNotMix checks that responses of one connection and of several do not mix.
func TestReadersOfAFileDoNotMix(t *testing.T) {
	t.Parallel()
	contents := map[string]string{}
	for i := range 8 {
		contents[fmt.Sprint(i)] = strings.Repeat(fmt.Sprint(i), 1<<(2*i+3))
	}
	f := newFolder(t, contents)
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}")))
	for _, client := range []*http.Client{httpClient(t), h2cClient(t)} {
		done := make(chan string)
		const readers = 16
		for r := range readers {
			go func() {
				for i := range 40 {
					name := fmt.Sprint((i + r) % 8)
					resp, err := client.Get(d.url("/" + name))
					if err != nil {
						done <- err.Error()
						return
					}
					body, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					if string(body) != contents[name] || err != nil {
						done <- fmt.Sprintf("%s: %d bytes, %v", name, len(body), err)
						return
					}
				}
				done <- ""
			}()
		}
		for range readers {
			select {
			case failure := <-done:
				if failure != "" {
					t.Error(failure)
				}
			case <-time.After(testTimeout):
				t.Fatal("a reader does not end")
			}
		}
	}
}

// TestPrecompressedFilesAreCompressedOnce checks files on a route with compression: a precompressed file is not
// compressed again, and a range is one of the file.
func TestPrecompressedFilesAreCompressedOnce(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("compressible ", 1000)
	f := newFolder(t, map[string]string{"a.js": text, "b.js": text, "b.js.gz": "precompressed"})
	if err := os.Chtimes(string(f)+"/b.js.gz", time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	d := openDoor(t, upstream(t, hello).URL, routes(
		f.route("/{path...}", func(c *files.Config) { c.Precompressed = []string{"gzip"} })), compressed())
	client := plainClient(httpClient(t))
	for _, c := range []struct {
		path, tag, bytes string
		status           int
		coding, want     string
	}{
		{"/a.js", "", "", 200, "gzip", text},
		{"/a.js", "", "bytes=0-11", 206, "", "compressible"},
		{"/b.js", "", "", 200, "gzip", "precompressed"},
	} {
		req, err := http.NewRequest("GET", d.url(c.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "gzip")
		if c.bytes != "" {
			req.Header.Set("Range", c.bytes)
		}
		resp, body := do(t, client, req)
		if c.path == "/a.js" && c.status == 200 {
			resp.Body = io.NopCloser(strings.NewReader(body))
			plain, err := io.ReadAll(decoded(t, resp))
			if err != nil {
				t.Error(err)
			}
			body = string(plain)
		}
		if resp.StatusCode != c.status || resp.Header.Get("Content-Encoding") != c.coding || body != c.want {
			t.Errorf("%s %s: %s, %q, %d bytes", c.path, c.bytes, resp.Status, resp.Header.Get("Content-Encoding"), len(body))
		}
		if vary := resp.Header.Values("Vary"); len(vary) != 1 || vary[0] != "Accept-Encoding" {
			t.Errorf("%s %s: Vary: %q", c.path, c.bytes, vary)
		}
		tag := resp.Header.Get("Etag")
		req.Header.Del("Range")
		req.Header.Set("If-None-Match", tag)
		if again, _ := do(t, client, req); again.StatusCode != 304 || again.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s %s: validating %s: %s, %v", c.path, c.bytes, tag, again.Status, again.Header)
		}
	}
}
