package config

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A Condition is a condition for a header field, a parameter or a cookie. Each may occur
// several times in a request.
type Condition struct {
	Name  string
	Test  Test
	Value string // only for HasValue
}

// A Test is the kind of a condition.
type Test uint8

const (
	HasValue  Test = iota // one of the values is exactly Value
	IsPresent             // there is a value, which may be empty
	IsAbsent              // there is no value
)

// None reports whether there are no conditions.
func (c Conditions) None() bool { return len(c.Headers)+len(c.Query)+len(c.Cookies) == 0 }

// Names returns the conditions without their values, which may be secret, such as
// "X-Beta and no ?debug"; "" for no conditions.
func (c Conditions) Names() string {
	var all []string
	for _, h := range c.Headers {
		all = append(all, h.negation()+h.Name)
	}
	for _, q := range c.Query {
		all = append(all, q.negation()+"?"+q.Name)
	}
	for _, k := range c.Cookies {
		all = append(all, k.negation()+"cookie "+k.Name)
	}
	return strings.Join(all, " and ")
}

func (c Condition) negation() string {
	if c.Test == IsAbsent {
		return "no "
	}
	return ""
}

// conditionKeys returns the keys of [Conditions] below a path.
func conditionKeys(path string) []key {
	return []key{
		{Path: path, Read: readWhen},
		{Path: path + ".headers", Ambiguous: true, Read: readFieldConditions},
		{Path: path + ".headers.*", Read: readFieldCondition},
		{Path: path + ".query", Ambiguous: true, Read: readQueryConditions},
		{Path: path + ".query.*", Read: readQueryCondition},
		{Path: path + ".cookies", Read: readCookieConditions},
		{Path: path + ".cookies.*", Read: readCookieCondition},
	}
}

// conditions returns the conditions that are being read.
func (f filling) conditions() *Conditions {
	if f.share != nil {
		return &f.share.When
	}
	return &f.route.When
}

// readWhen reads the conditions of a route or a share. A route with a mistake in them is not
// compared with other routes.
func readWhen(r *fileReader, p place, n *yamlfile.Node) {
	before := len(r.Mistakes())
	r.Fields(p, n)
	r.RefuseEmpty(p, n)
	p.To.route.badWhen = len(r.Mistakes()) > before
}

// readConditions returns the function that reads conditions by name. equal compares
// names.
func readConditions(at func(*Conditions) *[]Condition, check func(name string) *yamlfile.Refusal,
	equal func(a, b string) bool) (readAll, readOne readFunc) {
	readAll = func(r *fileReader, p place, n *yamlfile.Node) {
		if !r.RefuseEmpty(p, n) {
			r.Names(p, n)
		}
	}
	readOne = func(r *fileReader, p place, n *yamlfile.Node) {
		list := at(p.To.conditions())
		if refused := check(p.Key.Text); refused != nil {
			r.Refuse(p.Key, refused)
			return
		}
		if i := slices.IndexFunc(*list, func(c Condition) bool { return equal(c.Name, p.Key.Text) }); i >= 0 {
			r.Mistakef(p.Key.Pos, "keep one of the two", "%s is the same as %s", yamlfile.Quote(p.Key.Text),
				yamlfile.Quote((*list)[i].Name))
			return
		}
		if c, ok := yamlfile.ReadOne(r, p, n, parseCondition); ok {
			if looksLikeExpression(c.Value) {
				r.Warnf(n.Pos, "write true for any value", "%s is an exact value here, not an expression", yamlfile.Quote(c.Value))
			}
			c.Name = p.Key.Text
			*list = append(*list, c)
		}
	}
	return readAll, readOne
}

// parseCondition reads true, false, or a value.
func parseCondition(s yamlfile.Scalar) (Condition, *yamlfile.Refusal) {
	if s.Type == "bool" {
		if strings.EqualFold(s.Text, "true") {
			return Condition{Test: IsPresent}, nil
		}
		return Condition{Test: IsAbsent}, nil
	}
	if s.Text != "" && !httpsyntax.IsPlain(s.Text) || strings.TrimSpace(s.Text) != s.Text {
		return Condition{}, yamlfile.Refuse("write true, false, or a value in one line without blanks around it",
			"no request has the value %s", yamlfile.Quote(s.Text))
	}
	return Condition{Value: s.Text}, nil
}

// looksLikeExpression reports whether a condition's value is probably meant as an expression or a pattern.
func looksLikeExpression(value string) bool {
	return value == "*" || strings.HasPrefix(value, "^") || strings.HasPrefix(value, "~") || strings.HasSuffix(value, "$") ||
		strings.Contains(value, ".*") || strings.Contains(value, ".+")
}

func checkFieldName(name string) *yamlfile.Refusal {
	switch {
	case strings.EqualFold(name, "host"):
		return yamlfile.Refuse(`write it in the pattern, as in: match: "example.com/{path...}"`,
			"the host is no condition")
	case !httpsyntax.IsToken(name):
		return yamlfile.Refuse("write a name, as in X-Beta", "%s is not the name of a header field", yamlfile.Quote(name))
	}
	return nil
}

func checkParameterName(name string) *yamlfile.Refusal {
	if name == "" || strings.ContainsAny(name, "?&=") {
		return yamlfile.Refuse("write its name and value apart, as in: query: {debug: true, v: \"2\"}",
			"%s is not the name of a parameter of the query", yamlfile.Quote(name))
	}
	return nil
}

func checkCookieName(name string) *yamlfile.Refusal {
	_, refused := parseCookieName(yamlfile.Scalar{Text: name})
	return refused
}

var (
	readFieldConditions, readFieldCondition = readConditions(
		func(c *Conditions) *[]Condition { return &c.Headers }, checkFieldName, strings.EqualFold)
	readQueryConditions, readQueryCondition = readConditions(
		func(c *Conditions) *[]Condition { return &c.Query }, checkParameterName, sameText)
	readCookieConditions, readCookieCondition = readConditions(
		func(c *Conditions) *[]Condition { return &c.Cookies }, checkCookieName, sameText)
)

func sameText(a, b string) bool { return a == b }

// implies reports whether d holds for every request that c holds for.
func (c Conditions) implies(d Conditions) bool {
	return implyAll(c.Headers, d.Headers, strings.EqualFold) &&
		implyAll(c.Query, d.Query, sameText) && implyAll(c.Cookies, d.Cookies, sameText)
}

func implyAll(list, implied []Condition, equal func(a, b string) bool) bool {
	for _, d := range implied {
		if !slices.ContainsFunc(list, func(c Condition) bool {
			return equal(c.Name, d.Name) && (c.Test == d.Test && c.Value == d.Value ||
				c.Test == HasValue && d.Test == IsPresent)
		}) {
			return false
		}
	}
	return true
}
