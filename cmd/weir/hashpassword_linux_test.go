package main

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/testkit"
)

// TestTerminalHidesTheTypedPassword types a password twice. The terminal must not show it.
func TestTerminalHidesTheTypedPassword(t *testing.T) {
	t.Parallel()
	for again, ok := range map[string]bool{"swordfish": true, "swordfisch": false} {
		master, terminal, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		p := prepare(t, "hash-password")
		p.cmd.Stdin, p.cmd.Stderr = terminal, terminal
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
		terminal.Close()
		shown := bufio.NewReader(master)
		seen := ""
		for _, line := range []string{"swordfish\r", again + "\r"} { // typed after each prompt
			prompt, err := shown.ReadString(':')
			if err != nil {
				t.Fatal(err)
			}
			seen += prompt
			awaitSilence(t, master)
			if _, err := io.WriteString(master, line); err != nil {
				t.Fatal(err)
			}
		}
		rest, _ := io.ReadAll(shown) // ends with an error when the terminal is closed
		seen += string(rest)
		<-p.exited
		printed, err := os.ReadFile(p.stdout)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(seen, "swordfis") || strings.Contains(seen, "differ") == ok {
			t.Errorf("the terminal shows %q", seen)
		}
		if code := p.cmd.ProcessState.ExitCode(); (code == 0) != ok || strings.HasPrefix(string(printed), "$argon2id$") != ok {
			t.Errorf("exit code %d, printed %q", code, printed)
		}
	}
}

// awaitSilence waits until the terminal does not show the text that is typed.
func awaitSilence(t *testing.T, master *os.File) {
	t.Helper()
	testkit.Await(t, "a terminal that does not show what is typed", func() bool {
		mode, err := unix.IoctlGetTermios(int(master.Fd()), unix.TCGETS)
		testkit.NoError(t, err)
		return mode.Lflag&unix.ECHO == 0
	})
}
