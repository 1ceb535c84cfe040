package agent

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/settings"
)

// work is a share of a plan, as it is sent to an agent. The contents of the files are sent
// before.
type work struct {
	Settings map[string]any `json:"settings"` // as texts
	Files    []string       `json:"files"`    // the names by which the settings and the templates refer to them
	Share    load.Share     `json:"share"`
	Points   int            `json:"points"`
}

// texts returns the settings that are not zero in the notation of [settings.Settings.Set].
func texts(s settings.Settings) map[string]any {
	all := make(map[string]any)
	for _, f := range s.Fields() {
		switch v := f.Value.(type) {
		case *[]string:
			if len(*v) > 0 {
				all[f.Name] = *v
			}
		case *string:
			put(all, f.Name, *v, *v)
		case *bool:
			put(all, f.Name, *v, strconv.FormatBool(*v))
		case *time.Duration:
			put(all, f.Name, *v, v.String())
		case *float64:
			put(all, f.Name, *v, strconv.FormatFloat(*v, 'f', -1, 64))
		case *int:
			put(all, f.Name, *v, strconv.Itoa(*v))
		case *int64:
			put(all, f.Name, *v, strconv.FormatInt(*v, 10))
		case *uint64:
			put(all, f.Name, *v, strconv.FormatUint(*v, 10))
		default:
			panic(fmt.Sprintf("agent: the setting %s is a %T", f.Name, v))
		}
	}
	return all
}

func put[T comparable](all map[string]any, name string, value T, text string) {
	var zero T
	if value != zero {
		all[name] = text
	}
}

// plan returns the plan of the work. Its files are in the given paths.
func (w *work) plan(paths []string) (load.Plan, error) {
	var s settings.Settings
	for name, value := range w.Settings {
		if err := s.Set(name, value); err != nil {
			return load.Plan{}, err
		}
	}
	if len(paths) != len(w.Files) {
		return load.Plan{}, fmt.Errorf("%d files of %d have arrived", len(paths), len(w.Files))
	}
	s.Find = func(name string) (string, error) {
		for i, known := range w.Files {
			if known == name {
				return paths[i], nil
			}
		}
		return "", fmt.Errorf("the coordinator did not send the file %q", name)
	}
	p, err := s.Plan()
	p.Share, p.Points = w.Share, w.Points
	return p, err
}

// Files are the files of a plan, which a coordinator sends to its agents. Its Find is for
// [settings.Settings]: it records which files are used.
type Files struct {
	stdin  io.Reader
	folder string // of copies; "" without one
	names  []string
	paths  map[string]string
}

// NewFiles returns an empty set. The file "-" is stdin.
func NewFiles(stdin io.Reader) *Files { return &Files{stdin: stdin, paths: make(map[string]string)} }

// Find returns the path of a file and adds it to the set. Stdin, and files that can be read
// only once, are copied.
func (f *Files) Find(name string) (string, error) {
	if path, ok := f.paths[name]; ok {
		return path, nil
	}
	path := name
	info, err := os.Stat(name)
	if name == "-" {
		path, err = f.copy(f.stdin)
	} else if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		path, err = f.copyFile(name)
	}
	if err != nil {
		return "", err
	}
	f.names, f.paths[name] = append(f.names, name), path
	return path, nil
}

func (f *Files) copyFile(name string) (string, error) {
	in, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	return f.copy(in)
}

func (f *Files) copy(in io.Reader) (string, error) {
	var err error
	if f.folder == "" {
		if f.folder, err = os.MkdirTemp("", "weir-load-"); err != nil {
			return "", err
		}
	}
	out, err := os.CreateTemp(f.folder, "")
	if err != nil {
		return "", err
	}
	defer out.Close()
	_, err = io.Copy(out, in)
	return out.Name(), err
}

// Close removes the copies.
func (f *Files) Close() error {
	if f.folder == "" {
		return nil
	}
	return os.RemoveAll(f.folder)
}

// An arrival is a file that an agent receives.
type arrival struct {
	receiver
	path string
	file *os.File // nil when the file is complete
}

// newArrival creates the file number i in a folder. It keeps the last element of the name,
// which a form sends.
func newArrival(folder string, i int, name string) (*arrival, error) {
	folder = filepath.Join(folder, strconv.Itoa(i))
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, filepath.Base(name))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &arrival{receiver: receiver{out: file}, path: path, file: file}, nil
}

// close closes a complete file.
func (a *arrival) close() error {
	if a.file == nil {
		return nil
	}
	file := a.file
	a.file = nil
	return file.Close()
}
