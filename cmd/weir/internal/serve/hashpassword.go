package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/password"
)

type HashPasswordCommand struct {
	User string `placeholder:"NAME" help:"Print a line for a file of users: NAME:HASH."`
}

// Help implements kong.HelpProvider.
func (HashPasswordCommand) Help() string {
	return `Reads a password from the terminal, without showing it, or the first line of stdin. Prints its argon2id hash, for
basic_auth in a configuration.

Example:
  weir hash-password --user alice >> users.htpasswd`
}

// maxPassword is the maximum length of a password, in bytes. With the user's name it has to
// fit into a request.
const maxPassword = 512

// Run reads the password and prints the hash.
func (c *HashPasswordCommand) Run(s cli.Streams) error {
	if strings.Contains(c.User, ":") || !httpsyntax.IsPlain(c.User) {
		return cli.Misuse(fmt.Errorf("%q cannot name a user", c.User), "a name has printable characters without a colon")
	}
	read := firstLine
	if cli.IsTerminal(os.Stdin) {
		read = askTwice
	}
	secret, err := read(s.Err)
	switch {
	case err != nil:
		return err
	case secret == "":
		return cli.WithHint(errors.New("the password is empty"), "type it, or write it to stdin")
	case len(secret) > maxPassword || !httpsyntax.IsPlain(secret):
		return cli.WithHint(errors.New("the password is too long or has control characters"),
			fmt.Sprintf("choose one of at most %d bytes", maxPassword))
	}
	if c.User != "" {
		fmt.Fprint(s.Out, c.User, ":")
	}
	_, err = fmt.Fprintln(s.Out, password.New(secret))
	return err
}

// firstLine reads the password from a stream.
func firstLine(io.Writer) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, maxPassword+3)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// askTwice reads the password from the terminal.
func askTwice(prompts io.Writer) (string, error) {
	var typed [2]string
	for i, prompt := range []string{"Password: ", "Again: "} {
		fmt.Fprint(prompts, prompt)
		b, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(prompts)
		if err != nil {
			return "", err
		}
		typed[i] = string(b)
	}
	if typed[0] != typed[1] {
		return "", errors.New("the two passwords differ")
	}
	return typed[0], nil
}
