package cli

import "testing"

func TestSuggest(t *testing.T) {
	words := []string{"debug", "info", "warn", "error", "status_code", "path"}
	for w, want := range map[string]string{
		"warning":    "warn",
		"err":        "error",
		"inof":       "info",
		"Statuscode": "status_code",
		"paths":      "path",
		"loud":       "",
		"":           "",
		"x":          "",
	} {
		if got := Suggest(w, words); got != want {
			t.Errorf("%q: got %q want %q", w, got, want)
		}
	}
}
