package main

import (
	"strings"
	"testing"
)

func TestVersionsAreChecked(t *testing.T) {
	for _, version := range []string{"v0.1.0", "v1.20.3", "v1.0.0-rc.1"} {
		if err := checkVersion(version); err != nil {
			t.Error(err)
		}
	}
	for _, version := range []string{"", "0.1.0", "v1", "v1.2", "v1.02.3", "v1.2.3-", "v1.2.3-RC 1", "v1.2.3+dirty",
		"v1.2.3\n"} {
		if err := checkVersion(version); err == nil || !strings.Contains(err.Error(), "write it as v0.1.0") {
			t.Errorf("%q: %v", version, err)
		}
	}
}
