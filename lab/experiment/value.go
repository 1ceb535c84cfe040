package experiment

import (
	"maps"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/weirhq/weir/internal/yamlfile"
)

// The functions below read values that only experiments have.

// parseName reads the name of the experiment, which is a word.
func parseName(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	if s.Text == "" || strings.Trim(s.Text, letters) != "" || len(s.Text) > 64 {
		return "", yamlfile.Refuse("a name has letters, digits, '.', '_' and '-', 64 at most", "%s is no name",
			yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// parseProse reads text for people. Line breaks become spaces.
func parseProse(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	text := strings.Join(strings.Fields(s.Text), " ")
	switch {
	case text == "":
		return "", yamlfile.Refuse("give it a value, or leave it out", "the value is empty")
	case yamlfile.Printable(text) != text:
		return "", yamlfile.Refuse("remove it", "%s contains a control character", yamlfile.Quote(s.Text))
	}
	return text, nil
}

// parseTemplate reads a text that may contain ${name}. It may be empty.
func parseTemplate(names []string) func(yamlfile.Scalar) (string, *yamlfile.Refusal) {
	return func(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
		if i := strings.IndexFunc(s.Text, isControl); i >= 0 {
			return "", yamlfile.Refuse("remove it", "%s contains a control character", yamlfile.Quote(s.Text)).At(i)
		}
		if refused := checkNames(s.Text, names); refused != nil {
			return "", refused
		}
		return s.Text, nil
	}
}

// isControl reports whether a character may not occur in a text, not even in
// the body of a request or in a shell script.
func isControl(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }

// parseFilled is parseTemplate for texts that may not be empty.
func parseFilled(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	if strings.TrimSpace(s.Text) == "" {
		return "", yamlfile.Refuse("give it a value, or leave it out", "the value is empty")
	}
	return parseTemplate(runNames)(s)
}

// parseURL reads the URL of the service.
func parseURL(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	if !isURL(s.Text) {
		return "", yamlfile.Refuse("write http:// or https:// and where it is, as in http://127.0.0.1:${port}/",
			"%s is no URL", yamlfile.Quote(s.Text))
	}
	return parseFilled(s)
}

// parsePath reads a URL, or a path below that of the service.
func parsePath(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	if !isURL(s.Text) && !strings.HasPrefix(s.Text, "/") {
		return "", yamlfile.Refuse("write a path, as in /healthz, or a URL", "%s is neither a path nor a URL",
			yamlfile.Quote(s.Text))
	}
	return parseFilled(s)
}

func isURL(text string) bool {
	rest, ok := strings.CutPrefix(text, "http://")
	if !ok {
		rest, ok = strings.CutPrefix(text, "https://")
	}
	return ok && rest != ""
}

// between returns a parser of an integer within bounds.
func between(least, most int) func(yamlfile.Scalar) (int, *yamlfile.Refusal) {
	return func(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
		n, refused := yamlfile.Count(s)
		if refused == nil && (n < least || n > most) {
			refused = yamlfile.Refuse("write "+strconv.Itoa(least)+" to "+strconv.Itoa(most), "%s is out of bounds",
				yamlfile.Quote(s.Text))
		}
		return n, refused
	}
}

// orNone returns a parser that also accepts the word none, for 0.
func orNone[V int | int64](parse func(yamlfile.Scalar) (V, *yamlfile.Refusal)) func(yamlfile.Scalar) (V,
	*yamlfile.Refusal) {
	return func(s yamlfile.Scalar) (V, *yamlfile.Refusal) {
		if s.Text == "none" {
			return 0, nil
		}
		return parse(s)
	}
}

// parseMemory reads the memory limit of a service.
func parseMemory(s yamlfile.Scalar) (int64, *yamlfile.Refusal) {
	size, refused := yamlfile.Size(s)
	if refused == nil && size < 1<<20 {
		refused = yamlfile.Refuse("write 1MiB or more, or none", "no service runs in %s", yamlfile.Quote(s.Text))
	}
	return size, refused
}

// parseTime reads a duration that is not zero.
func parseTime(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	d, refused := yamlfile.Duration(s)
	if refused == nil && d == 0 {
		refused = yamlfile.Refuse("write how long, as in 10s", "%s is no time", yamlfile.Quote(s.Text))
	}
	return d, refused
}

// parsePeriod reads the interval between samples.
func parsePeriod(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	d, refused := yamlfile.Duration(s)
	if refused == nil && (d < time.Millisecond || d > time.Minute) {
		refused = yamlfile.Refuse("write 1ms to 1m; 50ms is usual", "%s is out of bounds", yamlfile.Quote(s.Text))
	}
	return d, refused
}

// parseSeed reads any integer.
func parseSeed(s yamlfile.Scalar) (uint64, *yamlfile.Refusal) {
	n, err := strconv.ParseUint(s.Text, 10, 64)
	if err != nil {
		return 0, yamlfile.Refuse("write a whole number, as in 7", "%s is no seed", yamlfile.Quote(s.Text))
	}
	return n, nil
}

// parseShare reads a number of things per request, which may be a fraction.
func parseShare(s yamlfile.Scalar) (float64, *yamlfile.Refusal) {
	n, err := strconv.ParseFloat(s.Text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > 1e6 {
		return 0, yamlfile.Refuse("write a number, as in 3 or 0.5", "%s is not a count", yamlfile.Quote(s.Text))
	}
	return n, nil
}

func showTime(d time.Duration) any { return d.String() }
func showSize(n int64) any         { return yamlfile.ShowSize(n) }
func showAny[V any](v V) any       { return v }

// readWords returns a reader of a command line, or of a list of words, that may
// contain names.
func readWords(names []string, at func(target) *[]string) readFunc {
	return func(r *reader, p place, n *yamlfile.Node) {
		if words, ok := wordsOf(r, p, n, names); ok {
			*at(p.To) = words
		}
	}
}

func wordsOf(r *reader, p place, n *yamlfile.Node, names []string) (words []string, ok bool) {
	if n.Kind == yamlfile.Single {
		words, ok = yamlfile.ReadOne(r, p, n, func(s yamlfile.Scalar) ([]string, *yamlfile.Refusal) {
			if _, refused := parseTemplate(names)(s); refused != nil {
				return nil, refused
			}
			return splitWords(s.Text)
		})
		return words, ok
	}
	ok = n.Kind != yamlfile.Bad && n.Kind != yamlfile.Null
	for _, element := range r.Elements(p, n) {
		word, fine := yamlfile.ReadOne(r, p, element, parseTemplate(names))
		words = append(words, word)
		ok = ok && fine
	}
	return words, ok
}

// readBuild reads a list of commands.
func readBuild(r *reader, p place, n *yamlfile.Node) {
	p.To.experiment.Build = nil
	for _, element := range r.Elements(p, n) {
		words, ok := wordsOf(r, p, element, buildNames)
		switch {
		case !ok:
		case len(words) == 0:
			r.Mistakef(element.Pos, "write a program and its arguments, or remove it", "there is no command")
		default:
			p.To.experiment.Build = append(p.To.experiment.Build, words)
		}
	}
}

// readVariable reads an environment variable of the service.
func readVariable(r *reader, p place, n *yamlfile.Node) {
	name := p.Key.Text
	if name == "" || strings.ContainsFunc(name, func(c rune) bool {
		return c == '=' || c <= ' ' || unicode.IsControl(c)
	}) {
		r.Mistakef(p.Key.Pos, "a name has letters, digits and '_'", "%s cannot name a variable", yamlfile.Quote(name))
		return
	}
	if value, ok := yamlfile.ReadOne(r, p, n, parseTemplate(runNames)); ok {
		env := make(map[string]string, len(p.To.service.Env)+1) // another case may share the old map
		maps.Copy(env, p.To.service.Env)
		env[name] = value
		p.To.service.Env = env
	}
}
