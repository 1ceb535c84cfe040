package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
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
		if near := inFull(nearest(name, knownNames())); near != "" {
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
	return &problem{err: fmt.Errorf("--where: %w", placed(source, err)), hint: hint, code: exitMisuse}
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

// What follows makes of expr's language one in which a missing field, or one of
// another type, makes a comparison false instead of ending the evaluation.

// The functions that are called in place of what an expression says. Nobody
// can write a name with a dot in the middle of the line.
const (
	getFunction     = "get·"
	compareFunction = "compare·"
	knownFunction   = "known·"
	trueFunction    = "true·"
)

// lenience replaces the parts of an expression that could fail, and finds those
// that cannot be meant.
type lenience struct {
	durations map[string]time.Duration
	variables variables
	names     []string          // that the expression uses
	kinds     map[ast.Node]kind // of the nodes that were visited
	mistake   *mistake          // the first
	root      ast.Node          // that was visited last
}

// found returns the first mistake of the expression.
func (l *lenience) found() *mistake {
	if l.mistake == nil && l.root != nil {
		return l.truth(l.root)
	}
	return l.mistake
}

// Visit implements ast.Visitor. Children have been visited before.
func (l *lenience) Visit(node *ast.Node) {
	k, m := l.replace(node)
	if l.mistake == nil {
		l.mistake = m
	}
	l.kinds[*node] = k
	l.root = *node
}

// replace puts a lenient node in the place of another and returns its kind.
func (l *lenience) replace(node *ast.Node) (kind, *mistake) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		return l.identifier(node, n), nil
	case *ast.MemberNode:
		k, m := l.ofMember(n)
		ast.Patch(node, call(getFunction, n.Node, n.Property))
		return k, m
	case *ast.ChainNode:
		return l.kinds[n.Node], nil
	case *ast.UnaryNode:
		if n.Operator != "not" && n.Operator != "!" {
			return l.kinds[n.Node], nil
		}
		m := l.truth(n.Node)
		n.Node = truth(n.Node)
		return kindTruth, m
	case *ast.ConditionalNode:
		m := l.truth(n.Cond)
		n.Cond = truth(n.Cond)
		if k := l.kinds[n.Exp1]; k == l.kinds[n.Exp2] {
			return k, m
		}
		return kindUnknown, m
	case *ast.BuiltinNode:
		return builtinKinds[n.Name], l.builtin(node, n)
	case *ast.VariableDeclaratorNode:
		return l.kinds[n.Expr], nil
	case *ast.BinaryNode:
		return l.binary(node, n)
	case *ast.BoolNode:
		return kindTruth, nil
	case *ast.IntegerNode, *ast.FloatNode:
		return kindNumber, nil
	case *ast.StringNode:
		return kindText, nil
	}
	return kindUnknown, nil
}

func (l *lenience) identifier(node *ast.Node, n *ast.IdentifierNode) kind {
	if d, ok := l.durations[n.Value]; ok {
		ast.Patch(node, &ast.IntegerNode{Value: int(d)})
		return kindDuration
	}
	if _, ok := conditionNames[n.Value]; ok && !slices.Contains(l.names, n.Value) {
		l.names = append(l.names, n.Value)
	}
	if v, ok := l.variables[n.Value]; ok {
		return l.kinds[v.Value] // which stands before, and has been visited
	}
	return nameKinds[n.Value]
}

// variables are the names that an expression declares.
type variables map[string]*ast.VariableDeclaratorNode

// Visit implements ast.Visitor.
func (v variables) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.VariableDeclaratorNode); ok {
		v[n.Name] = n
	}
}

func (l *lenience) binary(node *ast.Node, n *ast.BinaryNode) (kind, *mistake) {
	switch n.Operator {
	case "&&", "||", "and", "or":
		m := cmp.Or(l.truth(n.Left), l.truth(n.Right))
		n.Left, n.Right = truth(n.Left), truth(n.Right)
		return kindTruth, m
	case "==", "!=":
		if isNil(n.Left) || isNil(n.Right) {
			return kindTruth, nil
		}
		return kindTruth, l.comparison(node, n)
	case "<", "<=", ">", ">=":
		return kindTruth, l.comparison(node, n)
	case "contains", "startsWith", "endsWith":
		ast.Patch(node, call(compareFunction, &ast.StringNode{Value: n.Operator}, n.Left, n.Right))
		return kindTruth, cmp.Or(l.text(n.Left), l.text(n.Right))
	case "matches":
		l.matches(node, n)
		return kindTruth, l.text(n.Left)
	case "in":
		list, ok := n.Right.(*ast.ArrayNode)
		if !ok {
			return kindTruth, nil
		}
		right, m := l.among(list, l.kinds[n.Left])
		if m == nil {
			n.Right = right
		}
		return kindTruth, m
	case "??":
		return l.kinds[n.Left], nil
	case "+", "-", "*", "/", "%", "**", "^":
		return l.arithmetic(node, n)
	}
	return kindUnknown, nil
}

