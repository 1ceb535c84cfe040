package where

import (
	"math"
	"slices"

	"github.com/weirhq/weir/internal/nearest"
)

const (
	maxDepth = 200 // of nested expressions

	lowest     = 0  // precedence of a whole expression
	comparison = 20 // precedence of the operators that compare
)

// A parser parses an expression by recursive descent, and checks its kinds. After a
// syntax error, all further tokens are the end of the expression.
type parser struct {
	*env
	next    int   // offset of what comes after now
	now     token // the token that is parsed next
	ended   int   // offset of the end of the token before
	depth   int
	members []string         // of an event, that the condition uses
	vars    map[string]*node // of let, and the literals that are names
	element *value           // of the innermost predicate that the token is in, or nil
}

// reject reports a syntax error.
func (p *parser) reject(at int, hint, format string, args ...any) {
	p.fail(at, hint, format, args...)
	p.now, p.next = token{at: at}, len(p.source)
}

func (p *parser) unexpected() {
	switch p.now.text {
	case "":
		p.reject(p.now.at, "", "the expression ends too early")
	case "=":
		p.reject(p.now.at, `two values are equal by ==, as in --where 'level == "warn"'`, `unexpected "="`)
	default:
		p.reject(p.now.at, "", "unexpected %q", p.now.text)
	}
}

