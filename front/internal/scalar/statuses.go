package scalar

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirhq/weir/front/statuses"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Statuses returns a parser of 404, 500-599 or 5xx, from a least status to 599. kind is the kind of status for the message
// of a mistake.
func Statuses(least int, kind string) func(yamlfile.Scalar) (statuses.Range, *yamlfile.Refusal) {
	pattern := fmt.Sprintf("[%d-5]([0-9]{2}(-[%[1]d-5][0-9]{2})?|[xX]{2})", least/100)
	return func(s yamlfile.Scalar) (statuses.Range, *yamlfile.Refusal) {
		s.Describe(yamlfile.Form{Name: "statuses", Examples: "404, 500-599, 5xx", Pattern: pattern})
		text := strings.ToLower(s.Text)
		first, last, found := strings.Cut(text, "-")
		switch class, isClass := strings.CutSuffix(text, "xx"); {
		case isClass:
			first, last = class+"00", class+"99"
		case !found:
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA == nil && errB == nil && len(first) == 3 && len(last) == 3 && a >= least && b <= 599 && a <= b {
			return statuses.Range{First: a, Last: b}, nil
		}
		hint := fmt.Sprintf("write one from %d to 599, a range as in %[1]d-599, or a class as in 5xx", least)
		if parts := strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }); len(parts) > 1 {
			hint = "write a list, as in [" + strings.Join(parts, ", ") + "]"
		}
		return statuses.Range{}, yamlfile.Refuse(hint, "%s is not %s", yamlfile.Quote(s.Text), kind)
	}
}
