package front_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
)

// aliceHash is the hash of the password of alice, which is secret.
const aliceHash = "$2a$04$dSONYHp17lTOygF.2968AOOLYYL8LB7Aw2D8UFB7/dluy4gd9MqAq"

// FuzzCombinations serves random files with defaults, nested groups and off by front doors, and compares the responses
// to random requests, also of those without a route, with those of a model. The model merges nothing: it looks for each
// value in the innermost place first. WEIR_LONG has thousands of files.
func FuzzCombinations(f *testing.F) {
	files := uint64(30)
	if os.Getenv("WEIR_LONG") != "" {
		files = 3000
	}
	for seed := range files {
		f.Add(seed)
	}
	folder := combinationFolder(f)
	var upstreams strings.Builder
	upstreams.WriteString("upstreams:\n")
	for _, name := range []string{"a", "b"} {
		fmt.Fprintf(&upstreams, "  %s: {servers: %q}\n", name, upstream(f, func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("X-From", name)
			h.Set("X-Saw", sawOf(r.Method, r.RequestURI, r.Host, r.Header))
			h.Set("X-Up-1", "up")
			h.Set("X-Up-2", "up")
			h.Set("Content-Type", "text/plain")
			h.Set("Content-Length", fmt.Sprint(len(upstreamBody)))
			if r.URL.RawQuery == "status=404" {
				w.WriteHeader(404)
			}
			io.WriteString(w, upstreamBody)
		}).URL)
	}
	fmt.Fprintf(&upstreams, "  login: {servers: %q}\n", upstream(f, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Token") == "" {
			w.WriteHeader(403)
			io.WriteString(w, "denied")
			return
		}
		w.Header().Set("X-Who", "bob")
	}).URL)
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := newCombination(seed)
		text := c.yaml(upstreams.String())
		parsed, err := config.Parse(filepath.Join(folder, "weir.yaml"), []byte(text), nil)
		if err != nil {
			t.Fatalf("%s%v", text, err)
		}
		d := openDoor(t, "", func(of *config.Config) {
			engine, drain := of.Engine, of.Drain
			*of = *parsed
			of.Engine, of.Drain = engine, drain
		})
		client := httpClient(t)
		client.Transport.(*http.Transport).DisableCompression = true
		for range 40 {
			q := c.request()
			want := c.respond(q)
			if q.method == "HEAD" {
				want.body = ""
			}
			if got := d.responseTo(t, client, q); !cmp.Equal(want, got, cmp.AllowUnexported(modelResponse{})) {
				t.Fatalf("%s%+v (-want +got):\n%s", text, *q, cmp.Diff(want, got, cmp.AllowUnexported(modelResponse{})))
			}
		}
	})
}

// combinationFolder returns a folder with the files that random files name.
func combinationFolder(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	files := map[string]string{"redirects.csv": "from,to,status\n" + redirectedPath + ",https://new.example/,301\n", "public/f.txt": fileBody}
	for _, name := range pageNames {
		files[name] = errorPageText(name)
	}
	if err := os.Mkdir(filepath.Join(folder, "public"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// request returns a random request, mostly for one of the routes.
func (c *combination) request() *modelRequest {
	q := &modelRequest{
		method: pick(c, "GET", "GET", "GET", "HEAD", "POST", "DELETE", "OPTIONS"), host: pick(c, "a.example", "b.example", "c.example"),
		path: pick(c, redirectedPath, "/nothing", "/"), query: pick(c, "", "", "status=404", "q=1"), client: pick(c, clients...),
		header: map[string]string{},
	}
	if len(c.routes) > 0 && !c.one(8) {
		p := c.routes[c.random.IntN(len(c.routes))]
		q.path = p.wholePrefix() + p.match[strings.IndexByte(p.match, '/'):]
		q.path = strings.NewReplacer("{id}", pick(c, "7", "f.txt"), "{id...}", pick(c, "", "f.txt", "x/y")).Replace(q.path)
		if hosts := p.allHosts(); hosts != nil && !c.one(4) {
			q.host = pick(c, hosts...)
		}
	}
	for _, field := range [][2]string{{"X-Beta", "1"}, {"X-Gamma", "1"}, {"X-Gamma", "2"}, {"X-Token", "ok"}, {"X-Token", "ok"},
		{"Authorization", "Basic YWxpY2U6c2VjcmV0"}, {"Accept-Encoding", "gzip"}, {"Accept-Encoding", "gzip"},
		{"Origin", pick(c, "https://a.example", "https://b.example")}} {
		if c.one(2) {
			q.header[field[0]] = field[1]
		}
	}
	if q.method == "OPTIONS" && q.header["Origin"] != "" && c.one(2) {
		q.header["Access-Control-Request-Method"] = pick(c, "GET", "POST", "DELETE")
	}
	if q.method == "POST" {
		q.body = c.random.IntN(150)
	}
	return q
}

// responseTo sends a request, and returns the parts of its response that the model has.
func (d *testDoor) responseTo(t *testing.T, client *http.Client, q *modelRequest) modelResponse {
	t.Helper()
	r, err := http.NewRequest(q.method, d.url(q.path+q.suffix()), strings.NewReader(strings.Repeat("b", q.body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = q.host
	for _, fields := range []map[string]string{clientFields, q.header, {"X-Forwarded-For": q.client}} {
		for name, value := range fields {
			r.Header.Set(name, value)
		}
	}
	resp, body := do(t, client, r)
	got := modelResponse{status: resp.StatusCode, fields: map[string]string{}, body: body}
	for _, name := range comparedFields {
		if values := resp.Header.Values(name); len(values) > 0 {
			got.fields[name] = strings.Join(values, ",")
		}
	}
	if allow, ok := got.fields["Allow"]; ok {
		methods := strings.Split(allow, ", ")
		slices.Sort(methods)
		got.fields["Allow"] = strings.Join(methods, ", ")
	}
	if _, ok := got.fields["Retry-After"]; ok && got.status == 429 {
		got.fields["Retry-After"] = "soon" // it depends on the time
	}
	if _, realm, ok := strings.Cut(got.fields["Www-Authenticate"], `realm="`); ok {
		got.fields["Www-Authenticate"], _, _ = strings.Cut(realm, `"`)
	}
	if got.fields["Content-Encoding"] == "gzip" && body != "" {
		z, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		got.body = string(decoded)
	}
	return got
}
