package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/log/record"
)

// A condition decides which events are shown.
type condition struct {
	source  string
	program *vm.Program
	names   []string // of the names that it uses
	failed  int      // events on which it failed
	cause   error    // of the first of these
}

// conditionNames are what a condition may speak of, and how to get it from an event.
// What is nil is missing.
var conditionNames = map[string]func(*record.Record) any{
	"created_at": func(r *record.Record) any { return string(r.CreatedAt) },
	"namespace":  func(r *record.Record) any { return r.Namespace },
	"event":      func(r *record.Record) any { return r.Event },
	"trace_id":   func(r *record.Record) any { return unlessEmpty(r.TraceID) },
	"span_id":    func(r *record.Record) any { return unlessEmpty(r.SpanID) },
	"severity":   severityNumber,
	"level":      func(r *record.Record) any { return unlessEmpty(strings.ToLower(r.Severity.String())) },
	"http":       httpMembers,
	"auth":       authMembers,
	"data":       func(r *record.Record) any { return membersOf(r.Data) },
	"errors":     errorList,
	"truncated":  func(r *record.Record) any { return r.Truncated },
	"extra":      extraMembers,
}

func unlessEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func severityNumber(r *record.Record) any {
	if r.Severity == record.SeverityNone {
		return nil
	}
	return int64(r.Severity - record.SeverityFatal)
}

func membersOf(fields []record.Field) map[string]any {
	m := make(map[string]any, len(fields))
	for _, f := range fields {
		m[f.Key] = f.Value.Any()
	}
	return m
}

// httpMembers has the keys that the event has in JSON.
func httpMembers(r *record.Record) any {
	h := r.HTTP
	if h == nil {
		return nil
	}
	m := map[string]any{"status_code": int64(h.StatusCode)}
	for _, f := range [...]struct{ key, text string }{
		{"method", h.Method}, {"scheme", h.Scheme}, {"host", h.Host}, {"path", h.Path}, {"query", h.Query},
		{"started_at", string(h.StartedAt)}, {"ended_at", string(h.EndedAt)}, {"route", h.Route}, {"client", h.Client},
		{"protocol", h.Protocol}, {"user_agent", h.UserAgent}, {"referer", h.Referer},
	} {
		if f.text != "" {
			m[f.key] = f.text
		}
	}
	for _, f := range [...]struct {
		key string
		n   int64
	}{
		{"port", int64(h.Port)}, {"duration", int64(h.Duration)},
		{"response_content_length", h.ResponseContentLength}, {"request_content_length", h.RequestContentLength},
	} {
		if f.n != 0 {
			m[f.key] = f.n
		}
	}
	return m
}

func authMembers(r *record.Record) any {
	if r.Auth == nil {
		return nil
	}
	return map[string]any{"identity": r.Auth.Identity, "identity_type": r.Auth.IdentityType}
}

// extraMembers has the keys that the format does not know: those of the event,
// and in http and auth those of these.
func extraMembers(r *record.Record) any {
	m := membersOf(r.Extra)
	if r.HTTP != nil && len(r.HTTP.Extra) > 0 {
		m["http"] = membersOf(r.HTTP.Extra)
	}
	if r.Auth != nil && len(r.Auth.Extra) > 0 {
		m["auth"] = membersOf(r.Auth.Extra)
	}
	return m
}

func errorList(r *record.Record) any {
	list := make([]any, len(r.Errors))
	for i, e := range r.Errors {
		list[i] = map[string]any{"message": e.Message, "data": membersOf(e.Data)}
	}
	return list
}

// compileCondition reads an expression in the language of expr-lang.org, in
// which durations may be written as they are, as in 1m30s.
func compileCondition(source string) (*condition, error) {
	parsed, durations := replaceDurations(source)
	known := types.Map{}
	for name := range conditionNames {
		known[name] = types.Any
	}
	for name := range durations {
		known[name] = types.Any // what they go with is found out by kinds
	}
	// The expression is checked before it is made lenient, as that hides names
	// that do not exist.
	if _, err := expr.Compile(parsed, expr.Env(known), expr.AsBool()); err != nil {
		return nil, whereError(source, err)
	}
	declared := variables{}
	lenient := &lenience{durations: durations, variables: declared, kinds: map[ast.Node]kind{}}
	program, err := expr.Compile(parsed, expr.Env(known), expr.Patch(declared), expr.Patch(lenient),
		expr.Function(getFunction, getMember, new(func(any, any) any)),
		expr.Function(compareFunction, compareValues, new(func(string, any, any) bool)),
		expr.Function(knownFunction, areKnown, new(func(...any) bool)),
		expr.Function(trueFunction, isTrue, new(func(any) bool)),
		expr.Function(instantFunction, toInstant, new(func(any) any)),
		expr.Function(shiftFunction, shift, new(func(string, any, any) any)),
		expr.Function(nanosecondsFunction, toNanoseconds, new(func(any) any)),
		expr.Function(rankFunction, rank, new(func(any) any)),
	)
	if m := lenient.found(); m != nil {
		return nil, m.in(source)
	}
	if err != nil {
		return nil, whereError(source, err)
	}
	return &condition{source: source, program: program, names: lenient.names}, nil
}

