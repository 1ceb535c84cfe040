package natssink_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirhq/weir/log/natssink"
)

func ExampleSeen() {
	var seen natssink.Seen
	fmt.Printf("%q\n", seen.New("6f1c-0-2", []byte("a\nb\n")))
	fmt.Printf("%q\n", seen.New("6f1c-0-2", []byte("a\nb\n"))) // again
	fmt.Printf("%q\n", seen.New("6f1c-1-2", []byte("b\nc\n"))) // again, in another message
	// Output:
	// "a\nb\n"
	// ""
	// "c\n"
}

// Messages of several sources are repeated, also with other boundaries. Each line is new once.
func TestSeenKeepsEachLineOnce(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var seen natssink.Seen
	sources := []string{"a", "b-1", ""}
	sent := make([]int, len(sources))
	var got, want []string
	for range 10_000 {
		s := random.IntN(len(sources))
		first, lines := sent[s], 1+random.IntN(5)
		if random.IntN(3) == 0 && sources[s] != "" {
			first = random.IntN(first + 1)
		}
		var text strings.Builder
		for n := first; n < first+lines; n++ {
			line := fmt.Sprintf("%s %d\n", sources[s], n)
			text.WriteString(line)
			if n >= sent[s] {
				want = append(want, line)
			}
		}
		sent[s] = max(sent[s], first+lines)
		id := fmt.Sprintf("%s-%d-%d", sources[s], first, lines)
		got = append(got, strings.SplitAfter(string(seen.New(id, []byte(text.String()))), "\n")...)
	}
	if strings.Join(got, "") != strings.Join(want, "") {
		t.Error("the new lines are not those that came first")
	}
}

// All lines of a message with another id are new.
func TestLinesWithOtherIDsAreNew(t *testing.T) {
	t.Parallel()
	var seen natssink.Seen
	for _, id := range []string{"", "-", "x", "x-1", "x-1-", "x-1-y", "-0-1", "x-0-99999999999"} {
		for range 2 {
			if got := seen.New(id, []byte("a\n")); string(got) != "a\n" {
				t.Errorf("id %q: got %q, want the line", id, got)
			}
		}
	}
}

// The number of lines in an id is not trusted.
func TestCountInIDIsNotTrusted(t *testing.T) {
	t.Parallel()
	var seen natssink.Seen
	for i, want := range []string{"a\n", "", "b\n"} {
		id := []string{"x-0-4000000000", "x-0-4000000000", "x-1-0"}[i]
		if got := seen.New(id, []byte([]string{"a\n", "a\n", "b\n"}[i])); string(got) != want {
			t.Errorf("message %d: got %q, want %q", i, got, want)
		}
	}
}
