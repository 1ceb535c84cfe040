package router

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// regexpExamples returns strings that re, the anchored form of expr, matches,
// the shortest choices first. It may find none: what it builds ignores \b and
// anchors within, and only what re confirms is used.
func regexpExamples(expr string, re *regexp.Regexp) []string {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	tree = tree.Simplify()
	var found []string
	for variant := range maxExamples {
		var b strings.Builder
		appendExample(&b, tree, variant)
		s := b.String()
		if s != "" && re.MatchString(s) && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return found
}

// appendExample writes a string that re matches. The variant decides where
// there is a choice; variant 0 takes the first and the least.
func appendExample(b *strings.Builder, re *syntax.Regexp, variant int) {
	if b.Len() > maxExampleLength {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(runeOf(re.Rune, variant))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(likely[variant%len(likely)])
	case syntax.OpAlternate:
		n := len(re.Sub)
		appendExample(b, re.Sub[variant%n], variant/n)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			appendExample(b, sub, variant)
		}
	case syntax.OpStar, syntax.OpQuest:
		repeatExample(b, re.Sub[0], variant%2, variant/2)
	case syntax.OpPlus:
		repeatExample(b, re.Sub[0], 1+variant%3, variant/2)
	case syntax.OpRepeat:
		repeatExample(b, re.Sub[0], re.Min, variant)
	}
}

func repeatExample(b *strings.Builder, re *syntax.Regexp, times, variant int) {
	for range times {
		appendExample(b, re, variant)
	}
}

// likely are characters that many expressions accept: those that show an
// overlap if there is one.
var likely = []rune("a1A-0b_.zZ9")

// runeOf returns a member of a class, which is a list of ranges: one of the
// likely characters when the class has them, else the start of a range.
func runeOf(class []rune, variant int) rune {
	var members []rune
	for _, r := range likely {
		for i := 0; i < len(class); i += 2 {
			if class[i] <= r && r <= class[i+1] {
				members = append(members, r)
			}
		}
	}
	for i := 0; i < len(class) && len(members) == 0; i += 2 {
		members = append(members, class[i])
	}
	if len(members) == 0 {
		return likely[0] // an empty class: nothing matches, so the string is not used
	}
	return members[variant%len(members)]
}
