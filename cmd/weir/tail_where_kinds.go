package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/log"
)

// A kind is what is known of a value before there is an event. A condition
// that cannot be meant is refused by it: events would only make it false.
type kind int

const (
	kindUnknown kind = iota // a field of data, and what is made of one
	kindTruth
	kindNumber
	kindText
	kindDuration // a number of nanoseconds
	kindInstant  // a text, or a time.Time
	kindLevel    // a text
	kindObject
	kindList
)

var kindWords = [...]string{
	kindUnknown:  "a value",
	kindTruth:    "true or false",
	kindNumber:   "a number",
	kindText:     "a text",
	kindDuration: "a duration",
	kindInstant:  "an instant",
	kindLevel:    "a level",
	kindObject:   "an object",
	kindList:     "a list",
}

func (k kind) String() string { return kindWords[k] }

// nameKinds are the kinds of what a condition may speak of.
var nameKinds = map[string]kind{
	"created_at": kindInstant, "namespace": kindText, "event": kindText, "trace_id": kindText, "span_id": kindText,
	"severity": kindNumber, "level": kindLevel, "http": kindObject, "auth": kindObject, "data": kindObject,
	"errors": kindList, "truncated": kindList, "extra": kindObject,
}

// memberKinds are the kinds of the members of those objects that have no others.
var memberKinds = map[string]map[string]kind{
	"http": {
		"status_code": kindNumber, "method": kindText, "scheme": kindText, "host": kindText, "port": kindNumber,
		"path": kindText, "query": kindText, "started_at": kindInstant, "ended_at": kindInstant,
		"duration": kindDuration, "response_content_length": kindNumber, "route": kindText, "client": kindText,
		"protocol": kindText, "user_agent": kindText, "referer": kindText, "request_content_length": kindNumber,
	},
	"auth": {"identity": kindText, "identity_type": kindText},
}

// builtinKinds are those of what functions of the language return, where they
// return one kind.
var builtinKinds = map[string]kind{
	"all": kindTruth, "any": kindTruth, "one": kindTruth, "none": kindTruth,
	"len": kindNumber, "count": kindNumber, "int": kindNumber, "float": kindNumber, "ceil": kindNumber,
	"floor": kindNumber, "round": kindNumber, "indexOf": kindNumber, "lastIndexOf": kindNumber,
	"lower": kindText, "upper": kindText, "string": kindText, "replace": kindText, "join": kindText,
	"now": kindInstant, "date": kindInstant, "duration": kindDuration,
}

// A mistake is a part of an expression that cannot be meant.
type mistake struct {
	at   ast.Node
	text string
	hint string
}

// in says where in the source the mistake is.
func (m *mistake) in(source string) error {
	at := &file.Error{Location: m.at.Location(), Message: m.text}
	return whereProblem(source, at.Bind(file.NewSource(source)), m.hint)
}

func mistaken(at ast.Node, hint, format string, args ...any) *mistake {
	return &mistake{at: at, text: fmt.Sprintf(format, args...), hint: hint}
}

// didYouMean ends what is said of a word that is not known.
func didYouMean(word string, words []string) string {
	if near := cli.Suggest(word, words); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}

// knownNames are what a condition may begin with, and the members that some
// forget to say the object of.
func knownNames() []string {
	names := slices.Sorted(maps.Keys(nameKinds))
	for _, of := range []string{"http", "auth"} {
		names = append(names, slices.Sorted(maps.Keys(memberKinds[of]))...)
	}
	return names
}

// inFull returns a name of knownNames with the object that it is a member of.
func inFull(name string) string {
	if _, ok := nameKinds[name]; ok || name == "" {
		return name
	}
	for of, members := range memberKinds {
		if _, ok := members[name]; ok {
			return of + "." + name
		}
	}
	return name
}

// ofMember returns the kind of a member.
func (l *lenience) ofMember(n *ast.MemberNode) (kind, *mistake) {
	key, named := n.Property.(*ast.StringNode)
	switch of := l.kinds[n.Node]; of {
	case kindUnknown:
		return kindUnknown, nil
	case kindList:
		if named {
			return 0, mistaken(n, `look into each, as in --where 'any(errors, .message contains "refused")'`, "a list has no %s", key.Value)
		}
		return kindUnknown, nil
	case kindObject:
		name, ok := n.Node.(*ast.IdentifierNode)
		if !ok || !named || memberKinds[name.Value] == nil {
			return kindUnknown, nil
		}
		members := memberKinds[name.Value]
		k, ok := members[key.Value]
		if !ok {
			keys := slices.Sorted(maps.Keys(members))
			hint := fmt.Sprintf("%s has %s; others that a line has are in extra.%s", name.Value, strings.Join(keys, ", "), name.Value)
			return 0, mistaken(n, hint, "unknown name %s.%s%s", name.Value, key.Value, didYouMean(key.Value, keys))
		}
		return k, nil
	default:
		return 0, mistaken(n, "", "%s has no members", of)
	}
}

