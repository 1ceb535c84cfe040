package grpcstatus_test

import (
	"testing"

	"github.com/weirhq/weir/load/internal/grpcstatus"
)

func TestStatusesHaveNamesAndNumbers(t *testing.T) {
	for text, want := range map[string]string{"OK": "0", "ok": "0", "NOT_FOUND": "5", "NotFound": "5", "5": "5", "16": "16",
		"Unauthenticated": "16", "CANCELLED": "1", "": "", "17": "", "-1": "", "FINE": ""} {
		if got, err := grpcstatus.Parse(text); got != want || (err == nil) != (want != "") {
			t.Errorf("Parse(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for number, want := range map[string]string{"0": "OK", "16": "UNAUTHENTICATED", "17": "17", "": "", "x": "x"} {
		if got := grpcstatus.Name(number); got != want {
			t.Errorf("Name(%q) = %q, want %q", number, got, want)
		}
	}
}
