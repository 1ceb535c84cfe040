package main

import (
	"encoding/json"
	"io"
)

// printJSON writes a document for a program, laid out for a person.
func printJSON[D any](w io.Writer, document D) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(document)
}
