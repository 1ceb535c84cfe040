package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/bench/router"
)

func TestEveryLengthIsMeasured(t *testing.T) {
	for _, name := range router.ServedNames() {
		routes, err := router.Serve(name)
		if err != nil {
			t.Fatal(err)
		}
		s := newRouted(routes)
		for line := range strings.Lines(requestLines()) {
			method, url, _ := strings.Cut(strings.TrimSpace(line), " ")
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, httptest.NewRequest(method, url, nil)); w.Code != 204 {
				t.Errorf("%s: %.60s: got %d, want 204", name, line, w.Code)
			}
		}
		measures := s.measures()
		if len(measures) != len(lengths) {
			t.Errorf("%s: got %v, want a measure for each of %v", name, measures, lengths)
		}
		for _, m := range measures {
			if m.Value <= 0 || m.Unit != "us" {
				t.Errorf("%s: got %+v, want a time", name, m)
			}
		}
	}
}

func TestGitHubsRoutesAreMeasuredTogether(t *testing.T) {
	for _, name := range router.ServedNames() {
		routes, err := router.Serve(name)
		if err != nil {
			t.Fatal(err)
		}
		s := newRouted(routes)
		for line := range strings.Lines(githubLines()) {
			method, url, _ := strings.Cut(strings.TrimSpace(line), " ")
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, httptest.NewRequest(method, url, nil)); w.Code != 204 {
				t.Errorf("%s: %s: got %d, want 204", name, line, w.Code)
			}
		}
		got, want := s.github.Count(), int64(len(router.GitHubRequests()))
		if measures := s.measures(); got != want || len(measures) != 1 || measures[0].Value <= 0 {
			t.Errorf("%s: got %v of %d requests, want one time of %d", name, measures, got, want)
		}
	}
}

func TestOtherPathsAreAnsweredAndNotMeasured(t *testing.T) {
	routes, err := router.Serve(router.WeirRouter)
	if err != nil {
		t.Fatal(err)
	}
	s := newRouted(routes)
	for _, c := range []struct {
		path string
		want int
	}{{"/nowhere", 404}, {router.FilesPath(2), 204}} {
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, httptest.NewRequest("GET", c.path, nil)); w.Code != c.want {
			t.Errorf("%s: got %d, want %d", c.path, w.Code, c.want)
		}
	}
	if got := s.measures(); len(got) != 0 {
		t.Errorf("got %v, want no measures", got)
	}
}

func TestRequestsAreWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "paths.txt")
	for of, want := range map[string]int{"lengths": len(lengths), "github": len(router.GitHubRequests())} {
		if err := run("", "", file, of); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(text), "\n"); got != want {
			t.Errorf("%s: got %d requests, want %d", of, got, want)
		}
	}
	if err := run("", "", file, "paths"); err == nil {
		t.Error("requests of an unknown kind were written")
	}
}
