package lab

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weirhq/weir/lab/results"
)

func (a *attempt) measuresFile() string { return filepath.Join(a.dir, "measures.json") }

// readMeasures reads the measures that the service has written.
func (a *attempt) readMeasures() {
	text, err := os.ReadFile(a.measuresFile())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var all []results.Measure
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		a.warn("the service's file of WEIR_LAB_MEASURES cannot be read; it must be a list of {\"name\", \"unit\", "+
			"\"value\"}: %v", err)
		return
	}
	names := map[string]bool{}
	for _, m := range all {
		m.Name = a.ownName(m.Name)
		m.Better = a.ownBetter(m)
		switch {
		case m.Name == "":
			a.warn("a measure of the service has no name and is left out")
		case names[m.Name]:
			a.warn("the service has measured %q more than once: the first value counts", m.Name)
		default:
			names[m.Name] = true
			a.run.Own = append(a.run.Own, m)
		}
	}
}

// ownName changes the name of a measure that the lab has too.
func (a *attempt) ownName(name string) string {
	for _, m := range results.Metrics() {
		if m.Name == name {
			a.warn("the service's measure %q has the name of one of the lab's: here it is \"own %[1]s\"", name)
			return "own " + name
		}
	}
	return name
}

// ownBetter returns the direction of a measure, or Neither if the service wrote
// another word.
func (a *attempt) ownBetter(m results.Measure) results.Better {
	switch m.Better {
	case results.Lower, results.Higher, results.Neither:
		return m.Better
	case "lower":
		return results.Lower
	}
	a.warn("the service's measure %q is better when it is %q, which is not one of lower, higher and neither: it is "+
		"shown, but not judged", m.Name, m.Better)
	return results.Neither
}
