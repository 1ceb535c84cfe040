package process

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

const aStat = "10674 (cat) R 10672 10671 25937 0 -1 4194304 100 0 0 0 7 8 9 10 20 0 3 0 2270164 3133440 380 " +
	"18446744073709551615"

func TestParseStatReadsEachField(t *testing.T) {
	got, name, ok := parseStat([]byte(aStat))
	want := Stat{
		PID: 10674, State: 'R', Parent: 10672, Group: 10671, Session: 25937,
		Threads: 3, Started: 2270164, RSS: 380 * int64(os.Getpagesize()),
		User: 70 * time.Millisecond, System: 80 * time.Millisecond,
		ChildrenUser: 90 * time.Millisecond, ChildrenSystem: 100 * time.Millisecond,
	}
	if got != want || string(name) != "cat" || !ok {
		t.Errorf("parseStat = %+v, %q, %v; want %+v", got, name, ok, want)
	}
	end := strings.Index(aStat, " 184467")
	for i := range end {
		if got, _, ok := parseStat([]byte(aStat[:i])); ok && got.RSS == want.RSS {
			t.Errorf("parseStat(%q) = %+v", aStat[:i], got)
		}
	}
	for _, broken := range []string{"", "12", "x" + aStat, strings.Replace(aStat, " 7 ", " x ", 1),
		strings.Replace(aStat, "(", "", 1)} {
		if got, _, ok := parseStat([]byte(broken)); ok {
			t.Errorf("parseStat(%q) = %+v", broken, got)
		}
	}
}

func TestReadStatReadsThisProcess(t *testing.T) {
	got, err := ReadStat(os.Getpid())
	if err != nil || got.PID != os.Getpid() || got.Parent != os.Getppid() || got.Name == "" || got.Ended() {
		t.Errorf("ReadStat = %+v, %v", got, err)
	}
	if got, err := ReadStat(1 << 30); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("ReadStat of no process = %+v, %v; want ErrProcessDone", got, err)
	}
}

// FuzzParseStat compares parseStat with a parser that splits the text.
func FuzzParseStat(f *testing.F) {
	f.Add([]byte(aStat))
	f.Add([]byte("1 (a) b) Z 1 " + strings.Repeat("-2 ", 30)))
	f.Fuzz(func(t *testing.T, text []byte) {
		before, after, _ := cutLast(string(text), ") ")
		number, wantName, open := strings.Cut(before, " (")
		pid, err := strconv.ParseUint(number, 10, 31)
		words := strings.Split(after, " ")
		var numbers []int64
		for _, word := range words[min(1, len(words)):] {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil || word[0] == '+' {
				break
			}
			numbers = append(numbers, n)
		}
		got, name, ok := parseStat(text)
		if err != nil || !open || len(words[0]) != 1 || len(numbers) < 21 || strings.Contains(after, ")") {
			return // only checked for a panic
		}
		if !ok || got.PID != int(pid) || string(name) != wantName || got.State != words[0][0] ||
			got.Parent != int(numbers[0]) || got.Group != int(numbers[1]) || got.Session != int(numbers[2]) ||
			got.Threads != int(numbers[16]) || got.Started != numbers[18] {
			t.Errorf("parseStat(%q) = %+v, %q, %v; the numbers are %v", text, got, name, ok, numbers)
		}
	})
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// TestListedCountsFiles counts files as it is necessary before Linux 6.2.
func TestListedCountsFiles(t *testing.T) {
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

func TestStatusNumberFindsItsLine(t *testing.T) {
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
