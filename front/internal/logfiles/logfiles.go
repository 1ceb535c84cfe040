// Package logfiles opens logs whose streams are files, and reads them. It is for tests.
package logfiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/logto"
)

// Open opens a log with files as its streams, and closes it when the test ends.
func Open(t *testing.T, cfg logto.Config, complain func(error)) (l *logto.Log, stdout, stderr *os.File) {
	t.Helper()
	dir := t.TempDir()
	stdout, stderr = Create(t, filepath.Join(dir, "stdout")), Create(t, filepath.Join(dir, "stderr"))
	l, err := logto.Open(cfg, logto.Options{Stdout: stdout, Stderr: stderr, Complain: complain})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(t.Context()) })
	return l, stdout, stderr
}

// Create creates a file, and closes it when the test ends.
func Create(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Lines returns the lines of a file, whose last one must be complete.
func Lines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		t.Errorf("%s ends in the middle of a line", file)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
