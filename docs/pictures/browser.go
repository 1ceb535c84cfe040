package main

import (
	"fmt"
	"os/exec"
)

// anyOf returns the path of the first of the programs that is installed.
func anyOf(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("none of %q is installed", names)
}