// A token is how the parser names what it did not expect.
var token = regexp.MustCompile(`unexpected token \w+\((".*")\)`)

// whereError says what is wrong with an expression, in words of people where
// the language has others, and where in it.
func whereError(source string, err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		at = &file.Error{Message: err.Error()} // of the whole
	}
	hint := ""
	name, isName := strings.CutPrefix(at.Message, "unknown name ")
	switch {
	case isName:
		if near := inFull(cli.Suggest(name, knownNames())); near != "" {
			at.Message += ", did you mean " + near + "?"
		}
		hint = "an event has " + strings.Join(slices.Sorted(maps.Keys(nameKinds)), ", ") + "; its fields are in data, as in data.rows"
	case strings.Contains(at.Message, `Operator("=")`):
		hint = "two values are equal by ==, as in --where 'level == \"warn\"'"
	case strings.HasPrefix(at.Message, "expected bool, but got "):
		at.Message = "it is neither true nor false"
	}
	at.Message = strings.Replace(at.Message, "unexpected token EOF", "the expression ends too early", 1)
	at.Message = token.ReplaceAllString(at.Message, "unexpected $1")
	return whereProblem(source, at, hint)
}

// whereProblem shows where in an expression something is wrong.
func whereProblem(source string, err error, hint string) error {
	hint = cmp.Or(hint, "compare fields of the event, as in --where 'http.status_code >= 500 && http.duration > 250ms'")
	return cli.Misuse(fmt.Errorf("--where: %w", placed(source, err)), hint)
}

// placed shows the place of an error in the expression as it was written.
func placed(source string, err error) error {
	var at *file.Error
	if !errors.As(err, &at) || at.Line == 0 {
		return err
	}
	lines := strings.Split(source, "\n")
	line := lines[min(at.Line, len(lines))-1]
	return fmt.Errorf("column %d: %s\n  %s\n  %*s", at.Column+1, at.Message, line, at.Column+1, "^")
}

// holds reports whether an event meets the condition. One on which it fails,
// as it does when it adds a number to a text, does not.
func (c *condition) holds(r *record.Record) bool {
	env := make(map[string]any, len(c.names))
	for _, name := range c.names {
		env[name] = conditionNames[name](r)
	}
	result, err := expr.Run(c.program, env)
	if err != nil {
		if c.failed++; c.cause == nil {
			c.cause = placed(c.source, err)
		}
		return false
	}
	return result == true
}

// durationText is a number with a unit, or several.
var durationText = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+`)

// replaceDurations puts a name in the place of each duration outside of texts,
// and returns what they stand for. A name is as long as what it replaces, so
// that places in the expression stay what they are.
func replaceDurations(source string) (replaced string, durations map[string]time.Duration) {
	durations = map[string]time.Duration{}
	var b strings.Builder
	for i := 0; i < len(source); {
		text := source[i:]
		switch c := source[i]; {
		case c == '"' || c == '\'' || c == '`':
			text = text[:quotedEnd(text)]
		case '0' <= c && c <= '9':
			text = wordAt(text)
			if d, err := time.ParseDuration(durationText.FindString(text)); err == nil && durationText.FindString(text) == text {
				name := durationName(len(durations), len([]rune(text)))
				durations[name] = d
				b.WriteString(name)
				i += len(text)
				continue
			}
		case c == '_' || unicode.IsLetter(rune(c)):
			text = wordAt(text)
		default:
			text = text[:1]
		}
		b.WriteString(text)
		i += len(text)
	}
	return b.String(), durations
}

// durationName returns the nth name that has so many characters: letters that
// nobody writes in an expression.
func durationName(n, characters int) string {
	return string(rune(0xAC00+n)) + strings.Repeat("ᄀ", characters-1)
}

// quotedEnd returns where a text ends that begins with its quote.
func quotedEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

// wordAt returns the letters, digits and points that s begins with.
func wordAt(s string) string {
	end := strings.IndexFunc(s, func(c rune) bool {
		return c != '_' && c != '.' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	if end < 0 {
		return s
	}
	return s[:end]
}
