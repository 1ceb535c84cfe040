package where

import (
	"strconv"
	"strings"
)

type form int

const (
	formLiteral     form = iota
	formName             // a field of the event, or a variable
	formItem             // # in a predicate: the element of the list
	formMember           // of[0].text
	formIndex            // of[0][of[1]]
	formSlice            // of[0][of[1]:of[2]], each of the two may be nil
	formList             // [of...]
	formUnary            // text of[0]
	formBinary           // of[0] text of[1]
	formConditional      // of[0] ? of[1] : of[2]
	formLet              // let text = of[0]; of[1]
	formCall             // text(of...)
)

// An expr is a parsed expression.
type expr struct {
	form  form
	text  string // the operator, the name, or a literal as it is written
	value value  // of a literal
	kind  kind   // of a literal
	of    []*expr
	at    int // offset of the part that errors point to
}

// String returns an expression that parses as e does.
func (e *expr) String() string {
	if e == nil {
		return ""
	}
	switch of := e.of; e.form {
	case formItem:
		return "#"
	case formMember:
		if !isName(e.text) {
			return of[0].base() + "[" + strconv.Quote(e.text) + "]"
		}
		return of[0].base() + "." + e.text
	case formIndex:
		return of[0].base() + "[" + of[1].String() + "]"
	case formSlice:
		return of[0].base() + "[" + of[1].String() + ":" + of[2].String() + "]"
	case formList:
		return "[" + join(of) + "]"
	case formUnary:
		return "(" + e.text + " " + of[0].String() + ")"
	case formBinary:
		return "(" + of[0].String() + " " + e.text + " " + of[1].String() + ")"
	case formConditional:
		return "(" + of[0].String() + " ? " + of[1].String() + " : " + of[2].String() + ")"
	case formLet:
		return "(let " + e.text + " = " + of[0].String() + "; " + of[1].String() + ")"
	case formCall:
		return e.text + "(" + join(of) + ")"
	}
	return e.text
}

// base is String for an expression that is followed by a member.
func (e *expr) base() string {
	if e.form == formLiteral {
		return "(" + e.text + ")"
	}
	return e.String()
}

func join(all []*expr) string {
	texts := make([]string, len(all))
	for i, e := range all {
		texts[i] = e.String()
	}
	return strings.Join(texts, ", ")
}

// isName reports whether a member may be written after a dot.
func isName(s string) bool {
	l := lexer{source: s}
	t, err := l.next()
	return err == nil && t.text == s && isLetter([]rune(s + " ")[0])
}

// precedences are those of the binary operators. Operators of the same
// precedence are grouped from the left, except powers.
var precedences = map[string]int{
	"|": 0, "or": 10, "||": 10, "and": 15, "&&": 15,
	"==": 20, "!=": 20, "<": 20, "<=": 20, ">": 20, ">=": 20,
	"in": 20, "contains": 20, "startsWith": 20, "endsWith": 20, "matches": 20,
	"..": 25, "+": 30, "-": 30, "*": 60, "/": 60, "%": 60, "**": 100, "^": 100, "??": 500,
}

var unaries = map[string]int{"not": 50, "!": 50, "-": 90, "+": 90}

const (
	maxDepth = 200 // of nested expressions

	lowest = 0 // precedence of a whole expression
)

// A parser parses an expression by recursive descent. After an error, all
// further tokens are the end of the expression.
type parser struct {
	lex        lexer
	now        token // the token that is parsed next
	err        *Error
	depth      int
	predicates int // that the token is in
}

// parse parses a whole expression.
func parse(source string) (*expr, *Error) {
	p := parser{lex: lexer{source: source}}
	p.advance()
	e := p.expr(lowest)
	if p.now.kind != tokenEnd {
		p.unexpected()
	}
	if p.err != nil {
		p.err.Source = source
	}
	return e, p.err
}

func (p *parser) advance() {
	next, err := p.lex.next()
	if err != nil {
		p.fail(err)
		return
	}
	p.now = next
}

