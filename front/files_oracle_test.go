package front_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFilesAgreeWithNetHTTP sends random conditional requests and requests for ranges to the door
// and to net/http's file server, with the same entity tags, and compares the responses. The
// decisions in which they differ are not generated: TestOpenCasesOfRangesAreDecided of package files has them.
func TestFilesAgreeWithNetHTTP(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{
		"empty.txt": "", "one.txt": "1", "small.html": strings.Repeat("0123456789", 10), "sub/index.html": "<p>sub",
		"big.bin": strings.Repeat("abcdefghijklmnopqrstuvwxyz", 10_000), "sub/a.css": "a {}",
	})
	changed := time.Now().Add(-time.Hour).Truncate(time.Second)
	err := filepath.Walk(string(f), func(name string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(name, time.Time{}, changed.Add(123*time.Millisecond))
	})
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"/empty.txt", "/one.txt", "/small.html", "/small.html", "/big.bin", "/sub/", "/sub/a.css", "/sub",
		"/none.html"}
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}")))
	client := plainClient(httpClient(t))
	tags := map[string]string{}
	for _, path := range paths {
		resp, _ := get(t, client, d.url(path))
		tags[path] = resp.Header.Get("Etag")
	}
	server := http.FileServer(http.Dir(string(f)))
	oracle := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if tag := tags[r.URL.Path]; tag != "" {
			w.Header().Set("ETag", tag)
		}
		server.ServeHTTP(w, r)
	})

	const requests = 1000
	statuses := map[int]int{}
	random := rand.New(rand.NewPCG(1, 2))
	for range requests {
		path := paths[random.IntN(len(paths))]
		header, method := randomConditions(random, tags[path], changed), "GET"
		if random.IntN(5) == 0 {
			method = "HEAD"
			header.Del("Range") // not defined for HEAD; net/http responds with 206
		}
		if path == "/empty.txt" {
			header.Del("Range") // net/http responds with "Content-Range: bytes 0--1/0"
		}
		send := func(base string) (*http.Response, string) {
			req, err := http.NewRequest(method, base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = header
			return do(t, client, req)
		}
		got, gotBody := send("http://" + d.addr)
		want, wantBody := send(oracle.URL)
		statuses[got.StatusCode]++
		if diff := differ(got, want, gotBody, wantBody); diff != "" {
			t.Errorf("%s %s %v: %s", method, path, header, diff)
		}
	}
	for _, status := range []int{200, 206, 301, 304, 404, 412, 416} {
		if statuses[status] < 20 {
			t.Errorf("only %d responses with %d: %v", statuses[status], status, statuses)
		}
	}
}

// randomConditions returns request fields about a file with the given tag and time.
func randomConditions(random *rand.Rand, tag string, changed time.Time) http.Header {
	one := func(choices ...string) string { return choices[random.IntN(len(choices))] }
	tagList := func() string {
		list := make([]string, 1+random.IntN(3))
		for i := range list {
			list[i] = one(tag, "W/"+tag, `"other"`, `W/"other"`, `""`, `"a,b"`, `"unclosed`, "bare", "")
		}
		return one(strings.Join(list, ", "), strings.Join(list, ","), tag, "*")
	}
	date := func() string {
		at := changed.Add(time.Duration(random.IntN(3)-1) * time.Second).UTC()
		return one(at.Format(http.TimeFormat), at.Format(time.RFC850), at.Format(time.ANSIC), at.Format(time.RFC3339), "0",
			"")
	}
	h := http.Header{}
	set := func(name string, share int, value func() string) {
		if random.IntN(share) == 0 {
			h.Set(name, value())
		}
	}
	set("If-Match", 6, tagList)
	set("If-None-Match", 4, tagList)
	set("If-Modified-Since", 4, date)
	set("If-Unmodified-Since", 6, date)
	set("If-Range", 4, func() string { return one(tag, "W/"+tag, `"other"`, date()) })
	set("Range", 2, func() string { return randomRange(random) })
	return h
}

// randomRange returns ranges of which some are outside of the file.
func randomRange(random *rand.Rand) string {
	position := func() int {
		limit := []int{1, 3, 10, 100, 1000, 300_000}[random.IntN(6)]
		return random.IntN(limit)
	}
	list := make([]string, 1+random.IntN(4))
	for i := range list {
		from := position()
		switch random.IntN(4) {
		case 0:
			list[i] = fmt.Sprintf("%d-", from)
		case 1:
			list[i] = fmt.Sprintf("-%d", 1+from)
		default:
			list[i] = fmt.Sprintf("%d-%d", from, from+position())
		}
	}
	return "bytes=" + strings.Join(list, []string{",", ", ", " , ,"}[random.IntN(3)])
}

// differ returns the difference of two responses for a client, or "".
func differ(got, want *http.Response, gotBody, wantBody string) string {
	if got.StatusCode != want.StatusCode {
		return fmt.Sprintf("status %d, want %d", got.StatusCode, want.StatusCode)
	}
	names := []string{"Location"}
	switch got.StatusCode {
	case 200, 206:
		names = []string{"Content-Range", "Content-Length", "Last-Modified", "Etag", "Accept-Ranges"}
	case 304:
		names = []string{"Etag", "Content-Type", "Content-Length"}
	case 416:
		names = []string{"Content-Range"}
	case 301:
		if got, want := location(got), location(want); got != want {
			return fmt.Sprintf("it leads to %q, want %q", got, want)
		}
		return ""
	case 404, 412:
		return ""
	}
	gotType, wantType := got.Header.Get("Content-Type"), want.Header.Get("Content-Type")
	if strings.HasPrefix(wantType, "multipart/") {
		gotBody, wantBody = parts(got, gotBody), parts(want, wantBody)
		names = []string{"Content-Range", "Last-Modified", "Etag", "Accept-Ranges"} // the boundaries have different lengths
	} else if got.StatusCode < 300 && gotType != wantType {
		return fmt.Sprintf("Content-Type: %q, want %q", gotType, wantType)
	}
	for _, name := range names {
		if got, want := got.Header.Get(name), want.Header.Get(name); got != want {
			return fmt.Sprintf("%s: %q, want %q", name, got, want)
		}
	}
	if gotBody != wantBody && got.StatusCode < 300 {
		return fmt.Sprintf("the body has %d bytes, want %d: %.100q, want %.100q", len(gotBody), len(wantBody), gotBody,
			wantBody)
	}
	return ""
}

// location returns the path that a redirect leads to.
func location(resp *http.Response) string {
	u, err := resp.Location()
	if err != nil {
		return err.Error()
	}
	return u.Path
}

// parts returns the parts of a multipart response with their fields, or the error.
func parts(resp *http.Response, body string) string {
	_, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	reader := multipart.NewReader(strings.NewReader(body), params["boundary"])
	for {
		part, err := reader.NextPart()
		if err == io.EOF {
			return text.String()
		}
		if err != nil {
			return text.String() + err.Error()
		}
		content, err := io.ReadAll(part)
		fmt.Fprint(&text, part.Header, string(content), err, "\n")
	}
}
