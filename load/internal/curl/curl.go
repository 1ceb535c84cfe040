// Package curl reads command lines of curl, such as the network tabs of browsers copy. It runs nothing.
package curl

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/load/internal/request"
)

// A Command is a request as a command line describes it. Its texts may have templates.
type Command struct {
	Offset      int    // of the command in the text
	Method, URL string // "" is the default method
	Header      []Field
	Body        string
	Insecure    bool // the server's certificate is not verified
}

// A Field is a field of a header.
type Field struct{ Name, Value string }

// An Error is a mistake at an offset of the text.
type Error struct {
	Offset int
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %v", e.Offset, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// start begins a text with commands of curl, after comments.
var start = regexp.MustCompile(`\A(\s|#[^\n]*\n)*curl(\.exe)?[\s\\]`)

// Begins reports whether a text begins with a command of curl.
func Begins(text []byte) bool { return start.Match(text) }

// Parse reads commands. read returns the contents of the files that they name. Errors are of type *Error.
func Parse(text string, read func(name string) (string, error)) (all []Command, err error) {
	r := &shellReader{text: text}
	for {
		words, err := r.command()
		if err != nil {
			return nil, &Error{r.at, err}
		}
		if len(words) == 0 {
			return all, nil
		}
		c := &command{read: read}
		if err := c.parse(words); err != nil {
			return nil, err
		}
		all = append(all, c.Command)
	}
}

// A command is a Command that is being read.
type command struct {
	Command
	read    func(name string) (string, error)
	data    []string // of several options
	form    bool     // data is of a form, and not of --json
	inURL   bool     // data is for the query
	cookies []string
	others  []Field // of other options than -H, which has precedence
}

// parse reads the words of a command.
func (c *command) parse(words []shellWord) error {
	c.Offset = words[0].offset
	if name := words[0].text; name != "curl" && name != "curl.exe" {
		return &Error{c.Offset, fmt.Errorf("%q is not a command of curl", name)}
	}
	for i := 1; i < len(words); i++ {
		used, err := c.word(words[i:])
		if err != nil {
			return &Error{words[i].offset, err}
		}
		i += used
	}
	if c.URL == "" {
		return &Error{c.Offset, errors.New("the command has no URL")}
	}
	c.finish()
	return nil
}

// An option is an option of curl. It has either a value or none.
type option struct {
	value func(c *command, value string) error
	flag  func(c *command)
}

// ignored are options that change what curl prints or how it connects, and not the request.
func ignored(*command) {}

// options has the options by their long names. Redirects are not followed.
var options = map[string]option{
	"request":        {value: func(c *command, v string) error { c.Method = v; return nil }},
	"url":            {value: (*command).setURL},
	"header":         {value: (*command).header},
	"user-agent":     {value: func(c *command, v string) error { c.set("User-Agent", v); return nil }},
	"referer":        {value: func(c *command, v string) error { c.set("Referer", v); return nil }},
	"cookie":         {value: (*command).cookie},
	"user":           {value: (*command).user},
	"data":           {value: func(c *command, v string) error { return c.addData(v, true) }},
	"data-ascii":     {value: func(c *command, v string) error { return c.addData(v, true) }},
	"data-binary":    {value: func(c *command, v string) error { return c.addData(v, false) }},
	"data-raw":       {value: (*command).addText},
	"data-urlencode": {value: (*command).addEncoded},
	"json":           {value: (*command).json},
	"get":            {flag: func(c *command) { c.inURL = true }},
	"head":           {flag: func(c *command) { c.Method = "HEAD" }},
	"compressed":     {flag: func(c *command) { c.set("Accept-Encoding", "deflate, gzip, br, zstd") }},
	"insecure":       {flag: func(c *command) { c.Insecure = true }},
	"location":       {flag: ignored},
	"silent":         {flag: ignored},
	"show-error":     {flag: ignored},
	"verbose":        {flag: ignored},
	"include":        {flag: ignored},
	"globoff":        {flag: ignored},
	"path-as-is":     {flag: ignored},
	"output":         {value: func(*command, string) error { return nil }},
}

// short has the long names of options with one letter.
var short = map[byte]string{
	'X': "request", 'H': "header", 'A': "user-agent", 'e': "referer", 'b': "cookie", 'u': "user", 'd': "data", 'G': "get",
	'I': "head", 'k': "insecure", 'L': "location", 's': "silent", 'S': "show-error", 'v': "verbose", 'i': "include",
	'g': "globoff", 'o': "output",
}

// word takes the first word, and returns how many of the following ones it has used as its value.
func (c *command) word(words []shellWord) (used int, err error) {
	word := words[0].text
	if long, ok := strings.CutPrefix(word, "--"); ok && long != "" {
		o, ok := options[long]
		if !ok {
			return 0, unknownOption(word)
		}
		return c.apply(o, word, words[1:])
	}
	if len(word) < 2 || word[0] != '-' {
		return 0, c.setURL(word)
	}
	for i := 1; i < len(word); i++ {
		name := "-" + word[i:i+1]
		long, ok := short[word[i]]
		if !ok {
			return 0, unknownOption(name)
		}
		o := options[long]
		if value := word[i+1:]; o.value != nil && value != "" {
			return 0, about(name, o.value(c, value))
		}
		if used, err = c.apply(o, name, words[1:]); err != nil {
			return 0, err
		}
	}
	return used, nil
}

// apply applies an option, whose value is the next word.
func (c *command) apply(o option, name string, next []shellWord) (used int, err error) {
	if o.flag != nil {
		o.flag(c)
		return 0, nil
	}
	if len(next) == 0 {
		return 0, fmt.Errorf("%s has no value", name)
	}
	return 1, about(name, o.value(c, next[0].text))
}

// about adds the name of the option to an error.
func about(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// unknownOption returns the error for an option that is not among options.
func unknownOption(name string) error {
	var known []string
	for long := range options {
		known = append(known, "--"+long)
	}
	hint := "leave it out if the request does not need it"
	if near := nearest.Word(name, known); near != "" && strings.HasPrefix(name, "--") {
		hint = "it may be " + near
	}
	if name == "-F" || name == "--form" {
		hint = "weir load -F sends a form"
	}
	return fmt.Errorf("the option %s of curl is not known here; %s", name, hint)
}

// setURL sets the URL. Chromium puts a backslash before the characters from which curl makes several URLs.
func (c *command) setURL(text string) error {
	if c.URL != "" {
		return fmt.Errorf("%q is a second URL; write a command for each", text)
	}
	if text = strings.NewReplacer(`\[`, "[", `\]`, "]", `\{`, "{", `\}`, "}").Replace(text); !strings.Contains(text, "://") {
		text = "http://" + text
	}
	c.URL = text
	return nil
}

// header adds a field in the notation of -H: "Name: value", or "Name;" for an empty one. curl leaves out "Name:".
func (c *command) header(line string) error {
	name, value, ok := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	switch {
	case !ok && strings.HasSuffix(line, ";"):
		name = strings.TrimSuffix(line, ";")
	case !ok:
		return fmt.Errorf("%q is not a header; write Name: value", line)
	case value == "":
		return nil
	}
	c.add(Field{name, value})
	return nil
}

func (c *command) add(f Field) { c.Header = append(c.Header, f) }

func (c *command) has(name string) bool {
	return slices.ContainsFunc(c.Header, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// set sets a field, unless -H does.
func (c *command) set(name, value string) { c.others = append(c.others, Field{name, value}) }

func (c *command) cookie(value string) error {
	if !strings.Contains(value, "=") {
		return fmt.Errorf("%q is a file of cookies; write name=value", value)
	}
	c.cookies = append(c.cookies, value)
	return nil
}

func (c *command) user(value string) error {
	if !strings.Contains(value, ":") {
		return errors.New("there is no password; write user:password")
	}
	c.set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(value)))
	return nil
}

// addText adds data.
func (c *command) addText(text string) error {
	c.data, c.form = append(c.data, text), true
	return nil
}

// addData adds data, or the content of a file; as text, without its line ends.
func (c *command) addData(value string, text bool) error {
	name, isFile := strings.CutPrefix(value, "@")
	if !isFile {
		return c.addText(value)
	}
	content, err := c.read(name)
	if err == nil && text {
		content = strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(content)
	}
	return cmp.Or(err, c.addText(request.EscapeTemplate(content)))
}

// addEncoded adds data in the notations of --data-urlencode: text, =text, name=text, @file and name@file.
func (c *command) addEncoded(value string) error {
	name, text := "", value
	if i := strings.IndexAny(value, "=@"); i >= 0 {
		name, text = value[:i], value[i+1:]
		if value[i] == '@' {
			content, err := c.read(text)
			if err != nil {
				return err
			}
			text = request.EscapeTemplate(content)
		}
		if name != "" {
			name += "="
		}
	}
	return c.addText(name + escapeQuery(text))
}

// escapeQuery escapes a text for a form or a query, and leaves templates as they are.
func escapeQuery(text string) string {
	var b strings.Builder
	for text != "" {
		before, rest, ok := strings.Cut(text, "{{")
		b.WriteString(strings.ReplaceAll(url.QueryEscape(before), "+", "%20"))
		if !ok {
			break
		}
		template, after, _ := strings.Cut(rest, "}}")
		b.WriteString("{{" + template + "}}")
		text = after
	}
	return b.String()
}

func (c *command) json(value string) error {
	err := c.addData(value, false)
	c.form = false
	c.set("Content-Type", "application/json")
	c.set("Accept", "application/json")
	return err
}

// finish adds the data and the fields that follow from the options.
func (c *command) finish() {
	separator := ""
	if c.form {
		separator = "&"
	}
	text := strings.Join(c.data, separator)
	switch {
	case len(c.data) == 0:
	case c.inURL:
		mark := "?"
		if strings.Contains(c.URL, "?") {
			mark = "&"
		}
		c.URL += mark + text
	default:
		c.Method = cmp.Or(c.Method, "POST")
		c.Body = text
		if c.form {
			c.set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	if len(c.cookies) > 0 {
		c.add(Field{"Cookie", strings.Join(c.cookies, "; ")})
	}
	for _, h := range c.others {
		if !c.has(h.Name) {
			c.add(h)
		}
	}
}
