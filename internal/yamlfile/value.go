package yamlfile

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/nearest"
)

// The functions below each read one kind of value. They look at the value alone
// and open nothing.

// Text returns the text of a value that is meant as one. YAML reads a bare
// true or 1.0 as something else, and whoever writes it may mean that.
func Text(s Scalar) (string, *Refusal) {
	switch {
	case s.Type != "string":
		return "", Refuse("put quotes around it", "%s is a %s, not a text", s.Text, s.Type)
	case strings.TrimSpace(s.Text) == "":
		return "", Refuse("give it a value, or leave it out", "the value is empty")
	case Printable(s.Text) != s.Text:
		return "", Refuse("remove it", "%s holds a control character", Quote(s.Text))
	}
	return s.Text, nil
}

// Word returns a parser of one of the words.
func Word(words []string) func(Scalar) (string, *Refusal) {
	return func(s Scalar) (string, *Refusal) {
		if slices.Contains(words, s.Text) {
			return s.Text, nil
		}
		return "", Refuse(RightWord(s.Text, words), "%s is not known here", Quote(s.Text))
	}
}

// RightWord is a hint for a word that is none of those: which of them was meant,
// or which there are.
func RightWord(word string, words []string) string {
	if near := nearest.Word(word, words); near != "" {
		return DidYouMean(near)
	}
	return "it is one of " + strings.Join(words, ", ")
}

// Switch reads true or false.
func Switch(s Scalar) (bool, *Refusal) {
	switch s.Text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, Refuse("it is true or false", "%s is not known here", Quote(s.Text))
}

// Count reads a number of things, none included.
func Count(s Scalar) (int, *Refusal) {
	n, err := strconv.Atoi(s.Text)
	if err != nil || n < 0 {
		return 0, Refuse("write a whole number, as in 7", "%s is not a count", Quote(s.Text))
	}
	return n, nil
}

// Duration reads a duration that may be zero.
func Duration(s Scalar) (time.Duration, *Refusal) {
	d, err := time.ParseDuration(s.Text)
	switch {
	case err != nil && IsNumber(s.Text):
		return 0, Refuse("add a unit, as in "+s.Text+"s", "%s is a number without a unit", Quote(s.Text))
	case err != nil:
		return 0, Refuse("write a number and a unit, as in 300ms, 10s or 2m", "%s is not a duration", Quote(s.Text))
	case d < 0:
		return 0, Refuse("remove the minus", "%s is a duration below zero", Quote(s.Text))
	}
	return d, nil
}

// The units of Size.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// Size reads a number of bytes.
func Size(s Scalar) (int64, *Refusal) {
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
		if len(s.Text) > 3 { // who writes so many digits counts bytes
			unit = "B"
		}
		return 0, Refuse("add a unit, as in "+s.Text+unit, "%s is a number without a unit", Quote(s.Text))
	}
	return 0, Refuse(example, "%s is not a number of bytes", Quote(s.Text))
}

// ShowSize writes what Size reads, in the largest unit without a fraction.
func ShowSize(bytes int64) string {
	for _, unit := range sizeUnits {
		if bytes%unit.bytes == 0 && bytes != 0 {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return "0B"
}

// Speed reads bytes per second.
func Speed(s Scalar) (int64, *Refusal) {
	text, ok := strings.CutSuffix(s.Text, "/s")
	if !ok {
		return 0, Refuse("write bytes and /s, as in 500B/s or 20KiB/s", "%s is not a speed", Quote(s.Text))
	}
	s.Text = text
	return Size(s)
}

// IsNumber tells whether s is one, whole or not.
func IsNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}
