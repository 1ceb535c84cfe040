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

// Results without --out are below this folder, in one that is named by the time.
const (
	resultsRoot = "lab-results"
	folderTime  = "20060102-150405"
)

// A folder is where results are kept.
type folder struct {
	name string
	made bool // by this weir; it was not there before
}

// makeFolder makes the folder of the results: out, unless that is there, or a
// new one that is named by what is measured and the time.
func makeFolder(out, what string) (folder, error) {
	first := out
	if out == "" {
		first = filepath.Join(resultsRoot, what+"-"+time.Now().Format(folderTime))
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
			return folder{}, cli.Misuse(err, "name a folder by --out DIR, one that is there or a new one")
		case errors.Is(err, fs.ErrExist): // another weir began in this second
			err, name = nil, fmt.Sprintf("%s-%d", first, n)
		}
	}
	return folder{}, cli.WithHint(fmt.Errorf("make the folder of the results: %w", err), "name one that can be written to by --out DIR")
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// mustBeEmpty tells, by no error, that nothing is in the folder that would be
// taken for a part of the results.
func (f folder) mustBeEmpty() error {
	entries, err := os.ReadDir(f.name)
	if err == nil && len(entries) > 0 {
		err = cli.Misuse(fmt.Errorf("%s is not empty", f.name), "name another folder by --out DIR, or none for a new one below "+resultsRoot)
	}
	return err
}

// problem is about an experiment that has no results. What this weir has made is
// taken away, unless a run is kept in it or it may still be written to.
func (f folder) problem(err error) error {
	if errors.Is(err, cli.ErrInterrupted) {
		return err
	}
	kept, _ := os.ReadDir(filepath.Join(f.name, "runs")) // there is no such folder for micro
	if f.made && len(kept) == 0 {
		os.RemoveAll(f.name)
		os.Remove(resultsRoot) // unless there are others in it
	}
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted before a run had ended: there is nothing to report")
	case errors.As(err, new(*exec.Error)):
		return cli.WithHint(err, whereProgram(err))
	}
	return err
}

// whereProgram is how to name the program that was not found.
func whereProgram(err error) string {
	var program *exec.Error
	errors.As(err, &program)
	switch name := program.Name; {
	case strings.ContainsAny(name, "|&;<>"):
		return "commands are run without a shell: -- sh -c 'exec ...' runs one"
	case strings.Contains(name, " "):
		return "the words of a command are words of their own: -- " + filepath.Base(name)
	case strings.Contains(name, "/"):
		return "what is not absolute is looked for in the folder that the service runs in: service.dir, else the experiment's"
	}
	return "name a program that is in $PATH, or where it is, as in ./my-service"
}
