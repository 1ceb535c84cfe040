package httplog_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/weirhq/weir/log/httplog"
)

// TestTemporaryFilesOfFormsAreRemoved uploads a file that the handler's form keeps on the disk. After a panic,
// net/http removes it for HTTP/2 only.
func TestTemporaryFilesOfFormsAreRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		protocol protocol
		panics   bool
	}{
		http1.name:                {http1, false},
		http2.name:                {http2, false},
		http2raw.name:             {http2raw, false},
		http2.name + " and panic": {http2, true},
	} {
		t.Run(name, func(t *testing.T) {
			stored := make(chan string, 1)
			s, _ := serve(t, c.protocol, completedOnly, func(_ http.ResponseWriter, r *http.Request) {
				stored <- storedFile(t, r)
				if c.panics {
					panic(http.ErrAbortHandler)
				}
			})
			upload(t, s.Client(), s.URL, c.panics)
			s.Close() // net/http may remove the file after the response
			file := <-stored
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: got %v, want no file", file, err)
				os.Remove(file)
			}
		})
	}
}

// storedFile parses the form of a request and returns the name of the temporary file of its part "file".
func storedFile(t *testing.T, r *http.Request) string {
	if err := r.ParseMultipartForm(0); err != nil { // 0: no file in memory
		t.Error(err)
		return ""
	}
	part, _, err := r.FormFile("file")
	if err != nil {
		t.Error(err)
		return ""
	}
	defer part.Close()
	file, ok := part.(*os.File)
	if !ok {
		t.Errorf("the part is a %T, want a file", part)
		return ""
	}
	return file.Name()
}

// upload sends a form with one file. fails is true if there will be no response.
func upload(t *testing.T, client *http.Client, url string, fails bool) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "report.txt")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(part, "the content of the report")
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	answer, err := client.Post(url, form.FormDataContentType(), &body)
	if fails != (err != nil) {
		t.Fatalf("got error %v, want one: %t", err, fails)
	}
	if err == nil {
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

// TestGoroutinesMayShareRequestWithoutForm serves one request many times at once, as the tests and benchmarks of
// handlers do. The race detector reports a write to it.
func TestGoroutinesMayShareRequestWithoutForm(t *testing.T) {
	h := httplog.Middleware(nil, httplog.Options{})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r := newRequest(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { h.ServeHTTP(discardWriter{}, r) })
	}
	wg.Wait()
}
