package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// NoError ends the test at an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TempFile writes a file to a new folder, which the end of the test removes, and returns its path.
func TempFile(t testing.TB, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	WriteFile(t, path, text)
	return path
}

// WriteFile writes a file, with the folders that it needs.
func WriteFile(t testing.TB, path, text string) {
	t.Helper()
	NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// WriteFiles writes files with paths relative to a folder.
func WriteFiles(t testing.TB, folder string, texts map[string]string) {
	t.Helper()
	for path, text := range texts {
		WriteFile(t, filepath.Join(folder, path), text)
	}
}

// AppendFile appends to a file, which it creates if there is none.
func AppendFile(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	NoError(t, err)
	_, err = f.WriteString(text)
	NoError(t, err)
	NoError(t, f.Close())
}

// ReadFile returns the contents of a file.
func ReadFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	NoError(t, err)
	return string(text)
}
