package nearest

import "testing"

func TestGuessFindsASimilarWord(t *testing.T) {
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
		if got := Guess(w, words); got != want {
			t.Errorf("%q: got %q want %q", w, got, want)
		}
	}
}
