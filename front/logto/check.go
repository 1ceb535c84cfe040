package logto

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/serverurl"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A check reports the mistakes in a Config that concern several keys or a folder.
type check struct {
	*yamlfile.File
	path      string                    // of the mapping
	positions map[string][]yamlfile.Pos // of the values of the file, by path
	*Config
}

// at returns the positions of the values of a key. There is none for a default.
func (c check) at(key string) []yamlfile.Pos { return c.positions[c.path+"."+key] }

func (c check) has(key string) bool { return len(c.at(key)) > 0 }

func (c check) all() {
	c.files()
	c.servers()
	if c.has("queue.wait") && c.Queue.WhenFull != "block" {
		c.Mistakef(c.at("queue.wait")[0], "add when_full: block, or remove it", `only "block" waits when the queue is full`)
	}
	for _, key := range []string{"rotate.keep", "rotate.gzip"} {
		if c.has(key) && !c.has("rotate.size") && !c.Rotate.Daily {
			c.Mistakef(c.at(key)[0], "add size or daily", "nothing is rotated")
		}
	}
}

// files checks that no file occurs twice, in whatever notation, and that there is a file if
// keys for files are set.
func (c check) files() {
	var files []string
	for i, to := range c.To {
		if !isFile(to) {
			continue
		}
		name := filepath.Clean(to)
		if slices.ContainsFunc(files, func(other string) bool { return sameFile(name, other) }) {
			c.Mistakef(c.at("to")[i], "keep one of the two", "%s is given twice", yamlfile.Quote(name))
			continue
		}
		files = append(files, name)
		c.folder(c.at("to")[i], name)
	}
	if len(files) > 0 || len(c.To) == 0 {
		return
	}
	for _, key := range []string{"rotate.size", "rotate.daily", "rotate.keep", "rotate.gzip", "fsync"} {
		if c.has(key) {
			c.Mistakef(c.at(key)[0], "name a file in log.to, or remove it", "the log has no file")
			return
		}
	}
}

// sameFile reports whether two names are of one file, also by a link or from the working directory.
func sameFile(a, b string) bool {
	absolute, err := filepath.Abs(a)
	other, otherErr := filepath.Abs(b)
	if err == nil && otherErr == nil && absolute == other {
		return true
	}
	info, err := os.Stat(a)
	return err == nil && isNameOf(b, info)
}

// isNameOf reports whether a name leads to the file that info describes.
func isNameOf(name string, info fs.FileInfo) bool {
	other, err := os.Stat(name)
	return err == nil && os.SameFile(info, other)
}

// folder reports a file that cannot be created. It does not report a folder that this user
// cannot access, because the front door may run as another user.
func (c check) folder(at yamlfile.Pos, file string) {
	folder := filepath.Dir(file)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrPermission):
	case err != nil:
		c.Mistakef(at, "create it, or name another one", "the log's folder %s: %s", yamlfile.Quote(folder), namedfile.Cause(err))
	case !info.IsDir():
		c.Mistakef(at, "name another one", "the log's folder %s is a file", yamlfile.Quote(folder))
	default:
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			c.Mistakef(at, "add the name of a file", "%s is a folder", yamlfile.Quote(file))
		}
	}
}

// servers checks that no server occurs twice, and that the format is JSON: servers parse the
// lines.
func (c check) servers() {
	first := map[string]int{}
	for i, to := range c.To {
		if !isServer(to) {
			continue
		}
		at, name := c.at("to")[i], serverurl.Name(to)
		if before, again := first[name]; again {
			c.Mistakef(at, "keep one of the two", "%s is given twice, first on line %d", yamlfile.Quote(name), before)
		}
		first[name] = at.Line
	}
	c.spill(len(first) > 0)
	if len(first) > 0 && !isServerFormat(c.Format) {
		c.Mistakef(c.at("format")[0], "write json, or remove the URL from log.to",
			"a server of log.to cannot parse the format %s", yamlfile.Quote(c.Format))
	}
}

// spill checks that the keys of the spill have an effect.
func (c check) spill(servers bool) {
	for _, key := range []string{"spill.folder", "spill.size", "spill.age"} {
		switch {
		case !c.has(key):
		case !servers:
			c.Mistakef(c.at(key)[0], "name a server in log.to, or remove it", "the log has no server")
			return
		case !c.has("spill.folder"):
			c.Mistakef(c.at(key)[0], "add folder", "log.spill has no folder")
			return
		}
	}
}
