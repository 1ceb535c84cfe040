package router

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestValueChunkHandsNothingOutTwice keeps all slices, writes into them and appends to
// them.
func TestValueChunkHandsNothingOutTwice(t *testing.T) {
	req := &http.Request{URL: new(url.URL)}
	var c valueChunk
	var all [][]string
	for i := range 1000 {
		n := i % (2 * maxFromChunk)
		taken := c.take(n, req)
		if len(taken) != n {
			t.Fatalf("take(%d) returns %d strings", n, len(taken))
		}
		for k := range taken {
			if taken[k] != "" {
				t.Fatalf("take(%d) returns %q", n, taken)
			}
			taken[k] = fmt.Sprint(i)
		}
		all = append(all, taken)
		_ = append(taken, "beyond")
	}
	for i, taken := range all {
		for _, value := range taken {
			if value != fmt.Sprint(i) {
				t.Fatalf("the values of request %d are %q", i, taken)
			}
		}
	}
}

// TestValueChunkKeepsNoLongLines checks which requests share memory.
func TestValueChunkKeepsNoLongLines(t *testing.T) {
	long := strings.Repeat("a", maxLine)
	for name, c := range map[string]struct {
		request http.Request
		shares  bool
	}{
		"short": {http.Request{Method: "GET", RequestURI: "/a/b?c", URL: &url.URL{Path: "/a/b", RawQuery: "c"}},
			true},
		"long path":   {http.Request{RequestURI: "/" + long, URL: &url.URL{Path: "/" + long}}, false},
		"long query":  {http.Request{RequestURI: "/a?" + long, URL: &url.URL{Path: "/a", RawQuery: long}}, false},
		"long method": {http.Request{Method: long, RequestURI: "/a", URL: &url.URL{Path: "/a"}}, false},
		"no URI":      {http.Request{URL: &url.URL{Path: "/a", RawQuery: long}}, false},
	} {
		var chunk valueChunk
		chunk.take(2, &c.request)
		if shares := chunk.strings != nil; shares != c.shares {
			t.Errorf("%s: a chunk is used: %v, want %v", name, shares, c.shares)
		}
	}
}

// TestPathValuesAllocateOncePerChunk counts over many requests, because one allocation serves
// several.
func TestPathValuesAllocateOncePerChunk(t *testing.T) {
	const runs = 10 * chunkLen
	for n := range maxFromChunk + 2 {
		found := lookedUp(t, n)
		v, chunk, req := newPathValues(found.names), new(valueChunk), new(http.Request)
		got := testing.AllocsPerRun(10, func() {
			for range runs {
				*req = *found.request
				v.set(req, found.params.captures(), chunk)
			}
		})
		want := 0
		switch {
		case n > maxFromChunk:
			want = runs
		case n > 0:
			perChunk := chunkLen / n
			want = (runs + perChunk - 1) / perChunk
		}
		if int(got) > want+1 {
			t.Errorf("%d parameters: %v allocations in %d requests, want %d", n, got, runs, want)
		}
	}
}
