package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// packNode packs the package for Node with the version of the release.
func (r *release) packNode() error {
	copied := filepath.Join(r.work, "node")
	if err := os.MkdirAll(copied, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "README.md", "LICENSE", "index.mjs", "index.d.ts", "index.d.mts"} {
		text, err := os.ReadFile(filepath.Join(r.Root, "node", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(copied, name), text, 0o644); err != nil {
			return err
		}
	}
	if err := os.CopyFS(filepath.Join(copied, "src"), os.DirFS(filepath.Join(r.Root, "node", "src"))); err != nil {
		return err
	}
	if _, err := output(copied, nil, "npm", "pkg", "set", "version="+r.number()); err != nil {
		return fmt.Errorf("the package for Node needs npm: %w", err)
	}
	_, err := output(copied, nil, "npm", "pack", "--ignore-scripts", "--pack-destination", r.out)
	return err
}
