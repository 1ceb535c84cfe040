package loadexport

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/load"
)

// A label is a name and a value of a series.
type label struct{ name, value string }

// reserved are the names of labels that a tag cannot have.
var reserved = []string{"job", "instance", "le", "quantile", "outcome", "status", "kind", "direction", "from", "step",
	"method", "path"}

// runLabels returns the labels of the tags, sorted by name.
func runLabels(tags map[string]string) (labels []label, err error) {
	for name, value := range tags {
		switch {
		case !isName(name):
			return nil, fmt.Errorf("the tag %q is not a name of letters, digits and _", name)
		case slices.Contains(reserved, name) || strings.HasPrefix(name, "__"):
			return nil, fmt.Errorf("the tag %s is a label of the measurements; choose another name", name)
		case value == "":
			return nil, fmt.Errorf("the tag %s has no value", name)
		}
		labels = append(labels, label{name, value})
	}
	slices.SortFunc(labels, byName)
	return labels, nil
}

func byName(a, b label) int { return strings.Compare(a.name, b.name) }

// isName reports whether a text is the name of a label in Prometheus.
func isName(text string) bool {
	for i, r := range text {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || '9' < r) {
			return false
		}
	}
	return text != ""
}

// ofRun returns the labels of all series of a run: the tags, and the time of its start unless a tag replaces it.
func ofRun(tags []label, r *load.Result) []label {
	if slices.ContainsFunc(tags, func(l label) bool { return l.name == "run" }) {
		return tags
	}
	all := append(slices.Clone(tags), label{"run", r.Started.UTC().Format(time.RFC3339)})
	slices.SortFunc(all, byName)
	return all
}

// job is the name of this program for the servers.
const job = "weir-load"

// instance identifies this process: the host and the process id.
func instance() string {
	host, _ := os.Hostname() // the id alone is enough on one machine
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}
