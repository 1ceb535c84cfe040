package version

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRecordsDescribeTheBuild describes builds without flags of the linker.
func TestRecordsDescribeTheBuild(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "c0ffee"}, {Key: "vcs.time", Value: "2026-11-28T16:31:04Z"}}
	for name, c := range map[string]struct {
		build debug.BuildInfo
		want  Info
	}{
		"nothing": {want: Info{Version: Unknown}},
		"a checkout": {
			debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "v0.1.1-0.20261128163104-c0ffee+dirty"}, Settings: settings},
			Info{Version: "v0.1.1-0.20261128163104-c0ffee+dirty", Commit: "c0ffee", Date: "2026-11-28T16:31:04Z"},
		},
		"a checkout without -buildvcs": {
			debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "(devel)"}}, Info{Version: Unknown},
		},
		"go install": {
			debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: modulePath, Version: "v0.1.0"},
				Deps: []*debug.Module{{Path: "example.com/a", Version: "v1.2.3"}}},
			Info{Version: "v0.1.0", Go: "go1.26.8", Modules: []Module{{"example.com/a", "v1.2.3"}}},
		},
		"another program": { // whose commit is not that of Weir
			debug.BuildInfo{Main: debug.Module{Path: "example.com/shop", Version: "v9.0.0"}, Settings: settings,
				Deps: []*debug.Module{{Path: modulePath, Version: "v0.1.0"}}},
			Info{Version: "v0.1.0", Modules: []Module{{modulePath, "v0.1.0"}}},
		},
		"another program with a fork": {
			debug.BuildInfo{Main: debug.Module{Path: "example.com/shop", Version: "v9.0.0"}, Deps: []*debug.Module{
				{Path: modulePath, Version: "v0.1.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v0.1.5"}}}},
			Info{Version: "v0.1.5", Modules: []Module{{modulePath, "v0.1.5"}}},
		},
	} {
		if c.want.Modules == nil {
			c.want.Modules = []Module{}
		}
		if diff := cmp.Diff(c.want, describe(&c.build)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestLinkerFlagsDescribeTheBuild builds a tree without a repository, as that of a released archive.
func TestLinkerFlagsDescribeTheBuild(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("version.go")
	if err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                      "module " + modulePath + "\n\ngo 1.26\n",
		"internal/version/version.go": string(source),
		"main.go": `package main

import (
	"encoding/json"
	"os"

	"` + modulePath + `/internal/version"
)

func main() { json.NewEncoder(os.Stdout).Encode(version.Get()) }
`,
	} {
		file := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const flag = "-X " + modulePath + "/internal/version."
	for flags, want := range map[string]Info{
		"": {Version: Unknown},
		flag + "release=v0.1.0 " + flag + "commit=c0ffee " + flag + "date=2026-11-28T16:31:04Z": {
			Version: "v0.1.0", Commit: "c0ffee", Date: "2026-11-28T16:31:04Z"},
	} {
		run := exec.Command("go", "run", "-ldflags", flags, ".")
		run.Dir, run.Env = tree, append(os.Environ(), "GOWORK=off")
		run.Stderr = os.Stderr
		out, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		var got Info
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		want.Go, want.Modules = runtime.Version(), []Module{}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-ldflags %q (-want +got):\n%s", flags, diff)
		}
	}
}
