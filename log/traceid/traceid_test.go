package traceid_test

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/log/traceid"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

var (
	parentOracle = regexp.MustCompile(`\A([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}\z`)
	plainOracle  = regexp.MustCompile(`\A[!#-&(-+\--\[\]-~]{1,128}\z`)
	newOracle    = regexp.MustCompile(`\A[a-zA-Z]{16}\z`)
)

func FuzzOfParent(f *testing.F) {
	for _, seed := range []string{
		parent, "ff" + parent[2:], "01" + parent[2:], strings.ToUpper(parent), parent + "-x", parent[:54], "",
		strings.Replace(parent, "4bf92f3577b34da6a3ce929d0e0e4736", strings.Repeat("0", 32), 1),
		strings.Replace(parent, "00f067aa0ba902b7", strings.Repeat("0", 16), 1),
	} {
		f.Add(seed)
	}
	for i := range parent { // every byte must be valid
		f.Add(parent[:i] + "_" + parent[i+1:])
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := ""
		if m := parentOracle.FindStringSubmatch(s); m != nil && m[1] != "ff" && strings.Trim(m[2], "0") != "" &&
			strings.Trim(m[3], "0") != "" {
			want = m[2]
		}
		if got := traceid.OfParent(s); got != want {
			t.Errorf("OfParent(%q) = %q, want %q", s, got, want)
		}
	})
}

func TestOfTakesIDFromParentOrRequest(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	made := func(requestID string) string {
		return "00-" + string(traceid.AppendW3C(nil, requestID)) + "-00f067aa0ba902b7-01"
	}
	for _, c := range []struct{ parent, requestID, want string }{
		{parent, "", id},
		{parent, "other", id},
		{parent, "not plain", id},
		{"invalid", "plain", "plain"},
		{"invalid", "not plain", ""},
		{"", "", ""},
		{made("abcdefghijklmnop"), "abcdefghijklmnop", "abcdefghijklmnop"},
		{made("c9bf9e57-1685-4c89-bafb-ff5af830be8a"), "c9bf9e57-1685-4c89-bafb-ff5af830be8a",
			"c9bf9e57-1685-4c89-bafb-ff5af830be8a"},
		{made("abcdefghijklmnop"), "abcdefghijklmnoq", "6162636465666768696a6b6c6d6e6f70"},
	} {
		if got := traceid.Of(c.parent, c.requestID); got != c.want {
			t.Errorf("Of(%q, %q) = %q, want %q", c.parent, c.requestID, got, c.want)
		}
	}
}

func FuzzAppendW3C(f *testing.F) {
	for _, seed := range []string{"", "a", "abcdefghijklmnop", "4bf92f3577b34da6a3ce929d0e0e4736",
		"c9bf9e57-1685-4c89-bafb-ff5af830be8a", strings.Repeat("\xff", 128)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		h := fnv.New128a()
		h.Write([]byte(id))
		want := hex.EncodeToString(h.Sum(nil))
		switch {
		case traceid.IsW3C(id):
			want = id
		case len(id) == 16:
			want = hex.EncodeToString([]byte(id))
		}
		if got := string(traceid.AppendW3C(nil, id)); got != want {
			t.Errorf("AppendW3C(%q) = %s, want %s", id, got, want)
		}
	})
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"", "c9bf9e57-1685-4c89-bafb-ff5af830be8a", "é", strings.Repeat("a", 128),
		strings.Repeat("a", 129)} {
		f.Add(seed)
	}
	for c := range 256 {
		f.Add(string([]byte{'a', byte(c)}))
	}
	f.Fuzz(func(t *testing.T, id string) {
		if got, want := traceid.Plain(id), plainOracle.MatchString(id); got != want {
			t.Errorf("Plain(%q) = %v, want %v", id, got, want)
		}
	})
}

func TestIsW3CAcceptsOnlyTraceIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"4bf92f3577b34da6a3ce929d0e0e4736":  true,
		strings.Repeat("0", 31) + "1":       true,
		strings.Repeat("0", 32):             false,
		"4BF92F3577B34DA6A3CE929D0E0E4736":  false,
		"4bf92f3577b34da6a3ce929d0e0e473":   false,
		"4bf92f3577b34da6a3ce929d0e0e47360": false,
		"":                                  false,
	} {
		if got := traceid.IsW3C(id); got != want {
			t.Errorf("IsW3C(%q) = %v, want %v", id, got, want)
		}
	}
}

func TestNewIDsAreUnique(t *testing.T) {
	known := map[string]bool{}
	for range 10_000 {
		id := string(traceid.AppendNew(nil))
		if !newOracle.MatchString(id) || !traceid.Plain(id) || known[id] {
			t.Fatalf("%q, known before: %v", id, known[id])
		}
		known[id] = true
	}
	if got := string(traceid.AppendNew([]byte("id="))); !strings.HasPrefix(got, "id=") || len(got) != 3+traceid.Length {
		t.Errorf("appended to id=: %q", got)
	}
}

// TestFractionIsTheSameInAllForms checks that a front door and a service choose the same requests, and that of ids with an
// unequal distribution as many are chosen as of others.
func TestFractionIsTheSameInAllForms(t *testing.T) {
	for name, id := range map[string]func(n int) string{
		"letters":  func(int) string { return string(traceid.AppendNew(nil)) },
		"numbered": func(n int) string { return fmt.Sprintf("%032x", n+1) },
		"others":   func(n int) string { return fmt.Sprint("request-", n) },
	} {
		chosen := 0
		const ids, share = 20_000, 0.25
		for n := range ids {
			one := id(n)
			fraction := traceid.Fraction(one)
			if other := traceid.Fraction(string(traceid.AppendW3C(nil, one))); other != fraction || fraction < 0 || fraction >= 1 {
				t.Fatalf("%s has the fraction %v, its trace-id %v", one, fraction, other)
			}
			if fraction < share {
				chosen++
			}
		}
		if got := float64(chosen) / ids; got < share-0.02 || got > share+0.02 {
			t.Errorf("%s: a share of %v was chosen, want %v", name, got, share)
		}
	}
}

func TestSampledIsTheLastBitOfTheFlags(t *testing.T) {
	for flags, want := range map[string]bool{"00": false, "01": true, "02": false, "03": true, "ff": true, "f0": false} {
		if got := traceid.IsSampled(parent[:53] + flags); got != want {
			t.Errorf("flags %s: %v", flags, got)
		}
	}
}

// node/test/keep.test.js has the same values.
func TestFractionIsTheSameInNode(t *testing.T) {
	for id, want := range map[string]float64{
		"4bf92f3577b34da6a3ce929d0e0e4736":     0.6072442409082988,
		"abcdefghijklmnop":                     0.7852257441921935,
		"c9bf9e57-1685-4c89-bafb-ff5af830be8a": 0.13562976206494348,
	} {
		if got := traceid.Fraction(id); got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}
