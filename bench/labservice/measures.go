package labservice

import (
	"encoding/json"
	"fmt"
	"os"
)

// A Measure is a number about a run, as weir lab reads it.
type Measure struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"` // "us", or "" for a count
	Value  float64 `json:"value"`
	Better string  `json:"better,omitempty"` // "" is lower
}

// MeasuresFile is the environment's name of the file that measures are left in.
const MeasuresFile = "WEIR_LAB_MEASURES"

// Leave writes the measures to the file that the environment names, and does nothing when it names none.
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
