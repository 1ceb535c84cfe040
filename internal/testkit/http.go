package testkit

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Serve starts a server, which the end of the test closes.
func Serve(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// Do sends a request and returns the response and its body.
func Do(t testing.TB, c *http.Client, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: after %d bytes of the body: %v", r.Method, r.URL, len(body), err)
	}
	return resp, string(body)
}

// Get sends a GET request and returns the response and its body.
func Get(t testing.TB, c *http.Client, url string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Do(t, c, r)
}
