package halves_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/lab/internal/halves"
)

// TestProgramRunsOnItsHalf asks the kernel for the processors of programs.
func TestProgramRunsOnItsHalf(t *testing.T) {
	both, err := halves.Divide()
	if err != nil {
		t.Skip("it needs a machine with two cores: ", err)
	}
	for _, h := range both {
		cmd := exec.Command("grep", "Cpus_allowed_list", "/proc/self/status")
		var out strings.Builder
		cmd.Stdout = &out
		if err := h.Start(cmd); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(strings.TrimSpace(out.String()), "\t"); len(h) == 1 && got != h.String() || got == "" {
			t.Errorf("it may use the processors %q, want %q", got, h)
		}
	}
	if again, err := halves.Divide(); err != nil || !slices.Equal(again[1], both[1]) {
		t.Errorf("then this process has the halves %v, error %v, want %v", again, err, both)
	}
}

func TestImpossibleHalfIsAnError(t *testing.T) {
	if err := (halves.Half{1000}).Start(exec.Command("true")); err == nil || !strings.Contains(err.Error(), "1000") {
		t.Errorf("error %v, want one that names the processor", err)
	}
}
