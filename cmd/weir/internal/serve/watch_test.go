package serve

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWatchSeesEarlyChanges changes files between the reading of a configuration and the
// start of the watch, which is as long as a start of the front door.
func TestWatchSeesEarlyChanges(t *testing.T) {
	const main = "include: routes/*.yaml\nadmin: off\n"
	const route = "routes: [{match: /one, respond: {status: 204}}]\n"
	for name, change := range map[string]struct {
		file, text string
		want       bool
	}{
		"a file beside them":     {"other.yaml", route, false},
		"the configuration":      {"weir.yaml", main + "namespace: changed\n", true},
		"an included file":       {"routes/one.yaml", route + "\n", true},
		"one more included file": {"routes/two.yaml", "routes: [{match: /two, respond: {status: 204}}]\n", true},
		"a file of an editor":    {"routes/.one.yaml.swp", "x", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(dir, "routes"), 0o700); err != nil {
				t.Fatal(err)
			}
			write("weir.yaml", main)
			write("routes/one.yaml", route)
			cfg, err := readConfig(filepath.Join(dir, "weir.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			write(change.file, change.text)
			var w sourceWatch
			w.use(cfg)
			w.check() // the change settles
			if got := w.check(); got != change.want {
				t.Errorf("a change is reported: %v, want %v", got, change.want)
			}
		})
	}
}
