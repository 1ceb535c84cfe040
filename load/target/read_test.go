package target_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load/target"
)

func readTargets(t *testing.T, text string) []target.Target {
	t.Helper()
	list, err := target.Read(strings.NewReader(text), "targets.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	return list.Targets
}

func TestPlainLinesAreRead(t *testing.T) {
	body := testkit.TempFile(t, "body.json", "{\"a\": \"{{b}}\"}\n")
	got := readTargets(t, "\ufeff# a comment\r\n"+
		"GET http://goku:9090/path?item=ball\r\n"+
		"HEAD http://goku:9090/path/to/success\n"+
		"X-Account-ID: 99\n"+
		"# in between\n"+
		"  Cookie:a=b: c  \n"+
		"Content-Length: 7\n"+
		"Empty:\n"+
		"\n"+
		"POST\thttp://goku:9090/things\n"+
		"X-Id: {{uuid}}\n"+
		"@"+body+"\n"+
		"http://goku:9090/bare\n"+
		"HTTP://goku:9090/user/{{rand 1 100}}\n"+
		"PUT http://goku:9090/{{seq}}/{{rand 1 100}}\n"+
		"@"+body)
	want := []target.Target{
		{Method: "GET", URL: "http://goku:9090/path?item=ball"},
		{Method: "HEAD", URL: "http://goku:9090/path/to/success", Header: []target.Header{
			{Name: "X-Account-ID", Value: "99"}, {Name: "Cookie", Value: "a=b: c"}, {Name: "Empty"}}},
		{Method: "POST", URL: "http://goku:9090/things", Header: []target.Header{{Name: "X-Id", Value: "{{uuid}}"}},
			Body: target.Body{Text: "{\"a\": \"{{\"{{\"}}b}}\"}\n"}},
		{URL: "http://goku:9090/bare"},
		{URL: "HTTP://goku:9090/user/{{rand 1 100}}"},
		{Method: "PUT", URL: "http://goku:9090/{{seq}}/{{rand 1 100}}",
			Body: target.Body{Text: "{\"a\": \"{{\"{{\"}}b}}\"}\n"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

func TestLargeBodyIsRead(t *testing.T) {
	content := strings.Repeat("0123456789", 10_000)
	path := testkit.TempFile(t, "large", content)
	got := readTargets(t, "PUT http://a/\n@"+path+"\n\nPUT http://a/2\n@"+path)
	if len(got) != 2 || got[0].Body.File == nil || got[0].Body.File != got[1].Body.File {
		t.Fatalf("got %+v, want two targets that share a file", got)
	}
	t.Cleanup(func() {
		if err := got[0].Body.File.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	})
	data, err := io.ReadAll(io.NewSectionReader(got[1].Body.File, 0, got[1].Body.Size))
	if err != nil || string(data) != content {
		t.Errorf("the body has %d bytes, %v; want %d", len(data), err, len(content))
	}
}

// TestJSONLinesAreRead reads lines of vegeta's encoder.
func TestJSONLinesAreRead(t *testing.T) {
	got := readTargets(t, `{"method":"GET","url":"http://goku:9090/path?item=ball"}
{"method":"POST","url":"http://goku:9090/things","body":"eyJhIjogIjzDqT4ifQo=","header":{"Content-Type":["application/json"],"X-Two":["1","2"],"content-length":["99"]}}

# what others add
 {"url": "http://goku:9090/{{seq}}", "header": {"X": ["{{uuid}}"]}, "body": null}
{"method":"PUT","url":"http://goku:9090/bin","body":"AP97ew=="}
`)
	want := []target.Target{
		{Method: "GET", URL: "http://goku:9090/path?item=ball"},
		{Method: "POST", URL: "http://goku:9090/things", Body: target.Body{Text: "{\"a\": \"<é>\"}\n"},
			Header: []target.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "X-Two", Value: "1"},
				{Name: "X-Two", Value: "2"}}},
		{URL: "http://goku:9090/{{seq}}", Header: []target.Header{{Name: "X", Value: "{{uuid}}"}}},
		{Method: "PUT", URL: "http://goku:9090/bin", Body: target.Body{Text: "\x00\xff" + `{{"{{"}}`}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

func readHAR(t *testing.T, name string) []target.Target {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "targets", name))
	if err != nil {
		t.Fatal(err)
	}
	return readTargets(t, string(data))
}

func TestHAROfChromeIsRead(t *testing.T) {
	want := []target.Target{
		{Method: "GET", URL: "https://shop.example/?q=a%20b#top", Header: []target.Header{
			{Name: "accept", Value: "text/html,*/*;q=0.8"}, {Name: "sec-ch-ua", Value: `"Chromium";v="140"`}}},
		{Method: "POST", URL: "https://shop.example/cart", Header: []target.Header{
			{Name: "content-type", Value: "application/json"}, {Name: "cookie", Value: `session={{"{{"}}x}}`}},
			Body: target.Body{Text: `{"item":"é","note":"{{"{{"}}b}}"}`}},
		{Method: "POST", URL: "https://shop.example/login", Header: []target.Header{
			{Name: "content-type", Value: "application/x-www-form-urlencoded"}},
			Body: target.Body{Text: "user=an%20na&word=a%2Bb"}},
	}
	if diff := cmp.Diff(want, readHAR(t, "chrome.har")); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

func TestHAROfFirefoxIsRead(t *testing.T) {
	got := readHAR(t, "firefox.har")
	if len(got) != 4 {
		t.Fatalf("%d targets, want 4: %+v", len(got), got)
	}
	const page = "http://shop.example:8080/"
	form, upload := got[1], got[2]
	want := target.Target{Method: "POST", URL: page + "form", Body: target.Body{Text: "z=1+2&a=%26"},
		Header: []target.Header{{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}}}
	if diff := cmp.Diff(want, form); diff != "" {
		t.Errorf("the form: want - got +\n%s", diff)
	}
	if len(upload.Header) != 1 || !strings.HasPrefix(upload.Header[0].Value, "multipart/form-data; boundary=") ||
		!strings.Contains(upload.Body.Text, `name="photo"; filename="p.png"`+"\r\nContent-Type: image/png\r\n\r\n"+
			`{{"{{"}}pixels}}`) {
		t.Errorf("the upload is %+v", upload)
	}
	want = target.Target{Method: "PUT", URL: page + "raw", Body: target.Body{Text: "\x00\xff" + `{{"{{"}}`},
		Header: []target.Header{{Name: "Content-Type", Value: "application/octet-stream"}}}
	if diff := cmp.Diff(want, got[3]); diff != "" {
		t.Errorf("base64: want - got +\n%s", diff)
	}
	for _, h := range got[0].Header {
		if h.Name == "Host" || h.Name == "Connection" {
			t.Errorf("%s is left over", h.Name)
		}
	}
}

// TestHAROfPlaywrightIsRead reads a complete recording of Chromium by Playwright 1.65: a page,
// two fetches, a blob and a websocket.
func TestHAROfPlaywrightIsRead(t *testing.T) {
	got := readHAR(t, "playwright.har")
	if len(got) != 3 {
		t.Fatalf("%d targets, want 3: %+v", len(got), got)
	}
	for i, want := range []target.Target{
		{Method: "GET", URL: "http://127.0.0.1:8080/page?x=a%20b"},
		{Method: "POST", URL: "http://127.0.0.1:8080/json", Body: target.Body{Text: `{"a":"é {{"{{"}}x}}"}`}},
		{Method: "POST", URL: "http://127.0.0.1:8080/form", Body: target.Body{Text: "z=1+2&a=%26"}},
	} {
		if len(got[i].Header) < 8 {
			t.Errorf("target %d has the headers %+v", i+1, got[i].Header)
		}
		got[i].Header = nil
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Errorf("target %d: want - got +\n%s", i+1, diff)
		}
	}
}

// har returns a file with a request that can be sent, and another one at 4:3.
func har(request string) string {
	return "{\n \"log\": {\"entries\": [\n  {\"request\": {\"method\": \"GET\", \"url\": \"http://a/\"}},\n  " +
		"{\"request\": " + request + "}\n]}}"
}

func TestReadRejectsBadTargets(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "targets.txt has no targets"},
		{"# none\n\n", "targets.txt has no targets"},
		{"/a?b", `targets.txt:1:1: "/a?b" is a path without an origin; write http://127.0.0.1:8080/a?b, or another host`},
		{"GET http://a/\n/b", `targets.txt:2:1: "/b" is a path without an origin`},
		{"GET /a", `targets.txt:1:5: "/a" is a path without an origin`},
		{`{"url": "/a"}`, `targets.txt:1:1: URL column 1: "/a" is a path without an origin`},
		{"X: y", `targets.txt:1:1: "X: y" is neither METHOD URL nor a URL`},
		{"http://a/\nhttp//b/", `targets.txt:2:1: "http//b/" is neither`},
		{"http://a/\nX: y", `targets.txt:2:1: "X: y" is neither`},
		{"GET http://a/\n\nX: y", `targets.txt:3:1: "X: y" is neither`},
		{"GET http://a/\n  X\n", `targets.txt:2:3: "X" is not a header; write Name: value`},
		{"GET http://a/\n  X y: z\n", `targets.txt:2:5: the URL "y: z" has no scheme`},
		{"GET http://a/\nX(: z\n", `targets.txt:2:1: this is not the name of a header`},
		{"GET http://a/\nX:  a\x01b\n", `targets.txt:2:6: a header cannot hold the control character '\x01'`},
		{"GET http://a/\nX: a{{usr}}\n", `targets.txt:2:5: the template {{usr}}: there is no "usr"`},
		{"GET http://a/\n\n  GET   http://a/x y z", `targets.txt:3:19: a URL cannot hold ' '`},
		{"\n\thttp://a:x/", `targets.txt:2:10: ":x" is not a port`},
		{"CONNECT http://a/", "targets.txt:1:1: CONNECT asks"},
		{"POST http://a/\n@/no/such/file", "targets.txt:2:1: the target's body: open /no/such/file"},
		{`{"url": "http://a/"}` + "\n" + `{"url": "http://a/", "headers": {}}`,
			`targets.txt:2:1: json: unknown field "headers"; a target is`},
		{`{"url": "http://a/"} {}`, `targets.txt:1:22: "{}" follows the object`},
		{` {"url": "http://a/",}`, `targets.txt:1:22: invalid character '}'`},
		{`{"url": 3}`, "targets.txt:1:9: json: cannot unmarshal number"},
		{`{"url": "http://a/", "body": "%"}`, "targets.txt:1:1: illegal base64 data"},
		{"{\"url\":\n \"http://a/\"}", "targets.txt:1:1: the object does not end on this line"},
		{`{"url": "http://a/ b"}`, "targets.txt:1:1: URL column 10: a URL cannot hold ' '"},
		{`{}`, `targets.txt:1:1: URL column 1: the URL "" has no scheme`},
		{har(`{"url": 3}`), "targets.txt:4:3: json: cannot unmarshal number"},
		{har(`{,}`), "targets.txt:4:16: invalid character ','"},
		{`{"log": {"entries": [{"request": {"url": "data:,"}}]}}`,
			"targets.txt:1:22: none of the 1 entries is a request over http or https"},
		{`{"log": {"entries": []}}`, "targets.txt has no targets"},
		{`{"log": {"entries": [`, "targets.txt:1:21: unexpected end of JSON input"},
		{`{"log": []}`, "HAR has log.entries[].request; there is [ where { has to be"},
	} {
		got, err := target.Read(strings.NewReader(c.text), "targets.txt", nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q\ngot  %v, %v\nwant %s", c.text, got, err, c.want)
		}
	}
}

// Entries of HAR that cannot be sent are skipped and listed.
func TestReadHARSkipsEntriesThatCannotBeSent(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{har(`{"method": "G T", "url": "http://a/"}`),
			`targets.txt:4:3: G T http://a/: "G T" is not a method`},
		{har(`{"url": "http://a/ b"}`), "targets.txt:4:3:  http://a/ b: URL column 10: a URL cannot hold ' '"},
		{har(`{"url": "http://a/", "postData": {"text": "%", "encoding": "base64"}}`),
			"targets.txt:4:3:  http://a/: postData: illegal base64"},
		{har(`{"method": "PUT", "url": "http://a/x", "bodySize": 5, "postData": {"text": ""}}`),
			"targets.txt:4:3: PUT http://a/x: it was sent with a body of 5 bytes, which the file does not hold"},
		{har(`{"method": "PUT", "url": "http://a/x", "headers": [{"name": "content-length", "value": "281"}]}`),
			"a body of 281 bytes"},
	} {
		list, err := target.Read(strings.NewReader(c.text), "targets.txt", nil)
		if err != nil || len(list.Targets) != 1 || !list.Recorded || len(list.Skipped) != 1 ||
			!strings.Contains(list.Skipped[0], c.want) {
			t.Errorf("%q\ngot  %+v, %v\nwant one target, and skipped %s", c.text, list, err, c.want)
		}
	}
	const one = `{"log": {"entries": [{"request": {"method": "PUT", "url": "http://a/x", "bodySize": 5}}]}}`
	if _, err := target.Read(strings.NewReader(one), "a.har", nil); err == nil ||
		!strings.Contains(err.Error(), "none of the 1 entries can be sent; a.har:1:22: PUT http://a/x: it was sent with") {
		t.Errorf("a file with one entry, which cannot be sent: %v", err)
	}
}

// Targets of one host are recognized whatever the scheme, its default port and the case of the host.
func TestTargetsOfOwnHostAreRecognized(t *testing.T) {
	list := target.List{Targets: []target.Target{{URL: "http://Shop.example"}, {URL: "https://shop.example:443/a?b://c"},
		{URL: "http://cdn.example/x"}, {URL: "http://user@shop.example:80/"}, {URL: "http://shop.example:8080/"},
		{URL: "http://cdn.example/shop.example/"}}}
	own, others := list.OfOwnHost()
	if len(own) != 3 || others != 3 {
		t.Errorf("got %v and %d others, want 3 and 3", own, others)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, os.ErrClosed }

func TestReadReturnsErrorsOfReader(t *testing.T) {
	if _, err := target.Read(brokenReader{}, "x", nil); err == nil ||
		!strings.Contains(err.Error(), os.ErrClosed.Error()) {
		t.Errorf("got %v, want %v", err, os.ErrClosed)
	}
}

// FuzzReadTargets checks that targets from a file are well-formed, and that the same text
// yields the same targets.
func FuzzReadTargets(f *testing.F) {
	for _, name := range []string{"chrome.har", "firefox.har"} {
		data, err := os.ReadFile(filepath.Join("testdata", "targets", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("GET http://a/\nX: y\n\nhttp://b/{{seq}}")
	f.Add(`{"method":"GET","url":"http://a/","header":{"A":["b"]},"body":"AA=="}`)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "@") {
			return // no files
		}
		list, err := target.Read(strings.NewReader(text), "f", nil)
		if err != nil {
			return
		}
		targets := list.Targets
		if len(targets) == 0 {
			t.Fatal("no targets, and no error")
		}
		rebased, err := target.Rebase(targets, "https://[::1]:8443")
		if err != nil {
			t.Fatalf("%+v: %v", targets, err)
		}
		for _, r := range rebased {
			if !strings.HasPrefix(r.URL, "https://[::1]:8443") {
				t.Errorf("rebased to %s", r.URL)
			}
			if strings.ContainsAny(r.URL[18:], "\r\n") {
				t.Errorf("%q has the end of a line", r.URL)
			}
		}
	})
}