// truth refuses what is neither true nor false.
func (l *lenience) truth(n ast.Node) *mistake {
	if k := l.kinds[n]; k != kindUnknown && k != kindTruth {
		return mistaken(n, "", "%s is neither true nor false", k)
	}
	return nil
}

// text refuses what cannot be searched in.
func (l *lenience) text(n ast.Node) *mistake {
	switch k := l.kinds[n]; k {
	case kindUnknown, kindText, kindInstant, kindLevel:
		return nil
	default:
		return mistaken(n, "", "%s is no text", k)
	}
}

// comparable returns the sides of a comparison as values that compare right.
func (l *lenience) comparable(n *ast.BinaryNode) (left, right ast.Node, m *mistake) {
	a, b := l.kinds[n.Left], l.kinds[n.Right]
	ranked := n.Operator != "==" && n.Operator != "!="
	if left, m = l.asKind(n.Left, b, ranked); m == nil {
		right, m = l.asKind(n.Right, a, ranked)
	}
	if m != nil {
		return nil, nil, m
	}
	if a, b := l.kinds[left], l.kinds[right]; !compares(a, b) {
		hint := ""
		if isSeverity(n.Left) || isSeverity(n.Right) {
			hint = `severity is 0 fatal to 4 debug; words are compared with level, as in --where 'level >= "warn"'`
		}
		return nil, nil, mistaken(n, hint, "%s is compared with %s", a, b)
	}
	return left, right, nil
}

func isSeverity(n ast.Node) bool {
	name, ok := n.(*ast.IdentifierNode)
	return ok && name.Value == "severity"
}

// compares reports whether values of the kinds can be the same.
func compares(a, b kind) bool {
	if a == b || a == kindUnknown || b == kindUnknown {
		return true
	}
	return a == kindText && (b == kindInstant || b == kindLevel) || b == kindText && (a == kindInstant || a == kindLevel)
}

// asKind returns a side of a comparison as a value that compares with one of
// the other's kind: an instant as a point in time, a level by its rank when
// the order matters, and a text that is written in the expression as what it
// stands for.
func (l *lenience) asKind(n ast.Node, other kind, ranked bool) (ast.Node, *mistake) {
	constant, isText := n.(*ast.StringNode)
	k := l.kinds[n]
	switch {
	case isText && other == kindInstant:
		t, ok := parseInstant(constant.Value)
		if !ok {
			return nil, mistaken(n, `write "2026-11-21T09:30:15Z", "2026-11-21T09:30", which is in UTC, or now() - 1h`, "%q is no instant", constant.Value)
		}
		return l.made(&ast.ConstantNode{Value: t}, n, kindInstant), nil
	case isText && other == kindDuration:
		d, err := time.ParseDuration(constant.Value)
		if err != nil {
			return nil, mistaken(n, "durations are written as 250ms or 1m30s", "%q is no duration", constant.Value)
		}
		return l.made(&ast.IntegerNode{Value: int(d)}, n, kindDuration), nil
	case isText && other == kindLevel:
		level, err := log.ParseLevel(constant.Value)
		if err != nil {
			return nil, mistaken(n, "the levels are "+strings.Join(levelNames, ", "), "%q is no level%s", constant.Value, didYouMean(constant.Value, levelNames))
		}
		if !ranked {
			return l.made(&ast.StringNode{Value: level.String()}, n, kindLevel), nil
		}
		return l.made(&ast.IntegerNode{Value: int(level)}, n, kindLevel), nil
	case k == kindNumber && other == kindDuration:
		if zero, ok := n.(*ast.IntegerNode); !ok || zero.Value != 0 {
			return nil, mistaken(n, "durations are written as 250ms or 1m30s", "a number is compared with a duration")
		}
		return l.made(n, n, kindDuration), nil
	case k == kindInstant:
		return l.made(call(instantFunction, n), n, kindInstant), nil
	case ranked && (k == kindLevel || other == kindLevel):
		return l.made(call(rankFunction, n), n, k), nil
	}
	return n, nil
}

// among returns the elements of a list that is written in the expression, as
// values that compare with one of kind k.
func (l *lenience) among(list *ast.ArrayNode, k kind) (ast.Node, *mistake) {
	nodes := make([]ast.Node, len(list.Nodes))
	for i, n := range list.Nodes {
		as, m := n, (*mistake)(nil)
		if k != kindInstant { // which is a text here
			as, m = l.asKind(n, k, false)
		}
		if m == nil && !compares(k, l.kinds[as]) {
			m = mistaken(n, "", "%s is compared with %s", k, l.kinds[as])
		}
		if m != nil {
			return nil, m
		}
		nodes[i] = as
	}
	return l.made(&ast.ArrayNode{Nodes: nodes}, list, kindUnknown), nil
}

