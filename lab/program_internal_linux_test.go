package lab

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/lab/experiment"
)

// TestProgramsAreFoundAsByTheService checks that programs are found as a service would find them, also
// from a folder with a relative name.
func TestProgramsAreFoundAsByTheService(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	t.Setenv("PATH", filepath.Join(here, "bin"))
	for _, name := range []string{"bin/known", "mine", "below/mine"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ folder, dir, command, want string }{
		{".", "", "./mine", "mine"},
		{".", "below", "./mine", "below/mine"},
		{"below", "", "./mine", "below/mine"},
		{"below", "", "../mine", "mine"},
		{"below", here, "./mine", "mine"},
		{".", "", here + "/mine", "mine"},
		{".", "", "known", "bin/known"},
		{".", "", "mine", ""}, // not in $PATH
		{".", "", "./unknown", ""},
	} {
		s := &session{experiment: &experiment.Experiment{Folder: c.folder}}
		service := experiment.Service{Dir: c.dir, Command: experiment.Command{c.command}}
		got, err := s.program(experiment.Case{Service: service})
		if want := filepath.Join(here, c.want); c.want == "" && err == nil || c.want != "" &&
			(err != nil || got != want) {
			t.Errorf("%s in %q of %q is %q, %v; want %q", c.command, c.dir, c.folder, got, err, c.want)
		}
	}
}
