// Package version describes this build of Weir. A release sets the version, the commit and the date by flags of the
// linker, because its source is an archive without a repository:
//
//	go build -ldflags "-X github.com/weirhq/weir/internal/version.release=v0.1.0" ./cmd/weir
//
// Without them, they are those that the go command has recorded: the version of the module for go install
// MODULE@VERSION, and the commit for a checkout.
package version

import (
	"cmp"
	"runtime/debug"
	"sync"
)

// The flags of the linker. commit is the whole hash, and date has the format of RFC 3339.
var release, commit, date string

// Unknown is the version of a build without a record of it.
const Unknown = "devel"

const modulePath = "github.com/weirhq/weir"

// An Info describes the build. Commit and Date are empty if they are not known.
type Info struct {
	Version string   `json:"version"` // such as v0.1.0, or Unknown
	Commit  string   `json:"commit,omitempty"`
	Date    string   `json:"date,omitempty"` // of the commit
	Go      string   `json:"go"`
	Modules []Module `json:"modules"` // that the program is built with
}

// A Module is a dependency. Version is that of the replacement, if there is one.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// Get returns the description of this build.
func Get() Info { return read() }

// String returns the version, such as v0.1.0.
func String() string { return read().Version }

var read = sync.OnceValue(func() Info {
	recorded, ok := debug.ReadBuildInfo()
	if !ok {
		recorded = &debug.BuildInfo{}
	}
	return describe(recorded)
})

// describe adds the flags of the linker to the record of the go command.
func describe(b *debug.BuildInfo) Info {
	info := Info{Version: release, Commit: commit, Date: date, Go: b.GoVersion, Modules: []Module{}}
	own := b.Main
	for _, dep := range b.Deps {
		if dep.Replace != nil {
			dep = &debug.Module{Path: dep.Path, Version: dep.Replace.Version}
		}
		if dep.Path == modulePath { // a program that imports the front door
			own = *dep
		}
		info.Modules = append(info.Modules, Module{dep.Path, dep.Version})
	}
	if own.Version != "(devel)" {
		info.Version = cmp.Or(info.Version, own.Version)
	}
	info.Version = cmp.Or(info.Version, Unknown)
	if b.Main.Path == modulePath {
		for _, s := range b.Settings {
			switch s.Key {
			case "vcs.revision":
				info.Commit = cmp.Or(info.Commit, s.Value)
			case "vcs.time":
				info.Date = cmp.Or(info.Date, s.Value)
			}
		}
	}
	return info
}
