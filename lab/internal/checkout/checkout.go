// Package checkout finds the sources of one side of a comparison: a folder, or a
// commit that it checks out into a temporary work tree.
package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Sources are a folder or a commit.
type Sources struct {
	Name  string // as it was given, or "work tree" for the current folder
	About string // "1a2b3c4 its subject", or where the folder is
	Dir   string // the folder; of a commit, the one that corresponds to the current folder

	repository, worktree string // "" for a folder
}

// New finds the sources called what: a folder, or else a commit of the
// repository that contains dir, which is checked out into worktree. That folder
// must not exist yet. The caller has to call Remove.
func New(ctx context.Context, dir, what, worktree string) (*Sources, error) {
	folder := what
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(dir, what)
	}
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		name := what
		if name == "." {
			name = "work tree" // the name "." would look like the end of a sentence
		}
		return &Sources{Name: name, About: "the sources in " + folder, Dir: folder}, nil
	}
	return checkOut(ctx, dir, what, worktree)
}

// checkOut checks a commit out into a work tree.
func checkOut(ctx context.Context, dir, what, worktree string) (*Sources, error) {
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%q is no folder, and %s is in no git repository that could have it as a commit: %w",
			what, dir, err)
	}
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", what+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("%q is neither a folder nor a commit of %s: git log shows commits", what, top)
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	about, err := git(ctx, dir, "show", "--no-patch", "--format=%h %s", commit)
	if err != nil {
		return nil, err
	}
	s := &Sources{Name: what, About: about, Dir: filepath.Join(worktree, prefix), repository: top, worktree: worktree}
	if _, err := git(ctx, top, "worktree", "add", "--detach", worktree, commit); err != nil {
		s.Remove() // it may have been interrupted
		return nil, fmt.Errorf("checking %s out: %w", what, err)
	}
	if _, err := os.Stat(s.Dir); err != nil {
		s.Remove()
		return nil, fmt.Errorf("there is no folder %s at %s", prefix, what)
	}
	return s, nil
}

// Remove removes the work tree of a commit, also an unfinished one, which git keeps
// locked and removes only with --force given twice. If that fails, git's next
// clean-up removes its record of the work tree. A folder stays as it is.
func (s *Sources) Remove() {
	if s.worktree == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	os.RemoveAll(s.worktree)
	git(ctx, s.repository, "worktree", "remove", "--force", "--force", s.worktree)
}

// Head describes the commit that is checked out in a folder: "1a2b3c4", with
// "-dirty" if files differ from it, or "" if the folder is in no repository.
func Head(ctx context.Context, dir string) string {
	head, err := git(ctx, dir, "describe", "--always", "--dirty", "--exclude=*")
	if err != nil {
		return ""
	}
	return head
}

// git runs git in a folder and returns its output.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := Command(ctx, dir, "git", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not installed")
	case err != nil:
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