// fail keeps the first error.
func (p *parser) fail(err *Error) {
	if p.err == nil {
		p.err = err
	}
	p.lex.at = len(p.lex.source)
	p.now = token{at: err.Offset}
}

func (p *parser) unexpected() {
	switch {
	case p.now.kind == tokenEnd:
		p.fail(errorAt(p.now.at, "", "the expression ends too early"))
	case p.now.text == "=":
		p.fail(errorAt(p.now.at, `two values are equal by ==, as in --where 'level == "warn"'`, `unexpected "="`))
	default:
		p.fail(errorAt(p.now.at, "", "unexpected %q", p.now.text))
	}
}

func (p *parser) is(operator string) bool {
	return p.now.kind == tokenOperator && p.now.text == operator
}

// accept steps over an operator, if it is there.
func (p *parser) accept(operator string) bool {
	if !p.is(operator) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(operator string) {
	if !p.accept(operator) {
		p.unexpected()
	}
}

// name steps over a name.
func (p *parser) name() token {
	t := p.now
	if t.kind != tokenName {
		p.unexpected()
	}
	p.advance()
	return t
}

// expr parses operators of at least a precedence, and their operands.
func (p *parser) expr(precedence int) *expr {
	if p.depth++; p.depth > maxDepth {
		p.fail(errorAt(p.now.at, "", "the expression is nested too deeply"))
	}
	defer func() { p.depth-- }()
	if precedence == lowest && p.accept("let") {
		return p.let()
	}
	left := p.operand()
	coalesced := false
	for p.now.kind == tokenOperator {
		operator, negated, ok := p.binary(precedence)
		switch {
		case !ok:
			return p.conditional(left, precedence)
		case operator.text == "|":
			left = p.call(p.name(), left)
			coalesced = false
			continue
		case coalesced && operator.text != "??":
			p.fail(errorAt(operator.at, "", "put the ?? and what it is between in parentheses"))
		}
		left = p.operation(left, operator, negated)
		coalesced = operator.text == "??"
	}
	return p.conditional(left, precedence)
}

// binary steps over a binary operator if it has at least the given precedence.
// Operators that are words may have a not before them.
func (p *parser) binary(precedence int) (operator token, negated, ok bool) {
	before := *p
	if p.accept("not") {
		negated = true
		if !oneOf(p.now.text, []string{"in", "contains", "startsWith", "endsWith", "matches"}) {
			p.unexpected()
		}
	}
	own, ok := precedences[p.now.text]
	if !ok || own < precedence {
		if p.err == nil {
			*p = before
		}
		return operator, false, false
	}
	operator = p.now
	p.advance()
	return operator, negated, true
}

// operation parses the right side of a binary operator. Comparisons may be
// chained: 1s < http.duration < 2s.
func (p *parser) operation(left *expr, operator token, negated bool) *expr {
	own := precedences[operator.text]
	if operator.text == "**" || operator.text == "^" {
		own-- // grouped from the right
	}
	right := p.expr(own + 1)
	result := &expr{form: formBinary, text: operator.text, of: []*expr{left, right}, at: operator.at}
	for isOrder(operator.text) && p.now.kind == tokenOperator && isOrder(p.now.text) {
		operator = p.now
		p.advance()
		left, right = right, p.expr(own+1)
		next := &expr{form: formBinary, text: operator.text, of: []*expr{left, right}, at: operator.at}
		result = &expr{form: formBinary, text: "&&", of: []*expr{result, next}, at: operator.at}
	}
	if negated {
		result = &expr{form: formUnary, text: "not", of: []*expr{result}, at: operator.at}
	}
	return result
}

func isOrder(operator string) bool {
	return operator == "<" || operator == "<=" || operator == ">" || operator == ">="
}

func (p *parser) let() *expr {
	name := p.name()
	p.expect("=")
	value := p.expr(lowest)
	p.expect(";")
	return &expr{form: formLet, text: name.text, of: []*expr{value, p.expr(lowest)}, at: name.at}
}

// conditional parses a conditional after its condition: ? and :, or ?:.
func (p *parser) conditional(e *expr, precedence int) *expr {
	for precedence == lowest && p.is("?") {
		at := p.now.at
		p.advance()
		yes := e
		if !p.is(":") {
			yes = p.expr(lowest)
		}
		p.expect(":")
		e = &expr{form: formConditional, of: []*expr{e, yes, p.expr(lowest)}, at: at}
	}
	return e
}

// operand parses an operand with its unary operators and members.
func (p *parser) operand() *expr {
	t := p.now
	switch t.kind {
	case tokenLiteral:
		p.advance()
		return p.members(&expr{form: formLiteral, text: t.text, value: t.value, kind: t.of, at: t.at})
	case tokenName:
		p.advance()
		if p.is("(") {
			return p.members(p.call(t, nil))
		}
		return p.members(named(t))
	case tokenOperator:
		if precedence, ok := unaries[t.text]; ok {
			p.advance()
			return p.members(&expr{form: formUnary, text: t.text, of: []*expr{p.expr(precedence)}, at: t.at})
		}
	}
	switch {
	case p.accept("("):
		e := p.expr(lowest)
		p.expect(")")
		return p.members(e)
	case p.accept("["):
		return p.members(&expr{form: formList, of: p.list("]"), at: t.at})
	case p.predicates > 0 && (p.is(".") || p.accept("#")):
		return p.members(&expr{form: formItem, at: t.at})
	}
	p.unexpected()
	return &expr{form: formLiteral, at: t.at}
}

// named returns the literal or the name that a token is.
func named(t token) *expr {
	e := &expr{form: formLiteral, text: t.text, kind: kindTruth, at: t.at}
	switch t.text {
	case "true", "false":
		e.value = truthValue(t.text == "true")
	case "nil":
		e.kind = kindUnknown
	default:
		e.form = formName
	}
	return e
}

// members parses the members and indices after an operand.
func (p *parser) members(e *expr) *expr {
	for {
		at := p.now.at
		switch {
		case p.accept("["):
			e = p.index(e, at)
		case p.accept("?."), p.accept("."):
			if p.is("[") {
				continue // ?.[
			}
			t := p.now
			if t.kind != tokenName && !oneOf(t.text, words) {
				p.unexpected()
				return e
			}
			p.advance()
			e = &expr{form: formMember, text: t.text, of: []*expr{e}, at: t.at}
		default:
			return e
		}
	}
}

// index parses an index or a slice after its bracket.
func (p *parser) index(of *expr, at int) *expr {
	var from, to *expr
	if !p.is(":") {
		from = p.expr(lowest)
	}
	if p.accept(":") {
		if !p.is("]") {
			to = p.expr(lowest)
		}
		p.expect("]")
		return &expr{form: formSlice, of: []*expr{of, from, to}, at: at}
	}
	p.expect("]")
	if from.form == formLiteral && from.kind == kindText {
		return &expr{form: formMember, text: from.value.s, of: []*expr{of}, at: at}
	}
	return &expr{form: formIndex, of: []*expr{of, from}, at: at}
}

// list parses expressions up to a closing bracket.
func (p *parser) list(closing string) (all []*expr) {
	for p.err == nil && !p.accept(closing) {
		all = append(all, p.expr(lowest))
		if !p.is(closing) {
			p.expect(",")
		}
	}
	return all
}

// call parses the arguments of a function. With a pipe, the first is before it.
func (p *parser) call(name token, first *expr) *expr {
	e := &expr{form: formCall, text: name.text, at: name.at}
	if first != nil {
		e.of = append(e.of, first)
	}
	p.expect("(")
	takesPredicate := functions[name.text].predicate
	for p.err == nil && !p.accept(")") {
		if takesPredicate && len(e.of) == 1 {
			e.of = append(e.of, p.predicate())
		} else {
			e.of = append(e.of, p.expr(lowest))
		}
		if !p.is(")") {
			p.expect(",")
		}
	}
	return e
}

// predicate parses an expression that is evaluated for each element of a list,
// with or without braces.
func (p *parser) predicate() *expr {
	p.predicates++
	braces := p.accept("{")
	e := p.expr(lowest)
	if braces {
		p.expect("}")
	}
	p.predicates--
	return e
}
