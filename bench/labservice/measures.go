package labservice

import (
	"encoding/json"
	"fmt"
	"os"
)

// A Measure is a figure of a run in the format of weir lab.
type Measure struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"` // "us", or "" for a count
	Value  float64 `json:"value"`
	Better string  `json:"better,omitempty"` // "" means lower
}

// MeasuresFile is the environment variable with the name of the file for measures.
const MeasuresFile = "WEIR_LAB_MEASURES"

// Leave writes the measures to the file named by MeasuresFile. Without that variable it does nothing.
func Leave(measures []Measure) error {
	file := os.Getenv(MeasuresFile)
	if file == "" {
		return nil
	}
	text, err := json.Marshal(measures)
	if err != nil {
		return fmt.Errorf("measures for %s: %w", file, err)
	}
	return os.WriteFile(file, text, 0o644)
}
