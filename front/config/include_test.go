package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
)

// parseFiles parses weir.yaml in a folder with the given files.
func parseFiles(t *testing.T, files map[string]string) (c *config.Config, folder string, err error) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err = config.Parse(filepath.Join(folder, "weir.yaml"), []byte(files["weir.yaml"]), env("SITE=http://127.0.0.1:7"))
	return c, folder, err
}

// TestFolderIsNoPattern has a configuration in a folder whose name would be a pattern, beside one that it matches.
func TestFolderIsNoPattern(t *testing.T) {
	folder := t.TempDir()
	for name, match := range map[string]string{"app[1]": "/mine", "app1": "/other"} {
		if err := os.MkdirAll(filepath.Join(folder, name, "routes"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, "routes/1.yaml"), []byte("routes: [{match: "+match+", to: a}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Parse(filepath.Join(folder, "app[1]", "weir.yaml"),
		[]byte("include: routes/*.yaml\nupstreams: {a: {servers: [http://127.0.0.1:7]}}\n"), env())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Routes) != 1 || c.Routes[0].Match != "/mine" {
		t.Errorf("routes %+v, want /mine", c.Routes)
	}
}

func TestIncludedFilesAreMerged(t *testing.T) {
	c, folder, err := parseFiles(t, map[string]string{
		"weir.yaml":      "include: [routes/*.yaml, upstreams.yaml]\nroutes: [{match: /z, to: b}]\n",
		"upstreams.yaml": "upstreams:\n  a: {servers: [\"${SITE}\"]}\n  b: {servers: [http://127.0.0.1:8]}\n",
		"routes/2.yaml":  "routes: [{match: '/y/{id:code}', to: a}]\n",
		"routes/1.yaml": "constraints: {code: '[a-z]{3}'}\nroutes: [{match: /x, to: c}]\n" +
			"upstreams: {c: {servers: [http://127.0.0.1:9]}}\n",
		"routes/empty.yaml":  "",
		"routes/.x.yaml":     "left out",
		"routes/readme.text": "left out",
	})
	if err != nil {
		t.Fatal(err)
	}
	var routes, upstreams []string
	for _, r := range c.Routes {
		routes = append(routes, r.Match)
	}
	for _, u := range c.Upstreams {
		upstreams = append(upstreams, u.Name+" "+u.Servers[0].URL)
	}
	if want := []string{"/z", "/x", "/y/{id:code}"}; !slices.Equal(routes, want) {
		t.Errorf("routes %q, want %q", routes, want)
	}
	if want := []string{"c http://127.0.0.1:9", "a http://127.0.0.1:7", "b http://127.0.0.1:8"}; !slices.Equal(upstreams, want) {
		t.Errorf("upstreams %q, want %q", upstreams, want)
	}
	var want []string
	for _, name := range []string{"weir.yaml", "routes/1.yaml", "routes/2.yaml", "routes/empty.yaml", "upstreams.yaml"} {
		want = append(want, filepath.Join(folder, name))
	}
	if !slices.Equal(c.Sources, want) {
		t.Errorf("sources %q, want %q", c.Sources, want)
	}
}

// Each case is a set of files and its only mistake: its place, then parts of its text.
func TestIncludeMistakesAreReported(t *testing.T) {
	const main = "include: 'r/*.yaml'\nupstreams: {a: {servers: [http://127.0.0.1:7]}}\nroutes: [{match: /z, to: a}]\n"
	many := map[string]string{"weir.yaml": main}
	for i := range 1001 {
		many[fmt.Sprintf("r/%d.yaml", i)] = ""
	}
	for name, c := range map[string]struct {
		files map[string]string
		place string
		parts []string
	}{
		"unknown key": {map[string]string{"weir.yaml": main, "r/a.yaml": "\nrouts: []\n"}, "r/a.yaml:2:1",
			[]string{`"routs"`, `did you mean "routes"?`}},
		"key of the main file": {map[string]string{"weir.yaml": main, "r/a.yaml": "log: {level: warn}\n"}, "r/a.yaml:1:1",
			[]string{`only constraints, upstreams, routes: not "log"`, "move it"}},
		"nested": {map[string]string{"weir.yaml": main, "r/a.yaml": "include: b.yaml\n"}, "r/a.yaml:1:1",
			[]string{`not "include"`}},
		"not YAML": {map[string]string{"weir.yaml": main, "r/a.yaml": "routes: [}\n"}, "r/a.yaml:1:9",
			[]string{"not YAML"}},
		"value": {map[string]string{"weir.yaml": main, "r/a.yaml": "routes:\n  - {match: /a, to: a, timeout: 5}\n"},
			"r/a.yaml:2:33", []string{`"5"`}},
		"pattern": {map[string]string{"weir.yaml": main, "r/a.yaml": "routes:\n  - {match: /a/*, to: a}\n"},
			"r/a.yaml:2:16", []string{"{path...}"}},
		"missing upstream": {map[string]string{"weir.yaml": main, "r/a.yaml": "routes: [{match: /a, to: b}]\n"},
			"r/a.yaml:1:26", []string{`no upstream "b"`}},
		"missing field": {map[string]string{"weir.yaml": main, "r/a.yaml": "routes:\n  - {match: /a}\n"},
			"r/a.yaml:2:5", []string{"the route has no action"}},
		"upstream given twice": {map[string]string{"weir.yaml": main,
			"r/a.yaml": "upstreams:\n  a: {servers: [http://127.0.0.1:7]}\n"},
			"r/a.yaml:2:3", []string{`"a" is given twice, first on line 2 of `, "weir.yaml"}},
		"constraint given twice": {map[string]string{"weir.yaml": main, "r/a.yaml": "constraints: {x: a}\n",
			"r/b.yaml": "constraints: {x: b}\n"},
			"r/b.yaml:1:15", []string{`"x" is given twice, first on line 1 of `, "r/a.yaml"}},
		"conflict": {map[string]string{"weir.yaml": main, "r/a.yaml": "\nroutes: [{match: /z, to: a}]\n"},
			"r/a.yaml:2:18", []string{`conflicts with "/z" on line 3 of `, "weir.yaml"}},
		"missing file": {map[string]string{"weir.yaml": "include: [r.yaml]\n" + smallest}, "weir.yaml:1:11",
			[]string{"r.yaml", "no such file"}},
		"folder": {map[string]string{"weir.yaml": "include: r/*\n" + smallest, "r/x/y": ""}, "weir.yaml:1:10",
			[]string{"not a regular file"}},
		"itself": {map[string]string{"weir.yaml": "include: '*.yaml'\n" + smallest}, "weir.yaml:1:10",
			[]string{"includes this file itself", "a folder of their own"}},
		"malformed pattern": {map[string]string{"weir.yaml": "include: 'r/[a'\n" + smallest}, "weir.yaml:1:10",
			[]string{"not a pattern of files"}},
		"no routes": {map[string]string{"weir.yaml": "include: r/*.yaml\nupstreams: {a: {servers: [http://127.0.0.1:7]}}\n"},
			"weir.yaml:1:10", []string{`neither this file nor an included one has "routes"`}},
		"empty":    {map[string]string{"weir.yaml": "include: []\n" + smallest}, "weir.yaml:1:10", []string{`"include" is empty`}},
		"too many": {many, "weir.yaml:1:10", []string{"1001 included files", "limit is 1000"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, folder, err := parseFiles(t, c.files)
			var ms config.Mistakes
			if !errors.As(err, &ms) || len(ms) != 1 {
				t.Fatalf("got %v, want one mistake", err)
			}
			text := strings.TrimPrefix(ms[0].Error(), folder+"/")
			if !strings.HasPrefix(text, c.place+": ") {
				t.Errorf("got %q, want it at %s", text, c.place)
			}
			for _, part := range c.parts {
				if !strings.Contains(text, part) {
					t.Errorf("got %q, want it to contain %q", text, part)
				}
			}
		})
	}
}
