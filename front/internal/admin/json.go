package admin

import (
	"encoding/json"
	"net/http"
)

// writeJSON responds with a page.
func writeJSON(w http.ResponseWriter, page any) {
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.Encode(page)
}
