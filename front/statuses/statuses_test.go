package statuses_test

import (
	"testing"

	"github.com/weirhq/weir/front/statuses"
)

func TestSetContainsItsRanges(t *testing.T) {
	s := statuses.Set{{First: 404, Last: 404}, {First: 500, Last: 599}, {First: 200, Last: 204}}
	for status, want := range map[int]bool{199: false, 200: true, 204: true, 205: false, 404: true, 499: false, 500: true, 599: true, 0: false} {
		if s.Contains(status) != want {
			t.Errorf("%v contains %d: %v", s, status, !want)
		}
	}
	if got, want := s.String(), "404 or 5xx or 200-204"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if (statuses.Set(nil)).Contains(0) {
		t.Error("the nil Set contains 0")
	}
}
