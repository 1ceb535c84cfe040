package log_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"testing"

	"github.com/weirhq/weir/log"
)

// A foreign is a program in another language. It reads lines from its standard
// input and writes what it has decoded, as JSON.
type foreign struct {
	name    string
	command []string
}

// readers are parsers in other languages, with the result that Go has for a
// line.
var readers = []struct {
	format  log.Format
	decode  func(*testing.T, string) any
	foreign []foreign
}{
	{log.FormatJSON, decoded, []foreign{
		{"python", []string{"python3", "-c", `
import json, sys
for line in sys.stdin:
    print(json.dumps(json.loads(line)))`}},
		{"node", []string{"node", "-e", `
const lines = require("fs").readFileSync(0, "utf8").split("\n");
lines.pop();
process.stdout.write(lines.map((line) => JSON.stringify(JSON.parse(line)) + "\n").join(""));`}},
		{"jq", []string{"jq", "-c", "."}},
	}},
	{log.FormatLTSV, labelsOf, []foreign{
		{"python", []string{"python3", "-c", `
import json, sys
sys.stdin.reconfigure(encoding="utf-8", errors="strict")
for line in sys.stdin:
    for more in line[:-1].splitlines():
        print(json.dumps([pair.split(":", 1)[0] for pair in more.split("\t")]))`}},
		{"node", []string{"node", "-e", `
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => console.log(JSON.stringify(line.split("\t").map((pair) => pair.split(":", 1)[0]))));`}},
		{"jq", []string{"jq", "-R", "-c", `split("\t") | map(split(":")[0])`}},
	}},
}

// TestOthersReadTheSame compares parsers in other languages on random lines.
// The lines are split into parts, because Go's results have to be kept in
// memory. WEIR_SOAK is for more parts.
func TestOthersReadTheSame(t *testing.T) {
	parts, each := 1, sized(2000, 20_000)
	if os.Getenv("WEIR_SOAK") != "" {
		parts = 5
	}
	for _, r := range readers {
		for part := range parts {
			t.Run(fmt.Sprintf("%v %d", r.format, part), func(t *testing.T) {
				var input bytes.Buffer
				want := make([]any, each)
				for i := range want {
					line := (&choices{chance(uint64(part*each+i), 10+i%90)}).model().
						log(t, log.Options{Format: r.format})
					input.WriteString(line)
					want[i] = r.decode(t, line)
				}
				for _, f := range r.foreign {
					t.Run(f.name, func(t *testing.T) {
						t.Parallel()
						f.compare(t, input.Bytes(), want)
					})
				}
			})
		}
	}
}

// compare checks that the program decodes each line as wanted.
func (f foreign) compare(t *testing.T, input []byte, want []any) {
	if _, err := exec.LookPath(f.command[0]); err != nil {
		t.Skipf("needs %s, which CI installs: %v", f.command[0], err)
	}
	cmd := exec.CommandContext(t.Context(), f.command[0], f.command[1:]...)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d", len(lines), len(want))
	}
	for i, line := range lines {
		if got := decoded(t, string(line)); !reflect.DeepEqual(got, want[i]) {
			t.Fatalf("line %d: got %v\nwant %v", i, got, want[i])
		}
	}
}

func decoded(t *testing.T, line string) (v any) {
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	return v
}

func labelsOf(t *testing.T, line string) any {
	labels := []any{}
	for _, p := range pairsOf(t, line) {
		labels = append(labels, p.label)
	}
	return labels
}
