package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// A file is an entry of an archive: a regular file with a source, or else a folder.
type file struct {
	name   string // with slashes
	mode   fs.FileMode
	source string // path on this machine
}

// monitoring are the files of deploy for Prometheus and Grafana.
var monitoring = []string{"prometheus/weir-rules.yaml", "prometheus/weir-rules-test.yaml", "grafana/weir.json"}

// shared returns the files of the repository that every archive has, and those of the manual.
func (r *release) shared(m manual) []file {
	files := []file{
		{"LICENSE", 0o644, filepath.Join(r.Root, "LICENSE")},
		{"README.md", 0o644, filepath.Join(r.Root, "README.md")},
		{"CHANGELOG.md", 0o644, filepath.Join(r.Root, "CHANGELOG.md")},
	}
	for _, name := range []string{"weir.service", "weir.socket", "weir.sysusers", "weir.logrotate", "weir.yaml"} {
		files = append(files, file{"systemd/" + name, 0o644, filepath.Join(r.Root, "deploy", "systemd", name)})
	}
	for _, name := range monitoring {
		files = append(files, file{name, 0o644, filepath.Join(r.Root, "deploy", filepath.FromSlash(name))})
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		files = append(files, file{"completions/weir." + shell, 0o644, filepath.Join(m.completions, "weir."+shell)})
	}
	for _, page := range m.pages {
		files = append(files, file{"man/" + filepath.Base(page), 0o644, page})
	}
	return files
}

func (r *release) writeArchives(m manual) error {
	for _, t := range r.Targets {
		name := "weir_" + r.number() + "_" + t.String()
		files := append([]file{{"weir", 0o755, r.binary(t)}}, r.shared(m)...)
		for i := range files {
			files[i].name = path.Join(name, files[i].name)
		}
		err := writeFile(filepath.Join(r.out, name+".tar.gz"), func(w io.Writer) error {
			return writeGzip(w, func(w io.Writer) error { return writeTar(w, files, r.Date) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeFile creates a file with what write writes.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// writeGzip compresses what write writes. The header has neither a name nor a time.
func writeGzip(w io.Writer, write func(io.Writer) error) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(write(z), z.Close())
}

// writeTar writes files that belong to root, in the given order.
func writeTar(w io.Writer, files []file, modified time.Time) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		if err := addToTar(t, f, modified); err != nil {
			return err
		}
	}
	return t.Close()
}

func addToTar(t *tar.Writer, f file, modified time.Time) error {
	h := &tar.Header{Name: f.name, Mode: int64(f.mode), ModTime: modified, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
	if f.source == "" {
		h.Typeflag, h.Name = tar.TypeDir, strings.TrimSuffix(f.name, "/")+"/"
		return t.WriteHeader(h)
	}
	src, err := os.Open(f.source)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	h.Size = info.Size()
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(t, src)
	return err
}
