package about

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// The scripts ask the command for the words of each completion.
var (
	//go:embed completion.bash
	bashScript string
	//go:embed completion.zsh
	zshScript string
	//go:embed completion.fish
	fishScript string
)

// A CompletionCommand is weir completion.
type CompletionCommand struct {
	Shell string `arg:"" complete:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help implements kong.HelpProvider.
func (CompletionCommand) Help() string {
	return `Prints a script that completes the commands, flags, values and files of weir in a shell. The packages install it.

Examples:
  source <(weir completion bash)                                 in ~/.bashrc
  source <(weir completion zsh)                                  in ~/.zshrc, after compinit
  weir completion fish > ~/.config/fish/completions/weir.fish`
}

// Run prints the script.
func (c *CompletionCommand) Run(s cli.Streams) error {
	script, ok := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	if !ok {
		return cli.Misuse(fmt.Errorf("no completion for the shell %q", c.Shell), "weir completion bash, zsh or fish")
	}
	_, err := io.WriteString(s.Out, script)
	return err
}

// A CompleteCommand prints the possible completions of a command line, for the scripts. The first line is files, folders
// or words: what else the shell completes. Each further line is a word, a tab and a description.
type CompleteCommand struct {
	Words []string `arg:"" help:"The words after weir up to the cursor; the last one may be empty."`
}

// Run prints the completions.
func (c *CompleteCommand) Run(ctx *kong.Context, s cli.Streams) error {
	return cli.Buffered(s.Out, func(w io.Writer) error {
		others, candidates := complete(ctx.Model.Node, c.Words)
		fmt.Fprintln(w, others)
		for _, candidate := range candidates {
			fmt.Fprintf(w, "%s\t%s\n", candidate.word, candidate.help)
		}
		return nil
	})
}

// others are the completions that the shell adds. They are values of the tag complete, which may also have a list of
// words. A value without the tag has files or folders if it is called FILE or DIR.
type others string

const (
	nothing others = "words"
	files   others = "files"
	folders others = "folders"
)

// A listed type has values of which there is a list.
type listed interface{ Completions() []string }

type candidate struct{ word, help string }

// complete returns the completions of the last word, which may be empty.
func complete(root *kong.Node, words []string) (others, []candidate) {
	c := cursor{node: root}
	last := len(words) - 1
	for i, word := range words[:last] {
		if i > 0 || word != "help" { // weir help VERB is weir VERB --help
			c.pass(word)
		}
	}
	more, all := c.next(words[last])
	var fitting []candidate
	for _, candidate := range all {
		if strings.HasPrefix(candidate.word, words[last]) {
			fitting = append(fitting, candidate)
		}
	}
	return more, fitting
}

// A cursor is the place in a command line that the words before it determine.
type cursor struct {
	node      *kong.Node
	flag      *kong.Flag // whose value is the next word, or nil
	arguments int        // of node
	plain     bool       // after --, no word is a flag
}

// pass moves the cursor behind a word.
func (c *cursor) pass(word string) {
	switch {
	case c.flag != nil:
		c.flag = nil
	case c.plain || word == "-" || !strings.HasPrefix(word, "-"):
		c.passArgument(word)
	case word == "--":
		c.plain = true
	case strings.HasPrefix(word, "--"):
		if f := c.longFlag(word); f != nil && !f.IsBool() && !strings.Contains(word, "=") {
			c.flag = f
		}
	default:
		c.passShort(word[1:])
	}
}

func (c *cursor) passArgument(word string) {
	if c.arguments == 0 && !c.plain {
		for _, child := range c.node.Children {
			if child.Name == word {
				c.node = child
				return
			}
		}
	}
	c.arguments++
}

// passShort passes flags of one letter. A value follows the last one, or is the rest of the word.
func (c *cursor) passShort(letters string) {
	for i, letter := range letters {
		for _, f := range c.flags() {
			if f.Short == letter && !f.IsBool() {
				if i+len(string(letter)) == len(letters) {
					c.flag = f
				}
				return
			}
		}
	}
}

// command is the command that runs at the cursor.
func (c *cursor) command() *kong.Node {
	if c.node.DefaultCmd != nil {
		return c.node.DefaultCmd
	}
	return c.node
}

func (c *cursor) flags() (flags []*kong.Flag) {
	for _, group := range c.command().AllFlags(true) {
		flags = append(flags, group...)
	}
	return flags
}

// longFlag returns the flag of --name or --name=value, or nil.
func (c *cursor) longFlag(word string) *kong.Flag {
	name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	for _, f := range c.flags() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// next returns the completions of a word at the cursor.
func (c *cursor) next(word string) (others, []candidate) {
	if c.flag != nil {
		return values(c.flag.Value, "", c.flag.PlaceHolder)
	}
	if !c.plain && strings.HasPrefix(word, "-") {
		if name, _, ok := strings.Cut(word, "="); ok {
			if f := c.longFlag(name); f != nil {
				return values(f.Value, name+"=", f.PlaceHolder)
			}
			return nothing, nil
		}
		var all []candidate
		for _, f := range c.flags() {
			all = append(all, candidate{"--" + f.Name, f.Help})
		}
		return nothing, all
	}
	more, all := nothing, []candidate(nil)
	if at := c.command().Positional; len(at) > c.arguments {
		more, all = values(at[c.arguments], "", at[c.arguments].Name)
	} else if len(at) > 0 && at[len(at)-1].IsCumulative() {
		more, all = values(at[len(at)-1], "", at[len(at)-1].Name)
	}
	if c.arguments == 0 && !c.plain {
		for _, child := range c.node.Children {
			if !child.Hidden && child.Name != "" {
				all = append(all, candidate{child.Name, child.Help})
			}
		}
	}
	return more, all
}

// values returns the values of a flag or an argument with a name such as FILE, each after the prefix.
func values(v *kong.Value, prefix, name string) (others, []candidate) {
	var words []string
	more := nothing
	switch declared := v.Tag.Get("complete"); {
	case declared == string(files), declared == "" && strings.EqualFold(name, "FILE"):
		more = files
	case declared == string(folders), declared == "" && strings.EqualFold(name, "DIR"):
		more = folders
	case declared != "":
		words = strings.Split(declared, ",")
	}
	if l, ok := v.Target.Interface().(listed); ok {
		words = append(words, l.Completions()...)
	}
	var all []candidate
	for _, word := range words {
		all = append(all, candidate{prefix + word, ""})
	}
	return more, all
}
