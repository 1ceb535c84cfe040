package scalar_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

func TestStatusesAreRangesOrClasses(t *testing.T) {
	for text, want := range map[string][2]int{
		"404": {404, 404}, "500-599": {500, 599}, "5xx": {500, 599}, "2XX": {200, 299}, "200-399": {200, 399}, "599": {599, 599},
	} {
		if got, refused := scalar.Statuses(200, "a status")(yamlfile.Scalar{Text: text}); refused != nil || got.First != want[0] || got.Last != want[1] {
			t.Errorf("%s: %v, %v, want %v", text, got, refused, want)
		}
	}
	for text, want := range map[string]string{
		"1xx": "a status; write one from 200 to 599, a range as in 200-599, or a class as in 5xx",
		"600": "write one from 200", "404-": "write one", "-404": "write one", "500-404": "write one", "6xx": "write one",
		"xx": "write one", "": "write one", "4x": "write one", "x": "write one", "0404": "write one", "404-0405": "write one", "+404": "write one", "404-6xx": "write one",
		"200,204": "write a list, as in [200, 204]", "500 502-504": "write a list, as in [500, 502-504]",
	} {
		got, refused := scalar.Statuses(200, "a status")(yamlfile.Scalar{Text: text})
		if refused == nil || !strings.Contains(refused.What+"; "+refused.Hint, want) {
			t.Errorf("%s: %v, %v, want %s", text, got, refused, want)
		}
	}
}
