package main

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
)

// This file makes of expr's language one in which a missing field, or one of
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