// made returns a node that stands in the place of another, of that kind.
func (l *lenience) made(n, inPlaceOf ast.Node, k kind) ast.Node {
	n.SetLocation(inPlaceOf.Location())
	l.kinds[n] = k
	return n
}

// calculated returns the kind of what arithmetic makes of two kinds.
func (l *lenience) calculated(n *ast.BinaryNode) (kind, *mistake) {
	a, b, sum := l.kinds[n.Left], l.kinds[n.Right], n.Operator == "+" || n.Operator == "-"
	switch {
	case a == kindInstant && b == kindInstant && n.Operator == "-":
		return kindDuration, nil
	case a == kindInstant && b == kindDuration && sum, a == kindDuration && b == kindInstant && n.Operator == "+":
		return kindInstant, nil
	case a == kindUnknown && countable(b), countable(a) && b == kindUnknown:
		return kindUnknown, nil
	case a == kindDuration && b == kindDuration && n.Operator == "/":
		return kindNumber, nil
	case a == kindDuration && b == kindDuration && (sum || n.Operator == "%"):
		return kindDuration, nil
	case a == kindDuration && b == kindNumber && n.Operator != "+" && n.Operator != "-", a == kindNumber && b == kindDuration && n.Operator == "*":
		return kindDuration, nil
	case a == kindNumber && b == kindNumber:
		return kindNumber, nil
	case n.Operator == "+" && (a == kindText || a == kindLevel || a == kindUnknown) && (b == kindText || b == kindLevel || b == kindUnknown):
		return kindText, nil
	}
	return 0, mistaken(n, "", "%s %s %s cannot be reckoned", a, n.Operator, b)
}

// countable reports whether a value of the kind may stand beside one that is
// not known in arithmetic.
func countable(k kind) bool {
	return k == kindUnknown || k == kindNumber || k == kindDuration || k == kindInstant
}

// builtin evaluates a date or a duration whose text is written in the
// expression, since each event would fail on a mistake in it, and makes
// durations numbers.
func (l *lenience) builtin(node *ast.Node, n *ast.BuiltinNode) *mistake {
	if n.Name != "date" && n.Name != "duration" {
		return nil
	}
	for _, arg := range n.Arguments {
		if _, ok := arg.(*ast.StringNode); !ok {
			if n.Name == "duration" {
				ast.Patch(node, call(nanosecondsFunction, n))
			}
			return nil
		}
	}
	value, err := expr.Eval(n.String(), nil)
	switch v := value.(type) {
	case time.Duration:
		ast.Patch(node, &ast.IntegerNode{Value: int(v)})
	case time.Time:
		ast.Patch(node, &ast.ConstantNode{Value: v})
	}
	if err != nil {
		return mistaken(n, `write date("2026-11-21T09:30:15Z") or duration("1m30s")`, "%s cannot be read", n)
	}
	return nil
}

// The functions that work with instants, durations and levels, as those of
// lenience do.
const (
	instantFunction     = "instant·"
	shiftFunction       = "shift·"
	nanosecondsFunction = "nanoseconds·"
	rankFunction        = "rank·"
)

// instantForms are how an instant may be written in an expression; without a
// zone it is in UTC.
var instantForms = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
}

func parseInstant(text string) (time.Time, bool) {
	for _, form := range instantForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func asInstant(v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case string:
		return parseInstant(v)
	}
	return time.Time{}, false
}

// toInstant returns a point in time, or nil.
func toInstant(params ...any) (any, error) {
	if t, ok := asInstant(params[0]); ok {
		return t, nil
	}
	return nil, nil
}

// shift adds a duration to an instant, takes one from it, or says how long it
// is from one to another; it returns nil where a side is missing or of another
// kind.
func shift(params ...any) (any, error) {
	operator, a, b := params[0].(string), params[1], params[2]
	if _, ok := asInstant(a); !ok && operator == "+" {
		a, b = b, a
	}
	from, ok := asInstant(a)
	if !ok {
		return nil, nil
	}
	if to, ok := asInstant(b); ok && operator == "-" {
		return int64(from.Sub(to)), nil
	}
	by, ok := asFloat(b)
	switch {
	case ok && operator == "+":
		return from.Add(time.Duration(by)), nil
	case ok && operator == "-":
		return from.Add(-time.Duration(by)), nil
	}
	return nil, nil
}

func toNanoseconds(params ...any) (any, error) {
	if d, ok := params[0].(time.Duration); ok {
		return int64(d), nil
	}
	return nil, nil
}

// rank returns how bad a level is, as a number, or nil.
func rank(params ...any) (any, error) {
	if name, ok := params[0].(string); ok {
		if level, err := log.ParseLevel(name); err == nil {
			return int64(level), nil
		}
	}
	return nil, nil
}
