package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// hostile is an argument that changes a terminal's title and colours and the direction of text, and
// has a line that looks like a message.
const hostile = "a\x1b]0;owned\x07\x1b[31m\u009b2J\u202e\r\b\x7f\xff\nweir: hint: run this\x1b[0m"

// TestMessagesEscapeControlCharacters gives each verb arguments, files and events with control characters. Its
// messages have none, and each of their lines begins a message or is indented.
func TestMessagesEscapeControlCharacters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const quoted = `"a\x1b]0;owned\x07\x1b[31m\u009b2J\u202e\r\b\nweir: hint: run this"`
	const jsonQuoted = `"a\u001b]0;owned\u0007\u001b[31m\u009b2J\u202e\r\b\nweir: hint: run this"`
	config := file("weir.yaml", "routes: [{match: /x, to: "+quoted+"}]\n"+quoted+": 1\n")
	valid := file("valid.yaml", "upstreams: {site: {servers: [\"127.0.0.1:1\"]}}\nroutes: [{match: \"/{path...}\", to: site}]\n")
	experiment := file("lab.yaml", "name: "+quoted+"\n"+quoted+": 1\n")
	requests := file("requests", hostile)
	har := file("har", `{"log": {"entries": [{"request": {"method": `+jsonQuoted+`, "url": "http://a/"}}]}}`)
	result := file("result.json", `{"url": `+jsonQuoted+`, "series": 1}`)
	events := file("events", `{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n","event":"e","severity":3,"data":{"n":`+
		jsonQuoted+`}}`+"\n")
	odd := file("a\x1b[31m\nweir: hint: b", "x\n")
	const url = "http://127.0.0.1:1/"
	for _, args := range [][]string{
		{hostile}, {"--" + hostile}, {"tail", "--" + hostile}, {"load", url, "--" + hostile}, {"load", "compar" + hostile},
		{"serve", hostile}, {"serve", "--config", hostile}, {"serve", "--config", config}, {"serve", "--listen", hostile},
		{"serve", "--config", odd},
		{"check", hostile}, {"check", config}, {"check", odd}, {"check", valid, "--explain", hostile},
		{"check", valid, "--explain", "GET " + url + hostile}, {"check", valid, "--explain", "GET " + url, "-H", hostile},
		{"fmt", hostile}, {"fmt", config}, {"fmt", odd}, {"fmt", "--check", odd}, {"fmt", "--diff", odd, events},
		{"reload", "-c", hostile}, {"upgrade", "-c", hostile}, {"doctor", hostile}, {"doctor", "--config", hostile},
		{"hash-password", hostile, hostile},
		{"backend", "--listen", hostile}, {"backend", "--size", hostile}, {"backend", "--latency", hostile},
		{"backend", "--header", hostile, "--listen", hostile}, {"backend", "--record", dir + "/no/" + hostile},
		{"tail", hostile}, {"tail", "nats://" + hostile}, {"tail", "--where", hostile}, {"tail", "--where", "data." + hostile},
		{"tail", "--where", `"` + hostile + `" + 1`, events}, {"tail", "--where", "int(data.n) > 1", events},
		{"tail", "--where", "event matches data.n", events}, {"tail", "--level", hostile}, {"tail", "--format", hostile},
		{"tail", "--color", hostile}, {"tail", "-n", hostile}, {"tail", "--since", hostile}, {"tail", "-f", dir + hostile},
		{"load", hostile}, {"load", "http://" + hostile}, {"load", url + hostile}, {"load", url, hostile},
		{"load", url, "-H", hostile}, {"load", url, "-X", hostile}, {"load", url, "--body", "@" + hostile},
		{"load", url, "-F", hostile}, {"load", url, "-F", "a=@" + hostile}, {"load", "--requests-file", hostile},
		{"load", "--requests-file", requests}, {"load", "--requests-file", har}, {"load", "--requests-file", odd},
		{"load", url, "--to", hostile}, {"load", url, "--fail", hostile}, {"load", url, "--stage", hostile},
		{"load", url, "-r", "1", "--behind", hostile}, {"load", url, "--share", hostile}, {"load", url, "--start-at", hostile},
		{"load", url, "--cacert", hostile}, {"load", "https://127.0.0.1:1/", "--cert", hostile}, {"load", url, "--sni", hostile},
		{"load", url, "--json=" + dir + "/no/" + hostile}, {"load", url, "-d", hostile}, {"load", url, "-c", hostile},
		{"load", url, "--agents", "1", "--via", hostile}, {"load", url, "--agents", "1", "--label", hostile},
		{"load", "compare", hostile, hostile}, {"load", "compare", result, result}, {"load", "compare", odd, odd},
		{"load", "compare", "--fail", hostile, result, result}, {"load", "merge", hostile}, {"load", "merge", result},
		{"load", "gen", hostile}, {"load", "gen", "csv", "--rows", hostile}, {"load", "gen", "bytes", hostile},
		{"agent", "--via", hostile}, {"agent", "--via", "nats://" + hostile}, {"agent", "--label", hostile},
		{"lab", hostile}, {"lab", "show", hostile}, {"lab", "run", hostile}, {"lab", "run", experiment},
		{"lab", "run", "log-cost", "--set", hostile, "--", "true"}, {"lab", "report", hostile},
		{"lab", "compare", hostile, hostile}, {"lab", "micro", hostile}, {"lab", "run", "log-cost", "--out", odd, "--", hostile},
	} {
		t.Run(fmt.Sprintf("%.60q", args), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			var files [2]*os.File
			for i := range files {
				var err error
				if files[i], err = os.Create(filepath.Join(folder, fmt.Sprint(i))); err != nil {
					t.Fatal(err)
				}
				defer files[i].Close()
			}
			if code := run(args, cli.Streams{Out: files[0], Err: files[1]}); code == 0 {
				t.Log("no error")
			}
			for i, f := range files {
				text, err := os.ReadFile(f.Name())
				if err != nil {
					t.Fatal(err)
				}
				if at := strings.IndexFunc(string(text), func(c rune) bool {
					return c != '\n' && !unicode.IsPrint(c)
				}); at >= 0 {
					t.Errorf("the output has a control character at byte %d: %q", at, text)
				}
				for line := range strings.Lines(string(text)) {
					if i == 1 && !strings.HasPrefix(line, "weir: ") && !strings.HasPrefix(line, "  ") ||
						strings.HasPrefix(line, "weir: hint: run this") {
						t.Errorf("stderr has the line %q", line)
					}
				}
			}
		})
	}
}
