package about

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/version"
)

// A ManCommand is weir man.
type ManCommand struct {
	Dir string `arg:"" optional:"" default:"." help:"The folder for the pages (default the current one)."`
}

// Help implements kong.HelpProvider.
func (ManCommand) Help() string {
	return `Writes a manual page for each command, made from the same texts as --help, and one for the keys of the configuration:
weir.1, weir-serve.1 and so on, and weir.yaml.5.

Examples:
  weir man /usr/local/share/man/man1
  weir man && man ./weir-serve.1`
}

// Run writes the pages.
func (c *ManCommand) Run(ctx *kong.Context) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return cli.Misuse(err, "name a folder for the pages")
	}
	for _, node := range commands(ctx.Model.Node) {
		if err := c.write(pageName(node)+".1", func(w io.Writer) { writePage(w, node) }); err != nil {
			return err
		}
	}
	return c.write("weir.yaml.5", writeKeys)
}

// write writes a page, as a whole.
func (c *ManCommand) write(name string, write func(io.Writer)) error {
	var page bytes.Buffer
	write(&page)
	return os.WriteFile(filepath.Join(c.Dir, name), page.Bytes(), 0o644)
}

// commands returns a command and those below it that have a page.
func commands(node *kong.Node) []*kong.Node {
	all := []*kong.Node{node}
	for _, child := range node.Children {
		if !child.Hidden && child != node.DefaultCmd {
			all = append(all, commands(child)...)
		}
	}
	return all
}

// pageName returns the name of a page, such as weir-load-gen.
func pageName(node *kong.Node) string { return strings.ReplaceAll(node.FullPath(), " ", "-") }

// writePage writes the page of a command in the macros of man(7).
func writePage(w io.Writer, node *kong.Node) {
	writeTitle(w, pageName(node), 1)
	runs := node
	if node.DefaultCmd != nil {
		runs = node.DefaultCmd
	}
	help := node.Help
	if node.Parent == nil {
		help, _, _ = strings.Cut(node.Help, "\n")
	}
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n", roff(pageName(node)), roff(strings.TrimSuffix(help, ".")))
	fmt.Fprintf(w, ".SH SYNOPSIS\n.B %s\n%s\n", roff(node.FullPath()),
		roff(strings.TrimSpace(strings.TrimPrefix(runs.Summary(), runs.Path()))))
	fmt.Fprint(w, ".SH DESCRIPTION\n")
	if node.Parent == nil {
		writeText(w, node.Help)
	} else {
		writeText(w, node.Help+"\n\n"+runs.Detail)
	}
	if len(runs.Positional) > 0 {
		fmt.Fprint(w, ".SH ARGUMENTS\n")
		for _, p := range runs.Positional {
			fmt.Fprintf(w, ".TP\n.I %s\n%s\n", roff(p.Summary()), roff(p.Help))
		}
	}
	writeFlags(w, runs)
	writeCommands(w, node)
	fmt.Fprint(w, ".SH EXIT STATUS\n0 on success, 1 if a problem was found or the command failed, 2 if it was used wrongly, and 130 if it was interrupted.\n")
	fmt.Fprint(w, ".SH SEE ALSO\n")
	if node.Parent != nil {
		fmt.Fprintf(w, ".BR %s (1),\n", roff(pageName(node.Parent)))
	}
	fmt.Fprint(w, ".BR weir.yaml (5)\n")
}

func writeTitle(w io.Writer, name string, section int) {
	day, _, _ := strings.Cut(version.Get().Date, "T")
	fmt.Fprintf(w, ".TH %s %d %s %s \"Weir\"\n", quoted(strings.ToUpper(name)), section, quoted(day), quoted("weir "+version.String()))
}

// writeKeys writes the page of weir.yaml.
func writeKeys(w io.Writer) {
	writeTitle(w, "weir.yaml", 5)
	fmt.Fprint(w, `.SH NAME
weir.yaml \- configuration of the front door weir
.SH DESCRIPTION
The file is YAML.
.B weir check
lists every mistake in it, with line and column.
.SH KEYS
NAME is a name that the file chooses. A key of
.B routes
is a key of each route; one that can also be in defaults or in a group of routes says so.
`)
	for _, k := range config.Keys() {
		text := k.Meaning
		if k.Short != "" {
			text = "short for " + k.Short
		}
		if len(k.AlsoIn) > 0 {
			text += " (also in " + strings.Join(k.AlsoIn, ", ") + ")"
		}
		fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(k.Path), roff(text))
	}
	fmt.Fprint(w, ".SH SEE ALSO\n.BR weir\\-serve (1),\n.BR weir\\-check (1)\n")
}

// writeFlags writes the flags, a section for each group, as in --help.
func writeFlags(w io.Writer, node *kong.Node) {
	fmt.Fprint(w, ".SH OPTIONS\n")
	group := ""
	for _, flags := range node.AllFlags(true) {
		for _, f := range flags {
			if f.Group != nil && f.Group.Title != group {
				group = f.Group.Title
				fmt.Fprintf(w, ".SS %s\n", quoted(strings.TrimSuffix(group, ":")))
			}
			fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(f.String()), roff(f.Help))
		}
	}
}

// writeCommands writes the commands below a command.
func writeCommands(w io.Writer, node *kong.Node) {
	if len(node.Children) == 0 {
		return
	}
	fmt.Fprint(w, ".SH COMMANDS\n")
	for _, child := range commands(node)[1:] {
		if child.Parent == node {
			fmt.Fprintf(w, ".TP\n.BR %s (1)\n%s\n", roff(pageName(child)), roff(child.Help))
		}
	}
}

// writeText writes paragraphs. Indented lines are examples, and stay as they are.
func writeText(w io.Writer, text string) {
	verbatim := false
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		indented := strings.HasPrefix(line, "  ")
		switch {
		case indented && !verbatim:
			fmt.Fprint(w, ".PP\n.RS 4\n.nf\n")
		case !indented && verbatim:
			fmt.Fprint(w, ".fi\n.RE\n")
		}
		verbatim = indented
		switch {
		case indented:
			fmt.Fprintln(w, roff(strings.TrimPrefix(line, "  ")))
		case line == "":
			fmt.Fprint(w, ".PP\n")
		case strings.HasPrefix(line, "Example"):
			_, about, _ := strings.Cut(line, ":")
			fmt.Fprintf(w, ".SH EXAMPLES\n%s\n", roff(strings.TrimPrefix(about, " ")))
		default:
			fmt.Fprintln(w, roff(line))
		}
	}
	if verbatim {
		fmt.Fprint(w, ".fi\n.RE\n")
	}
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff returns a text, or a line of it, without special characters.
func roff(text string) string {
	text = roffEscapes.Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// quoted returns an argument of a macro.
func quoted(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }
