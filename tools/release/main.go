// Command release builds everything of a release of Weir into one folder: archives, packages for Debian and Red Hat,
// images, the package for Node, a bill of materials, and the checksums of all. Two builds of a commit with the same
// versions of Go and npm are equal byte by byte. docs/releasing.md describes its use.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A release is a version and the place of its source.
type release struct {
	Version string // v0.1.0
	Commit  string
	Date    time.Time // of the commit: the time of every file
	Root    string    // folder of the repository
	Profile string    // file below Root for profile-guided optimisation; "" for none
	Targets []target
	Log     io.Writer // receives the time that each step took
	work    string    // folder for intermediate files
	out     string    // folder for the files of the release
}

// A target is a system that gets a binary.
type target struct{ OS, Arch string }

func (t target) String() string { return t.OS + "_" + t.Arch }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

func main() {
	root := flag.String("root", "../..", "`folder` of the repository")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: release [-root folder] vX.Y.Z\n\n"+
			"Builds everything of a release of the current commit into dist/vX.Y.Z.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*root, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "release: error:", err)
		os.Exit(1)
	}
}

// run builds a release of the commit that is checked out.
func run(root, version string) error {
	r, err := newRelease(root, version)
	if err != nil {
		return err
	}
	out := filepath.Join(r.Root, "dist", version)
	if err := r.build(out); err != nil {
		return err
	}
	fmt.Println("release:", out)
	return nil
}

// newRelease describes a release of the commit that is checked out, without local changes.
func newRelease(root, version string) (*release, error) {
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	changes, err := output(root, nil, "git", "status", "--porcelain")
	if err != nil {
		return nil, fmt.Errorf("a release needs a clone of the repository: %w", err)
	}
	if changes != "" {
		return nil, errors.New("commit or remove the local changes first:\n" + changes)
	}
	r := &release{Version: version, Root: root, Profile: "cmd/weir/release.pgo", Targets: targets, Log: os.Stdout}
	if err := r.readCommit(); err != nil {
		return nil, err
	}
	return r, nil
}

// readCommit sets the commit and its date.
func (r *release) readCommit() error {
	text, err := output(r.Root, nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(text), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	r.Commit, r.Date = commit, time.Unix(unix, 0).UTC()
	return nil
}

var versionForm = regexp.MustCompile(`^v(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9a-z]+(\.[0-9a-z]+)*)?$`)

// checkVersion reports a version that is no tag of a release.
func checkVersion(version string) error {
	if !versionForm.MatchString(version) {
		return fmt.Errorf("the version is %q: write it as v0.1.0 or v0.1.0-rc.1", version)
	}
	return nil
}

// number returns the version as packages have it: 0.1.0.
func (r *release) number() string { return strings.TrimPrefix(r.Version, "v") }

// build writes the release to the folder out, and replaces that of an earlier build. A build that fails leaves no
// folder.
func (r *release) build(out string) error {
	r.work = out + ".work"
	defer os.RemoveAll(r.work)
	r.out = filepath.Join(r.work, "out")
	if err := errors.Join(os.RemoveAll(out), os.RemoveAll(r.work), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	var own manual
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"binaries", r.buildBinaries},
		{"completions and man pages", func() (err error) { own, err = r.writeManual(); return err }},
		{"archives", func() error { return r.writeArchives(own) }},
		{"packages", func() error { return r.writePackages(own) }},
		{"images", r.writeImages},
		{"bill of materials", r.writeSBOM},
		{"package for Node", r.packNode},
		{"checksums", r.writeChecksums},
	} {
		began := time.Now()
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(r.Log, "release: %s: %.1f s\n", step.name, time.Since(began).Seconds())
	}
	return os.Rename(r.out, out)
}

// output runs a program in a folder and returns its output. The error has what the program wrote to stderr.
func output(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if env != nil {
		cmd.Env = append(os.Environ(), env...)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return string(out), nil
}
