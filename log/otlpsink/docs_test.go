package otlpsink

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestTableInDocsIsTrue converts the examples in the table of docs/otlp.md.
func TestTableInDocsIsTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/otlp.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`([^`]+)`")
	field := regexp.MustCompile(`^([^=]+)=(.+)$`)
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "|\n"), " | ")
		if !strings.HasPrefix(line, "| `\"") || len(cells) != 2 {
			continue
		}
		rows++
		example := code.FindStringSubmatch(cells[0])[1]
		want := map[string]any{}
		for _, found := range code.FindAllStringSubmatch(cells[1], -1) {
			if f := field.FindStringSubmatch(found[1]); f != nil {
				want[f[1]] = decodeJSON(t, f[2])
			}
		}
		got := named(convert(t, "{"+example+"}")[0])
		if _, timed := want["time_unix_nano"]; !timed {
			delete(got, "observed_time_unix_nano")
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %v\nwant %v", example, got, want)
		}
	}
	if rows < 40 {
		t.Errorf("the table has %d rows", rows)
	}
}

// named returns the fields of a record that are set, by the names of OTLP, together with its
// attributes.
func named(r converted) map[string]any {
	fields := r.attributes
	for name, value := range map[string]any{"time_unix_nano": int64(r.time), "observed_time_unix_nano": int64(r.observed),
		"severity_number": int64(r.number), "severity_text": r.text, "body": r.body, "event_name": r.eventName,
		"trace_id": r.trace, "span_id": r.span, attrServiceName: r.service} {
		if value != nil && !reflect.ValueOf(value).IsZero() {
			fields[name] = value
		}
	}
	return fields
}

// decodeJSON returns a value in the types of decode.
func decodeJSON(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return plain(v, 1)
}