// accept steps over an operator, if it is there.
func (p *parser) accept(operator string) bool {
	if p.now.text != operator {
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
	if !t.isName {
		p.unexpected()
	}
	p.advance()
	return t
}

// written returns the expression from an offset up to the current token.
func (p *parser) written(from int) string { return p.source[min(from, p.ended):p.ended] }

// expr parses operators of at least a precedence, and their operands.
func (p *parser) expr(precedence int) *node {
	if p.depth++; p.depth > maxDepth {
		p.reject(p.now.at, "", "the expression is nested too deeply")
	}
	defer func() { p.depth-- }()
	if precedence == lowest && p.accept("let") {
		return p.let()
	}
	start := p.now.at
	left := p.operand()
	for coalesced := false; ; {
		negated := precedence <= comparison && p.accept("not")
		t := p.now
		o, ok := operators[t.text]
		switch {
		case negated && !slices.Contains(negatable, t.text):
			p.unexpected()
			return left
		case !ok || o.precedence < precedence:
			return left
		case coalesced && t.text != "??" && o.precedence > lowest:
			p.reject(t.at, "", "put the ?? and what it is between in parentheses")
		}
		p.advance()
		left = p.operation(left, t)
		if negated {
			left = p.apply(token{text: "not", at: t.at}, unaries["not"], left)
		}
		left.source = p.written(start)
		coalesced = t.text == "??"
	}
}

// operation parses the right side of a binary operator. Comparisons may be
// chained: 1s < http.duration < 2s.
func (p *parser) operation(left *node, t token) *node {
	o := operators[t.text]
	switch t.text {
	case "|":
		return p.call(p.name(), left)
	case "?":
		yes := left // of a ?: b
		if p.now.text != ":" {
			yes = p.expr(lowest)
		}
		p.expect(":")
		return p.apply(t, o, left, yes, p.expr(lowest))
	case "**":
		o.precedence-- // grouped from the right
	}
	right := p.expr(o.precedence + 1)
	result, next := p.apply(t, o, left, right), p.now
	if !slices.Contains(chained, t.text) || !slices.Contains(chained, next.text) {
		return result
	}
	p.advance()
	return p.apply(token{text: "&&", at: next.at}, operators["&&"], result, p.operation(right, next))
}

// apply returns an operator with its operands.
func (p *parser) apply(t token, o operator, args ...*node) *node {
	n := &node{do: o.do, name: t.text, args: args, at: t.at, env: p.env}
	n.kind = o.check(n)
	return n
}

func (p *parser) let() *node {
	name := p.name()
	_, isField := eventFields[name.text]
	if _, ok := p.vars[name.text]; ok || isField {
		p.fail(name.at, "", "%s is declared already", name.text)
	}
	p.expect("=")
	v, current := p.expr(lowest), new(value)
	p.expect(";")
	p.vars[name.text] = p.variable(name.at, current, v.kind)
	body := p.expr(lowest)
	delete(p.vars, name.text)
	return &node{env: p.env, at: name.at, kind: body.kind, do: func(*node) value {
		*current = v.eval()
		return body.eval()
	}}
}

// operand parses an operand with its unary operators, members, indices and parts.
func (p *parser) operand() *node {
	start := p.now.at
	n := p.primary()
	for {
		n.source = p.written(start)
		at := p.now.at
		switch {
		case p.accept("["):
			n = p.index(n, at)
		case p.accept("?."), p.accept("."):
			if p.now.text == "[" {
				continue // ?.[
			}
			t := p.now
			if !nameForm.MatchString(t.text) {
				p.unexpected()
			}
			p.advance()
			n = p.member(n, t.text, t.at)
		default:
			return n
		}
	}
}

func (p *parser) primary() *node {
	t := p.now
	unary, isUnary := unaries[t.text]
	switch {
	case t.kind != kindMissing:
		p.advance()
		return p.literal(t.at, t.value, t.kind)
	case t.isName:
		p.advance()
		if p.now.text == "(" {
			return p.call(t)
		}
		return p.named(t)
	case isUnary:
		p.advance()
		return p.apply(t, unary, p.expr(unary.precedence))
	case p.accept("("):
		n := p.expr(lowest)
		p.expect(")")
		return n
	case p.accept("["):
		return p.apply(t, listing, p.arguments(nil, "]", false)...)
	case p.element != nil && (t.text == "." || p.accept("#")):
		return p.variable(t.at, p.element, kindUnknown)
	}
	p.unexpected()
	return p.literal(t.at, value{}, kindUnknown)
}

// index parses an index or the bounds of a part after its bracket.
func (p *parser) index(of *node, at int) *node {
	from, to := p.literal(at, intValue(0), kindNumber), p.literal(at, intValue(math.MaxInt64), kindNumber)
	if p.now.text != ":" {
		from = p.expr(lowest)
	}
	if p.accept(":") {
		if p.now.text != "]" {
			to = p.expr(lowest)
		}
		p.expect("]")
		return p.apply(token{at: at}, slicing, of, from, to)
	}
	p.expect("]")
	if from.literal != nil && from.kind == kindText {
		return p.member(of, from.literal.s, at)
	}
	return p.apply(token{at: at}, indexing, of, from)
}

// arguments parses expressions up to a closing bracket, after those that it has
// already. The second one may be a predicate, with or without braces.
func (p *parser) arguments(all []*node, closing string, hasPredicate bool) []*node {
	outer := p.element
	for p.err == nil && !p.accept(closing) {
		isPredicate := hasPredicate && len(all) == 1
		if isPredicate {
			p.element = new(value)
		}
		braces := isPredicate && p.accept("{")
		n := p.expr(lowest)
		if braces {
			p.expect("}")
		}
		n.element, p.element = p.element, outer
		all = append(all, n)
		if p.now.text != closing {
			p.expect(",")
		}
	}
	return all
}

// call parses the arguments of a function. With a pipe, the first is before it.
func (p *parser) call(name token, args ...*node) *node {
	f, ok := functions[name.text]
	if !ok {
		near := nearest.Guess(name.text, names(functions))
		p.fail(name.at, "the functions are "+listed(functions), "unknown name %s%s", name.text, didYouMean(near))
	}
	p.expect("(")
	args = p.arguments(args, ")", slices.Equal(f.takes, elements))
	n := p.apply(name, operator{check: f.check, do: f.do}, args...)
	if notations[f.returns].parse == nil || len(args) != 1 || args[0].literal == nil || p.err != nil {
		return n
	}
	constant := p.literal(name.at, n.eval(), f.returns)
	if p.err != nil {
		p.err = nil
		hint := `write date("2026-11-21T09:30:15Z") or duration("1m30s")`
		p.fail(name.at, hint, "%s(%s) cannot be read", name.text, args[0].source)
	}
	return constant
}

// named returns the literal, the variable or the field that a name is.
func (p *parser) named(t token) *node {
	if v, ok := p.vars[t.text]; ok {
		n := *v
		n.at = t.at
		return &n
	}
	f, ok := eventFields[t.text]
	if !ok {
		hint := "an event has " + listed(eventFields) + "; its fields are in data, as in data.rows"
		p.fail(t.at, hint, "unknown name %s%s", t.text, didYouMean(suggestion(t.text)))
	}
	used := t.text
	if used == "level" {
		used = "severity"
	}
	p.members = append(p.members, used)
	return p.field(f, t.text, t.at)
}

func (p *parser) field(f field, name string, at int) *node {
	return &node{at: at, kind: f.kind, name: name, field: f, env: p.env, do: func(n *node) value {
		return n.field.get(n.env.record)
	}}
}

func (p *parser) member(of *node, key string, at int) *node {
	members := of.field.members
	f, ok := members[key]
	switch {
	case ok:
		p.members[len(p.members)-1] += "." + key // in place of the whole object
		return p.field(f, "", at)
	case members != nil:
		hint := of.name + " has " + listed(members) + "; others that a line has are in extra." + of.name
		p.fail(at, hint, "unknown name %s.%s%s", of.name, key, didYouMean(nearest.Guess(key, names(members))))
	case of.kind == kindList:
		hint := `look into each, as in --where 'any(errors, .message contains "refused")'`
		p.fail(at, hint, "a list has no %s", key)
	}
	return p.apply(token{at: at}, indexing, of, p.literal(at, textValue(key), kindText))
}
