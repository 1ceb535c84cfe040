package process

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// InCgroup returns the processes of a control group of version 2, a folder, and of the groups below it. A group that is
// removed meanwhile has none.
func InCgroup(dir string) (pids []int) {
	filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "cgroup.procs" {
			return nil
		}
		text, _ := os.ReadFile(path)
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}
