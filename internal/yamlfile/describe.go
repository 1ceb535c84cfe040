package yamlfile

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Describe returns the description of a key. The mappings around the key have been read to a value, before.
func (r *Reader[T]) Describe(k Key[T], to T) *Description {
	d := r.ask(k, to)
	if k.Zero != nil {
		d.unset = k.Zero
	}
	if k.Required != "" {
		return d
	}
	d.Default = d.show(d.unset)
	if d.Default == "" && d.Single && k.Off != nil {
		before := d.unset
		k.Off(to)
		if off := r.ask(k, to); reflect.DeepEqual(off.unset, before) {
			d.Default = "off"
		}
	}
	return d
}

// ask has a key read values of all kinds, which note how they are read.
func (r *Reader[T]) ask(k Key[T], to T) *Description {
	d := new(Description)
	names := []string{last(k.Path)}
	if names[0] == "*" {
		names = []string{"name", "404"} // one of them is a name that the key accepts
	}
	for _, name := range names {
		p := Place[T]{Path: k.Path, Key: Scalar{Text: name}, To: to}
		for _, kind := range []Kind{Single, List, Mapping} {
			n := &Node{Kind: kind, about: d, reduced: true}
			if kind == List {
				n.Items = []*Node{{Kind: Single, about: d}}
			}
			clear(r.Positions) // or a name would be given twice
			k.Read(r, p, n)
		}
	}
	return d
}

// Accepts reports whether the key accepts a text as a single value, or in a list. kind is the YAML type; see [Node].
func (d *Description) Accepts(text, kind string) bool {
	if d.parse == nil {
		return false
	}
	_, ok := d.parse(text, kind)
	return ok
}

// show returns the text that a value is read from, or "".
func (d *Description) show(v any) string {
	if list := reflect.ValueOf(v); list.IsValid() && list.Kind() == reflect.Slice {
		var all []string
		for i := range list.Len() {
			all = append(all, d.show(list.Index(i).Interface()))
		}
		return strings.Join(all, ", ")
	}
	if d.parse == nil || v == nil {
		return ""
	}
	for _, text := range append(spellings(v), d.Words...) {
		if read, ok := d.parse(text, "string"); ok && text != "" && reflect.DeepEqual(read, v) {
			return text
		}
	}
	return ""
}

// spellings returns texts that could be read as a value.
func spellings(v any) (all []string) {
	switch v := v.(type) {
	case time.Duration:
		all = append(all, showDuration(v))
	case int, int64:
		n := reflect.ValueOf(v).Int()
		all = append(all, ShowSize(n), ShowSize(n)+"/s")
		for percent := 1; percent <= 100; percent++ {
			all = append(all, strconv.Itoa(percent)+"%")
		}
	}
	return append(all, fmt.Sprint(v))
}

// showDuration returns a duration in its usual form, as in 90s, 5m or 7d, for Duration to parse.
func showDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d%day == 0 && d > day:
		return strconv.Itoa(int(d/day)) + "d"
	case d%time.Minute != 0 && d%time.Second == 0 && d < 2*time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Range returns the first and the last of some values of the form that the key accepts, or "" for all of them: of
// whole numbers exactly, of sizes the power of two, and of durations a round one.
func (d *Description) Range() (first, last string) {
	values := d.samples()
	accepted := values[:0:0]
	for _, v := range values {
		if d.Accepts(v, "integer") {
			accepted = append(accepted, v)
		}
	}
	if len(values) == 0 || len(accepted) == 0 {
		return "", ""
	}
	if first = accepted[0]; first == values[0] {
		first = ""
	}
	if last = accepted[len(accepted)-1]; last == values[len(values)-1] {
		last = ""
	}
	return first, last
}

// samples returns values of the form in their order.
func (d *Description) samples() (all []string) {
	switch {
	case d.Number:
		for n := range 1002 {
			all = append(all, strconv.Itoa(n))
		}
		for _, n := range []int{65535, 65536, 1_000_000, 1_000_001} {
			all = append(all, strconv.Itoa(n))
		}
	case d.Name == "size":
		all = append(all, "0B")
		for bits := range 41 {
			all = append(all, ShowSize(1<<bits))
		}
	case d.Name == "duration":
		all = []string{"0s", "1ns", "1ms", "100ms", "1s", "1h"}
	}
	return all
}
