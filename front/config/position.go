package config

import "fmt"

// A Position is the place of a route or a redirect in a file.
type Position struct {
	File string `json:"file"`
	Line int    `json:"line"` // 1-based
}

// String returns FILE:LINE.
func (p Position) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }
