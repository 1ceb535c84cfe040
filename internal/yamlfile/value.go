package yamlfile

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/nearest"
)

// The functions below each parse one kind of value. They check only the value and open
// nothing.

// Text returns a value that is text. YAML parses a bare true or 1.0 as another type,
// and the user may have intended that.
func Text(s Scalar) (string, *Refusal) { return text(s, s.Text, Quote(s.Text), "remove it") }

// Secret is Text for a secret, which the mistakes do not show.
func Secret(s Scalar) (string, *Refusal) {
	return text(s, "the value", "the value", "remove it, as the end of the line after base64 or in a file")
}

// text is Text. Its mistakes name the value as shown, or, if it is a string, as quoted. remove is the hint for a control
// character.
func text(s Scalar, shown, quoted, remove string) (string, *Refusal) {
	s.Describe(Form{Name: "text"})
	switch {
	case s.Type != "string":
		return "", Refuse("put quotes around it", "%s is a %s, not a text", shown, s.Type)
	case strings.TrimSpace(s.Text) == "":
		return "", Refuse("give it a value, or leave it out", "the value is empty")
	case Printable(s.Text) != s.Text:
		return "", Refuse(remove, "%s contains a control character", quoted)
	}
	return s.Text, nil
}

// Word returns a parser that accepts the given words.
func Word(words []string) func(Scalar) (string, *Refusal) {
	return func(s Scalar) (string, *Refusal) {
		s.Describe(Form{Words: words})
		if slices.Contains(words, s.Text) {
			return s.Text, nil
		}
		return "", Refuse(RightWord(s.Text, words), "%s is not known here", Quote(s.Text))
	}
}

// RightWord returns the hint for an unknown word: a similar word, or all of them.
func RightWord(word string, words []string) string {
	if near := nearest.Word(word, words); near != "" {
		return DidYouMean(near)
	}
	return "it is one of " + strings.Join(words, ", ")
}

// Switch parses true or false.
func Switch(s Scalar) (bool, *Refusal) {
	s.Describe(Form{Words: []string{"true", "false"}})
	switch s.Text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	hint := "it is true or false"
	switch {
	case yes(s.Text):
		hint = "write true"
	case no(s.Text):
		hint = "write false"
	}
	return false, Refuse(hint, "%s is not known here", Quote(s.Text))
}

// yes and no report whether a text is another word for true or false.
func yes(text string) bool {
	return slices.Contains([]string{"true", "on", "yes", "enabled", "1"}, strings.ToLower(text))
}

func no(text string) bool {
	return slices.Contains([]string{"false", "off", "no", "none", "never", "disabled", "0"}, strings.ToLower(text))
}

// Count parses a number of things, including 0.
func Count(s Scalar) (int, *Refusal) {
	s.Describe(Form{Name: "number", Pattern: "[0-9]+", Number: true})
	n, err := strconv.Atoi(s.Text)
	if err != nil || n < 0 {
		hint := "write a whole number, as in 7"
		if number, ok := strings.CutSuffix(s.Text, "%"); ok && IsNumber(number) {
			hint = "write " + number
		}
		return 0, Refuse(hint, "%s is not a count", Quote(s.Text))
	}
	return n, nil
}

// Duration parses a duration, including 0. A whole number of days is one too, as in 365d.
func Duration(s Scalar) (time.Duration, *Refusal) {
	s.Describe(Form{Name: "duration", Unit: "ns, us, ms, s, m, h, d", Pattern: `([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+|[0-9]+d`})
	d, err := time.ParseDuration(s.Text)
	if days, ok := strings.CutSuffix(s.Text, "d"); ok {
		var n int
		if n, err = strconv.Atoi(days); err == nil && n > maxDays {
			return 0, Refuse("write fewer days", "%s is too long", Quote(s.Text))
		}
		d = time.Duration(n) * 24 * time.Hour
	}
	switch {
	case err != nil && IsNumber(s.Text):
		return 0, Refuse("add a unit, as in "+s.Text+"s", "%s is a number without a unit", Quote(s.Text))
	case err != nil:
		return 0, Refuse("write a number and a unit, as in 300ms, 10s or 2m", "%s is not a duration", Quote(s.Text))
	case d < 0:
		return 0, Refuse("remove the minus", "%s is a negative duration", Quote(s.Text))
	}
	return d, nil
}

// maxDays is the longest duration in days, about 100 years.
const maxDays = 36500

// The units of Size.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// Size parses a number of bytes.
func Size(s Scalar) (int64, *Refusal) {
	s.Describe(Form{Name: "size", Unit: "B, KiB, MiB, GiB", Pattern: "[0-9]+(B|KiB|MiB|GiB)"})
	const example = "write a whole number and B, KiB, MiB or GiB, as in 8MiB"
	for _, unit := range sizeUnits {
		number, ok := strings.CutSuffix(s.Text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/unit.bytes {
			return 0, Refuse(example, "%s is not a number of bytes", Quote(s.Text))
		}
		return n * unit.bytes, nil
	}
	if IsNumber(s.Text) {
		unit := "MiB"
		if len(s.Text) > 3 { // so many digits are a number of bytes
			unit = "B"
		}
		return 0, Refuse("add a unit, as in "+s.Text+unit, "%s is a number without a unit", Quote(s.Text))
	}
	hint := example
	if m := foreignSize.FindStringSubmatch(s.Text); m != nil {
		hint = "write " + m[1] + strings.ToUpper(m[2]) + "iB"
	}
	return 0, Refuse(hint, "%s is not a number of bytes", Quote(s.Text))
}

// foreignSize is a size of nginx or Caddy.
var foreignSize = regexp.MustCompile(`^(\d+)([kKmMgG])[bB]?$`)

// ShowSize returns a size in the largest unit without a fraction, for Size to parse.
func ShowSize(bytes int64) string {
	for _, unit := range sizeUnits {
		if bytes%unit.bytes == 0 && bytes != 0 {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return "0B"
}

// NotZero returns a parser of values other than zero, which is written as off.
func NotZero[T comparable](parse func(Scalar) (T, *Refusal)) func(Scalar) (T, *Refusal) {
	return func(s Scalar) (v T, refused *Refusal) {
		if v, refused = parse(s); refused == nil && v == *new(T) {
			return v, Refuse("write off", "%s is not known here", Quote(s.Text))
		}
		return v, refused
	}
}

// IsNumber reports whether s is a number, with or without a fraction.
func IsNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}
