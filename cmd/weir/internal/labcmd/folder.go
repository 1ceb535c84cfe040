package labcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// Results without --out go to a folder below resultsRoot whose name has the time.
const (
	resultsRoot = "lab-results"
	folderTime  = "20060102-150405"
)

// A folder keeps the results.
type folder struct {
	name    string
	created bool // by this process
}

// makeFolder creates the folder out, unless it exists. If out is "", it creates a
// new folder named after the experiment and the time.
func makeFolder(out, experiment string) (folder, error) {
	first := out
	if out == "" {
		first = filepath.Join(resultsRoot, experiment+"-"+time.Now().Format(folderTime))
	}
	name := first
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	for n := 2; err == nil; n++ {
		err = os.Mkdir(name, 0o777)
		switch {
		case err == nil:
			return folder{name, true}, nil
		case errors.Is(err, fs.ErrExist) && out != "" && isFolder(name):
			return folder{name, false}, nil
		case errors.Is(err, fs.ErrExist) && out != "":
			err = fmt.Errorf("%s is a file", name)
			return folder{}, cli.Misuse(err, "name an existing or a new folder with --out DIR")
		case errors.Is(err, fs.ErrExist): // of another weir in this second
			err, name = nil, fmt.Sprintf("%s-%d", first, n)
		}
	}
	return folder{}, cli.WithHint(fmt.Errorf("create the folder of the results: %w", err),
		"name a writable folder with --out DIR")
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// checkEmpty returns an error if the folder has files, which a reader would take
// for a part of the results.
func (f folder) checkEmpty() error {
	entries, err := os.ReadDir(f.name)
	if err == nil && len(entries) > 0 {
		err = cli.Misuse(fmt.Errorf("%s is not empty", f.name),
			"name another folder with --out DIR; without --out it is a new one below "+resultsRoot)
	}
	return err
}

// fail returns the error of an experiment without results, with a hint. It removes
// a created folder, unless a run is kept there or may still write to it.
func (f folder) fail(err error) error {
	if errors.Is(err, cli.ErrInterrupted) {
		return err
	}
	kept, _ := os.ReadDir(filepath.Join(f.name, "runs")) // micro has no such folder
	if f.created && len(kept) == 0 {
		os.RemoveAll(f.name)
		os.Remove(resultsRoot) // if it is empty
	}
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted before the first run ended: nothing to report")
	case errors.As(err, new(*exec.Error)):
		return cli.WithHint(err, programHint(err))
	}
	return err
}

// programHint returns how to name a program that was not found.
func programHint(err error) string {
	var program *exec.Error
	errors.As(err, &program)
	switch name := program.Name; {
	case strings.ContainsAny(name, "|&;<>"):
		return "commands are run without a shell: -- sh -c 'exec ...' runs one"
	case strings.Contains(name, " "):
		return "give each word of the command separately: -- " + filepath.Base(name)
	case strings.Contains(name, "/"):
		return "a relative path is relative to the service's folder: service.dir, or else the folder of the experiment"
	}
	return "name a program that is in $PATH, or where it is, as in ./my-service"
}
