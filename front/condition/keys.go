package condition

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Keys returns the keys of a [Set] at a path. at returns where it is kept.
func Keys[T any](path string, at func(T) *Set) []yamlfile.Key[T] {
	keys := []yamlfile.Key[T]{
		{Path: path, NotEmpty: true, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			r.Fields(p, n)
			r.RefuseEmpty(p, n)
		}},
	}
	for _, list := range []struct {
		name, doc string
		ambiguous bool
		at        func(*Set) *[]Condition
		check     func(name string) *yamlfile.Refusal
		equal     func(a, b string) bool // compares names
	}{
		{"headers", "a condition for a header field",
			true, func(s *Set) *[]Condition { return &s.Headers }, checkFieldName, strings.EqualFold},
		{"query", "a condition for a parameter of the query",
			true, func(s *Set) *[]Condition { return &s.Query }, checkParameterName, sameText},
		{"cookies", "a condition for a cookie",
			false, func(s *Set) *[]Condition { return &s.Cookies }, checkCookieName, sameText},
	} {
		keys = append(keys,
			yamlfile.Key[T]{Path: path + "." + list.name, Ambiguous: list.ambiguous,
				Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
					if !r.RefuseEmpty(p, n) {
						r.Names(p, n)
					}
				}},
			yamlfile.Key[T]{Path: path + "." + list.name + ".*", AnyCase: list.name == "headers", Doc: list.doc,
				Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
					if refused := list.check(p.Key.Text); refused != nil {
						r.Refuse(p.Key, refused)
						return
					}
					read(r, p, n, list.at(at(p.To)), list.equal)
				}})
	}
	return keys
}

// read adds a condition to a list.
func read[T any](
	r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, list *[]Condition, equal func(a, b string) bool,
) {
	if i := slices.IndexFunc(*list, func(c Condition) bool { return equal(c.Name, p.Key.Text) }); i >= 0 {
		r.Mistakef(p.Key.Pos, "keep one of the two", "%s is the same as %s", yamlfile.Quote(p.Key.Text),
			yamlfile.Quote((*list)[i].Name))
		return
	}
	if c, ok := yamlfile.ReadOne(r, p, n, parse); ok {
		if looksLikeExpression(c.Value) {
			r.Warnf(n.Pos, "write true for any value", "%s is an exact value here, not an expression", yamlfile.Quote(c.Value))
		}
		c.Name = p.Key.Text
		*list = append(*list, c)
	}
}

// parse reads true, false, or a value.
func parse(s yamlfile.Scalar) (Condition, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "value", Words: []string{"true", "false"}})
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
	return value == "*" || strings.HasPrefix(value, "^") || strings.HasPrefix(value, "~") ||
		strings.HasSuffix(value, "$") || strings.Contains(value, ".*") || strings.Contains(value, ".+")
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
	_, refused := scalar.CookieName(yamlfile.Scalar{Text: name})
	return refused
}
