package dashboard

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/weirhq/weir/front/internal/recent"
	"github.com/weirhq/weir/internal/tracematch"
)

// failures returns the handler that responds with the last failed requests.
func failures(from *recent.Failures) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { send(w, from.List()) }
}

// send responds with JSON that is not cached.
func send(w http.ResponseWriter, page any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(page)
}

// requestPage has the events of one request.
type requestPage struct {
	recent.Finding
	File    string `json:"file"`    // "" if none can be searched
	Why     string `json:"why"`     // none can be searched
	Command string `json:"command"` // that searches in a terminal
}

// eventsOf returns the handler that responds with the events of the request with the trace id in the parameter trace_id.
func eventsOf(from *Sources) http.HandlerFunc {
	searcher := recent.NewSearcher()
	return func(w http.ResponseWriter, r *http.Request) {
		id, ok := tracematch.Parse(r.URL.Query().Get("trace_id"))
		if !ok {
			http.Error(w, "trace_id is missing, or no trace id", http.StatusBadRequest)
			return
		}
		var page requestPage
		if page.File, page.Why = from.LogFile(); page.File == "" {
			page.Command = "weir tail --around " + word(id.String()) + " FILE"
			send(w, page)
			return
		}
		page.Command = "weir tail --around " + word(id.String()) + " " + word(page.File)
		var err error
		page.Finding, err = searcher.Search(r.Context(), page.File, id)
		switch {
		case errors.Is(err, recent.ErrBusy):
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		case err != nil:
			page.Why = err.Error()
		}
		send(w, page)
	}
}

// word returns a text as one word of a shell. A trace id may be from a client, and have any visible character but a
// quote.
func word(text string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:", c)
	}
	if strings.IndexFunc(text, func(c rune) bool { return !plain(c) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
