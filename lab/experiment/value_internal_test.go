package experiment

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/load/settings"
)

func TestParseSinkReadsEachKind(t *testing.T) {
	for text, want := range map[string]Sink{
		"null":                             {Kind: Null},
		"file":                             {Kind: File},
		"terminal":                         {Kind: Terminal},
		"pipe":                             {Kind: Pipe},
		"pipe 256KiB/s":                    {Kind: Pipe, PerSecond: 256 << 10},
		"pipe 1000B/s":                     {Kind: Pipe, PerSecond: 1000},
		"pipe stops 10s after 5s":          {Kind: Pipe, StopFor: 10 * time.Second, StopAt: 5 * time.Second},
		"pipe 1MiB/s stops 500ms after 0s": {Kind: Pipe, PerSecond: 1 << 20, StopFor: 500 * time.Millisecond},
	} {
		got, refused := parseSink(yamlfile.Scalar{Text: text})
		if refused != nil || got != want {
			t.Errorf("%q is %+v, %v, want %+v", text, got, refused, want)
		}
		if got.String() != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	for _, text := range []string{"", "nul", "file 1KiB/s", "pipe 0B/s", "pipe 1", "pipe 1KiB", "pipe stops",
		"pipe stops 1s", "pipe stops 0s after 1s", "pipe stops 1s after", "pipe stops 1 after 1s",
		"pipe stops 1s after 1s 1s", "null file"} {
		if got, refused := parseSink(yamlfile.Scalar{Text: text}); refused == nil {
			t.Errorf("%q is %+v, want a refusal", text, got)
		}
	}
	if got := (Sink{}).String(); got != "null" {
		t.Errorf("the zero sink is shown as %q", got)
	}
}

func TestExpandReplacesEveryText(t *testing.T) {
	values := map[string]string{"port": "8080", "dir": "/run dir", "weir": "/bin/weir", "repo": "/src", "build": "/b"}
	c := Case{
		Service: Service{
			Command: Command{"${build}/x", "a b"}, Args: []string{"$${port}", "${port}"}, Dir: "${repo}",
			Env: map[string]string{"A": "${dir}"}, URL: "http://h:${port}/", Ready: "/${port}", Go: "http://h:${port}",
		},
		Load: settings.Settings{URL: "/${port}", Headers: []string{"A: ${port}"}, Body: "@${build}/f",
			Stages: []string{"1s:5"}, Connections: 3},
	}
	want := Case{
		Service: Service{
			Command: Command{"/b/x", "a b"}, Args: []string{"${port}", "8080"}, Dir: "/src",
			Env: map[string]string{"A": "/run dir"}, URL: "http://h:8080/", Ready: "/8080", Go: "http://h:8080",
		},
		Load: settings.Settings{URL: "/8080", Headers: []string{"A: 8080"}, Body: "@/b/f", Stages: []string{"1s:5"},
			Connections: 3},
	}
	got, err := c.Expand(values)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Expand (-want +got):\n%s", diff)
	}
	if c.Service.Env["A"] != "${dir}" || c.Service.Args[1] != "${port}" || c.Load.Headers[0] != "A: ${port}" {
		t.Errorf("the case itself has become %+v", c)
	}
	delete(values, "port")
	if _, err := c.Expand(values); err == nil || !strings.Contains(err.Error(),
		`"http://h:${port}/": nothing is called "${port}"`) {
		t.Errorf("without a port: %v", err)
	}
}
