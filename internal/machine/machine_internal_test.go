package machine

import "testing"

func TestProcessorNameIsFound(t *testing.T) {
	for _, c := range []struct{ info, want string }{
		{"processor\t: 0\nmodel name\t: A Processor @ 2.5GHz\nmodel name\t: another\n", "A Processor @ 2.5GHz"},
		{"processor\t: 0\nBogoMIPS\t: 50.00\n", ""},
		{"", ""},
	} {
		if got := processorName([]byte(c.info)); got != c.want {
			t.Errorf("processorName(%q) = %q, want %q", c.info, got, c.want)
		}
	}
	if d := Describe(); d.CPUs < 1 || d.System == "" || d.Go == "" {
		t.Errorf("this machine is %+v", d)
	}
}
