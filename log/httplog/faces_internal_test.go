package httplog

import (
	"net/http/httptest"
	"testing"
)

// TestFaces holds each entry of the table to its index.
func TestFaces(t *testing.T) {
	for want, face := range faces {
		w := &writer{inner: httptest.NewRecorder()}
		got := face(w)
		if can := abilitiesOf(got); can != ability(want) {
			t.Errorf("entry %05b has abilities %05b", want, can)
		}
		got.WriteHeader(204)
		if w.status != 204 {
			t.Errorf("entry %05b does not write to its writer", want)
		}
	}
}
