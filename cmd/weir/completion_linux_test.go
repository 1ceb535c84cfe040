package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/weirhq/weir/internal/testkit"
)

// TestShellsCompleteWords loads the script of each shell, types words with a tab, and lets the shell print the words
// that it has then.
func TestShellsCompleteWords(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startShell(t, name)
			for typed, want := range map[string]string{
				"ser":                             "serve",
				"load com":                        "load compare",
				"load gen c":                      "load gen csv",
				"serve --lis":                     "serve --listen",
				"load --max":                      "load --max-connections",
				"tail --level wa":                 "tail --level warn",
				"tail --level=wa":                 "tail --level=warn",
				"lab run three":                   "lab run three-events",
				"check sho":                       "check shop.yaml",
				"serve --listen 127.0.0.1:80 sho": "serve --listen 127.0.0.1:80 shop.yaml",
				"load --json=sho":                 "load --json=shop.yaml",
				"load compare -- sho":             "load compare -- shop.yaml",
				"serve --files si":                "serve --files site",
			} {
				if got := strings.TrimSuffix(s.complete("weir "+typed), "/"); got != "weir "+want { // zsh removes the slash
					t.Errorf("weir %s: got %q, want %q", typed, got, "weir "+want)
				}
			}
		})
	}
}

// A shell is an interactive shell on a terminal.
type shell struct {
	t       *testing.T
	master  *os.File
	printed text
}

const shellPrompt = "ready> "

// startShell starts a shell with the completion of weir, in a folder with a file shop.yaml and a folder site.
func startShell(t *testing.T, name string) *shell {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v: apt-get install %s", err, name)
	}
	dir := t.TempDir()
	script, err := exec.Command("weir", "completion", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	begin, file := "", "weir.sh"
	switch name {
	case "bash":
		begin, args = "PS1='"+shellPrompt+"'\n", []string{"--noprofile", "--rcfile", file, "-i"}
	case "zsh":
		begin, file = "PROMPT='"+shellPrompt+"'\nautoload -Uz compinit\ncompinit -u -D\n", ".zshrc"
	case "fish":
		begin, args = "function fish_prompt; echo -n '"+shellPrompt+"'; end\n", []string{"--no-config", "-C", "source " + file}
	}
	for file, text := range map[string]string{file: begin + string(script), "shop.yaml": "", "site/index.html": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), raceOptions, "TERM=xterm", "ZDOTDIR="+dir, "HOME="+dir, "XDG_DATA_HOME="+dir)
	s := &shell{t: t}
	if s.master, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		s.master.Close()
		cmd.Wait()
		if t.Failed() {
			t.Logf("the terminal of %s:\n%s", name, s.printed.String())
		}
	})
	go io.Copy(&s.printed, s.master) // an error at the end
	testkit.Await(t, "the prompt", func() bool { return strings.Contains(s.printed.String(), shellPrompt) })
	return s
}

var (
	terminalEscape = regexp.MustCompile(`\x1b(\[[0-9;?>=]*[A-Za-z]|\][^\x07]*\x07|[=>]|\(B)`)
	printedWord    = regexp.MustCompile(`<(\S*)>\r*\n`)
)

// complete types a line and a tab, and returns the line that the shell then has.
func (s *shell) complete(line string) string {
	s.t.Helper()
	before := len(s.printed.String())
	// Control-A moves to the beginning of the line.
	if _, err := s.master.WriteString(line + "\t\x01printf '<%s>\\n' \r"); err != nil {
		s.t.Fatal(err)
	}
	var words []string
	testkit.Await(s.t, "the words of "+line, func() bool {
		text := terminalEscape.ReplaceAllString(s.printed.String()[before:], "")
		found := printedWord.FindAllStringSubmatchIndex(text, -1)
		if len(found) == 0 || !strings.Contains(text[found[len(found)-1][1]:], shellPrompt) {
			return false
		}
		for _, at := range found {
			words = append(words, text[at[2]:at[3]])
		}
		return true
	})
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}
