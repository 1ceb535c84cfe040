package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/readable"
)

// spillDisk returns the free space on the disk of log.spill in bytes, or 0 if there is no such
// disk or the space is unknown.
func spillDisk(cfg *config.Config) (int64, error) {
	folder := cfg.Log.Spill.Folder
	if folder == "" {
		return 0, nil
	}
	free, err := machine.FreeDisk(folder)
	if errors.Is(err, fs.ErrNotExist) {
		free, err = machine.FreeDisk(filepath.Dir(folder)) // weir serve makes the folder
	}
	if err != nil {
		return 0, fmt.Errorf("the space for log.spill: %w", err)
	}
	return free, nil
}

// spill compares the space on the disk of log.spill with the size of its files.
func (h host) spill() finding {
	f := finding{Name: "log.spill", Value: "the space on its disk is not known on this system"}
	if h.spillDisk == 0 {
		return f
	}
	need := int64(h.config.Log.Servers()) * h.config.Log.Spill.Size
	f.Value = fmt.Sprintf("%s are free; the files may grow to %s", readable.Size(float64(h.spillDisk)),
		readable.Size(float64(need)))
	if h.spillDisk < need {
		f.Bites, f.Hint = true, "reduce log.spill.size, or use a larger disk; a full disk delays no request, but "+
			"events then wait only in memory"
	}
	return f
}