func (l *lenience) comparison(node *ast.Node, n *ast.BinaryNode) *mistake {
	left, right, m := l.comparable(n)
	if m == nil {
		ast.Patch(node, call(compareFunction, &ast.StringNode{Value: n.Operator}, left, right))
	}
	return m
}

func (l *lenience) arithmetic(node *ast.Node, n *ast.BinaryNode) (kind, *mistake) {
	k, m := l.calculated(n)
	if l.kinds[n.Left] == kindInstant || l.kinds[n.Right] == kindInstant {
		ast.Patch(node, call(shiftFunction, &ast.StringNode{Value: n.Operator}, n.Left, n.Right))
		return k, m
	}
	ast.Patch(node, &ast.ConditionalNode{
		Cond: call(knownFunction, n.Left, n.Right),
		Exp1: l.made(&ast.BinaryNode{Operator: n.Operator, Left: n.Left, Right: n.Right}, n, k),
		Exp2: &ast.NilNode{},
	})
	return k, m
}

// matches compiles the pattern once; a pattern that is not a text in the
// expression is left to expr.
func (l *lenience) matches(node *ast.Node, n *ast.BinaryNode) {
	pattern, ok := n.Right.(*ast.StringNode)
	if !ok {
		return
	}
	re, err := regexp.Compile(pattern.Value)
	if err != nil {
		return // which has been found out before
	}
	ast.Patch(node, call(compareFunction, &ast.StringNode{Value: n.Operator}, n.Left, &ast.ConstantNode{Value: re}))
}

func call(function string, args ...ast.Node) ast.Node {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: function}, Arguments: args}
}

// truth makes sure that a node is true or false.
func truth(n ast.Node) ast.Node {
	switch n.(type) {
	case *ast.BoolNode, *ast.UnaryNode, *ast.BuiltinNode, *ast.BinaryNode:
		return n
	}
	return call(trueFunction, n)
}

func isNil(n ast.Node) bool {
	_, ok := n.(*ast.NilNode)
	return ok
}

func isTrue(params ...any) (any, error) { return params[0] == true, nil }

func areKnown(params ...any) (any, error) {
	return !slices.Contains(params, nil), nil
}

// getMember returns a member of an object or an element of an array, or nil.
// LTSV has keys with dots where JSON has objects, so the way there may be one
// key.
func getMember(params ...any) (any, error) {
	switch of := params[0].(type) {
	case map[string]any:
		key, _ := params[1].(string)
		if value, ok := of[key]; ok {
			return value, nil
		}
		return dotted(of, key+"."), nil
	case []any:
		i, ok := asInt(params[1])
		if ok && i < 0 {
			i += int64(len(of))
		}
		if ok && 0 <= i && i < int64(len(of)) {
			return of[i], nil
		}
	}
	return nil, nil
}

// dotted collects the members whose keys begin so, as an object; or it returns
// nil.
func dotted(of map[string]any, prefix string) any {
	var inner map[string]any
	for key, value := range of {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			if inner == nil {
				inner = map[string]any{}
			}
			inner[rest] = value
		}
	}
	if inner == nil {
		return nil
	}
	return inner
}

// compareValues is false where a side is missing, and where the sides do not
// compare.
func compareValues(params ...any) (any, error) {
	operator, a, b := params[0].(string), params[1], params[2]
	if a == nil || b == nil {
		return false, nil
	}
	_, isInstant := a.(time.Time)
	if _, other := b.(time.Time); isInstant || other {
		return compareInstants(operator, a, b), nil
	}
	if x, ok := a.(string); ok {
		return compareTexts(operator, x, b), nil
	}
	if x, ok := asInt(a); ok {
		if y, ok := asInt(b); ok {
			return ordered(operator, cmp.Compare(x, y)), nil
		}
	}
	if x, ok := asFloat(a); ok {
		if y, ok := asFloat(b); ok {
			return ordered(operator, cmp.Compare(x, y)), nil
		}
	}
	same := reflect.DeepEqual(a, b)
	return operator == "==" && same || operator == "!=" && !same, nil
}

// compareInstants is false where a side is no instant.
func compareInstants(operator string, a, b any) bool {
	x, ok := asInstant(a)
	y, also := asInstant(b)
	return ok && also && ordered(operator, x.Compare(y))
}

func compareTexts(operator, a string, other any) bool {
	if re, ok := other.(*regexp.Regexp); ok {
		return re.MatchString(a)
	}
	b, ok := other.(string)
	if !ok {
		return operator == "!="
	}
	switch operator {
	case "contains":
		return strings.Contains(a, b)
	case "startsWith":
		return strings.HasPrefix(a, b)
	case "endsWith":
		return strings.HasSuffix(a, b)
	}
	return ordered(operator, strings.Compare(a, b))
}

func ordered(operator string, order int) bool {
	switch operator {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	}
	return false
}

func asInt(v any) (int64, bool) {
	switch n := v.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	}
	return 0, false
}

func asFloat(v any) (float64, bool) {
	if n, ok := asInt(v); ok {
		return float64(n), true
	}
	f, ok := v.(float64)
	return f, ok
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
