package halves

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHalvesShareNoCore(t *testing.T) {
	for name, test := range map[string]struct {
		cores [][]int
		most  int
		want  [2]Half
	}{
		"two cores":                         {[][]int{{1}, {0}}, 1, [2]Half{{0}, {1}}},
		"three cores":                       {[][]int{{0}, {1}, {2}}, 1, [2]Half{{0}, {1}}},
		"four cores":                        {[][]int{{0}, {3}, {1}, {2}}, 2, [2]Half{{0, 2}, {1, 3}}},
		"four cores, time for two":          {[][]int{{0}, {3}, {1}, {2}}, 1, [2]Half{{0}, {1}}},
		"two cores of two threads":          {[][]int{{0, 2}, {1, 3}}, 2, [2]Half{{0, 2}, {1, 3}}},
		"threads in a row":                  {[][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, 4, [2]Half{{0, 1, 4, 5}, {2, 3, 6, 7}}},
		"a core of two threads, one of one": {[][]int{{0, 1}, {2}}, 1, [2]Half{{0, 1}, {2}}},
		"threads, time for two":             {[][]int{{0, 2}, {1, 3}}, 1, [2]Half{{0, 2}, {1, 3}}},
	} {
		got, err := divide(test.cores, test.most)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestOneCoreHasNoHalves(t *testing.T) {
	for name, test := range map[string]struct {
		cores [][]int
		most  int
	}{
		"a core":                {[][]int{{0}}, 1},
		"a core of two threads": {[][]int{{0, 1}}, 1},
		"time for one":          {[][]int{{0}, {1}}, 0},
	} {
		if got, err := divide(test.cores, test.most); err == nil {
			t.Errorf("%s: got %v, want an error", name, got)
		}
	}
}
