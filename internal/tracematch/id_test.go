package tracematch

import "testing"

func TestTraceIDsOfOneRequestMatch(t *testing.T) {
	const id, w3c = "kQmzRzXbabcdefgh", "6b516d7a527a586261626364656667 68"
	made := "6b516d7a527a58626162636465666768" // the bytes of id in hexadecimal
	for _, c := range []struct {
		wanted, traceID string
		has, is         bool
	}{
		{id, id, true, true},
		{id, made, true, true},
		{made, id, true, true},
		{"00-" + made + "-00f067aa0ba902b7-01", id, true, true},
		{id[:8], id, true, false},
		{id[:8], made, true, false},
		{made[:8], id, true, false},
		{id[:7], id, false, false}, // too short to be a beginning
		{id, "another", false, false},
		{id, "", false, false},
	} {
		wanted, ok := Parse(c.wanted)
		if !ok {
			t.Fatalf("%q is no trace id", c.wanted)
		}
		if has, is := wanted.Has(c.traceID), wanted.Is(c.traceID); has != c.has || is != c.is {
			t.Errorf("%q and %q: Has is %v, Is is %v; want %v, %v", c.wanted, c.traceID, has, is, c.has, c.is)
		}
	}
	if !Same(id, made) || Same(id, "another") {
		t.Error("Same is wrong")
	}
	for _, text := range []string{"", w3c, "a\nb", `a"b`} {
		if _, ok := Parse(text); ok {
			t.Errorf("%q is a trace id", text)
		}
	}
}
