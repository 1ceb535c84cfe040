package process

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

const aStat = "10674 (cat) R 10672 10672 25937 0 -1 4194304 100 0 0 0 7 8 9 10 20 0 3 0 2270164 3133440 380 18446744073709551615"

func TestParseStat(t *testing.T) {
	got, ok := parseStat([]byte(aStat))
	want := stat{
		state: 'R', parent: 10672, threads: 3, started: 2270164, rss: 380 * int64(os.Getpagesize()),
		user: 70 * time.Millisecond, system: 80 * time.Millisecond,
		childrenUser: 90 * time.Millisecond, childrenSystem: 100 * time.Millisecond,
	}
	if got != want || !ok {
		t.Errorf("parseStat = %+v, %v; want %+v", got, ok, want)
	}
	end := strings.Index(aStat, " 184467")
	for i := range end {
		if got, ok := parseStat([]byte(aStat[:i])); ok && got.rss == want.rss {
			t.Errorf("parseStat(%q) = %+v", aStat[:i], got)
		}
	}
}

// FuzzParseStat holds parseStat against a reader that splits the text.
func FuzzParseStat(f *testing.F) {
	f.Add([]byte(aStat))
	f.Add([]byte("1 (a) b) Z 1 " + strings.Repeat("-2 ", 30)))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, after, _ := cutLast(string(text), ") ")
		words := strings.Split(after, " ")
		var numbers []int64
		for _, word := range words[min(1, len(words)):] {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil || word[0] == '+' {
				break
			}
			numbers = append(numbers, n)
		}
		if len(words[0]) != 1 || len(numbers) < 21 || strings.Contains(after, ")") {
			parseStat(text) // does not panic
			return
		}
		got, ok := parseStat(text)
		if !ok || got.state != words[0][0] || got.parent != int(numbers[0]) || got.threads != int(numbers[16]) || got.started != numbers[18] {
			t.Errorf("parseStat(%q) = %+v, %v; the numbers are %v", text, got, ok, numbers)
		}
	})
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// TestListed counts files as kernels before 6.2 have it done.
func TestListed(t *testing.T) {
	p, err := Open(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 300 {
		file, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
	}
	if got, want := p.listed(), p.files(); got != want || got < 300 {
		t.Errorf("%d files are listed, want %d", got, want)
	}
}

func TestStatusNumber(t *testing.T) {
	for status, want := range map[string]int64{
		"Name:\tcat\nVmHWM:\t    1640 kB\nVmRSS:\t 1 kB\n": 1640,
		"Name:\tkthreadd\nThreads:\t1\n":                   0,
		"Name:\tVmHWM: 7\n":                                0,
	} {
		if got := statusNumber([]byte(status), "\nVmHWM:"); got != want {
			t.Errorf("VmHWM in %q is %d, want %d", status, got, want)
		}
	}
}
