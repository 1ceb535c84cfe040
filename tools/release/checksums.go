package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// writeChecksums writes the SHA-256 of each file of the release, in the format of sha256sum.
func (r *release) writeChecksums() error {
	files, err := tree(r.out)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(r.out, "checksums.txt"), func(w io.Writer) error {
		for _, f := range files {
			content, err := os.ReadFile(f.source)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(content), f.name); err != nil {
				return err
			}
		}
		return nil
	})
}
