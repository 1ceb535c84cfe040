package where

import (
	"slices"
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

// written are the forms of String: T is the text of the expression, 0, 1 and 2
// are its operands, and * is the list of all of them.
var written = [...]string{
	formLiteral: "T", formName: "T", formItem: "#", formMember: "0.T", formIndex: "0[1]", formSlice: "0[1:2]",
	formList: "[*]", formUnary: "(T 0)", formBinary: "(0 T 1)", formConditional: "(0 ? 1 : 2)",
	formLet: "(let T = 0; 1)", formCall: "T(*)",
}

// String returns an expression that parses as e does.
func (e *expr) String() string {
	if e == nil {
		return ""
	}
	form, text := written[e.form], e.text
	if e.form == formMember && !isName(text) {
		form, text = "0[T]", strconv.Quote(text)
	}
	of := make([]string, len(e.of), len(e.of)+3)
	for i, operand := range e.of {
		of[i] = operand.String()
		if i == 0 && operand.form == formLiteral && (strings.HasPrefix(form, "0.") || strings.HasPrefix(form, "0[")) {
			of[i] = "(" + of[i] + ")"
		}
	}
	all := strings.Join(of, ", ")
	of = append(of, "", "", "")
	return strings.NewReplacer("T", text, "*", all, "0", of[0], "1", of[1], "2", of[2]).Replace(form)
}

// isName reports whether a member may be written after a dot.
func isName(s string) bool {
	l := lexer{source: s}
	t, err := l.next()
	return err == nil && t.text == s && isLetter([]rune(s + " ")[0])
}

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

	takesPredicate func(function string) bool
}

// parse parses a whole expression. takesPredicate reports whether the second
// argument of a function is a predicate.
func parse(source string, takesPredicate func(function string) bool) (*expr, *Error) {
	p := parser{lex: lexer{source: source}, takesPredicate: takesPredicate}
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
	var err *Error
	if p.now, err = p.lex.next(); err != nil {
		p.fail(err)
	}
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
	for coalesced := false; ; {
		operator, negated, ok := p.binary(precedence)
		switch {
		case !ok:
			return p.conditional(left, precedence)
		case operator.text == "|":
			left = p.call(p.name(), left)
		case coalesced && operator.text != "??":
			p.fail(errorAt(operator.at, "", "put the ?? and what it is between in parentheses"))
		default:
			left = p.operation(left, operator, negated)
		}
		coalesced = operator.text == "??"
	}
}

// binary steps over a binary operator if it has at least the given precedence.
// Operators that are words may have a not before them.
func (p *parser) binary(precedence int) (operator token, negated, ok bool) {
	before := *p
	negated = p.accept("not")
	if negated && !slices.Contains(negatable, p.now.text) {
		p.unexpected()
	}
	operator = p.now
	o := operators[operator.text]
	if o == nil || operator.kind != tokenOperator || o.precedence < precedence {
		if p.err == nil {
			*p = before
		}
		return operator, false, false
	}
	p.advance()
	return operator, negated, true
}

// operation parses the right side of a binary operator. Comparisons may be
// chained: 1s < http.duration < 2s.
func (p *parser) operation(left *expr, operator token, negated bool) *expr {
	precedence := operators[operator.text].precedence + 1
	if operator.text == "**" || operator.text == "^" {
		precedence-- // grouped from the right
	}
	right := p.expr(precedence)
	result := &expr{form: formBinary, text: operator.text, of: []*expr{left, right}, at: operator.at}
	for isOrder(operator.text) && p.now.kind == tokenOperator && isOrder(p.now.text) {
		operator = p.now
		p.advance()
		left, right = right, p.expr(precedence)
		next := &expr{form: formBinary, text: operator.text, of: []*expr{left, right}, at: operator.at}
		result = &expr{form: formBinary, text: "&&", of: []*expr{result, next}, at: operator.at}
	}
	if negated {
		result = &expr{form: formUnary, text: "not", of: []*expr{result}, at: operator.at}
	}
	return result
}

func isOrder(operator string) bool { return slices.Contains([]string{"<", "<=", ">", ">="}, operator) }

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
func (p *parser) operand() *expr { return p.members(p.primary()) }

func (p *parser) primary() *expr {
	t := p.now
	unary, isUnary := unaries[t.text]
	switch {
	case t.kind == tokenLiteral:
		p.advance()
		return &expr{form: formLiteral, text: t.text, value: t.value, kind: t.of, at: t.at}
	case t.kind == tokenName:
		p.advance()
		if p.is("(") {
			return p.call(t)
		}
		return named(t)
	case t.kind == tokenOperator && isUnary:
		p.advance()
		return &expr{form: formUnary, text: t.text, of: []*expr{p.expr(unary)}, at: t.at}
	case p.accept("("):
		e := p.expr(lowest)
		p.expect(")")
		return e
	case p.accept("["):
		return &expr{form: formList, of: p.list(nil, "]", false), at: t.at}
	case p.predicates > 0 && (p.is(".") || p.accept("#")):
		return &expr{form: formItem, at: t.at}
	}
	p.unexpected()
	return &expr{form: formLiteral, at: t.at}
}

// named returns the literal or the name that a token is.
func named(t token) *expr {
	switch t.text {
	case "true", "false":
		return &expr{form: formLiteral, text: t.text, value: truthValue(t.text == "true"), kind: kindTruth, at: t.at}
	case "nil":
		return &expr{form: formLiteral, text: t.text, kind: kindUnknown, at: t.at}
	}
	return &expr{form: formName, text: t.text, at: t.at}
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
			if t.kind != tokenName && !slices.Contains(words, t.text) {
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
	e := &expr{form: formIndex, of: []*expr{of, nil}, at: at}
	if !p.is(":") {
		e.of[1] = p.expr(lowest)
	}
	if p.accept(":") {
		e.form, e.of = formSlice, append(e.of, nil)
		if !p.is("]") {
			e.of[2] = p.expr(lowest)
		}
	} else if key := e.of[1]; key.form == formLiteral && key.kind == kindText {
		e.form, e.text, e.of = formMember, key.value.s, e.of[:1]
	}
	p.expect("]")
	return e
}

// list parses expressions up to a closing bracket, after those that it has
// already. The second one may be a predicate.
func (p *parser) list(all []*expr, closing string, hasPredicate bool) []*expr {
	for p.err == nil && !p.accept(closing) {
		if hasPredicate && len(all) == 1 {
			all = append(all, p.predicate())
		} else {
			all = append(all, p.expr(lowest))
		}
		if !p.is(closing) {
			p.expect(",")
		}
	}
	return all
}

// call parses the arguments of a function. With a pipe, the first is before it.
func (p *parser) call(name token, first ...*expr) *expr {
	p.expect("(")
	of := p.list(first, ")", p.takesPredicate(name.text))
	return &expr{form: formCall, text: name.text, of: of, at: name.at}
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

func (e *expr) isNil() bool { return e.form == formLiteral && e.text == "nil" }
