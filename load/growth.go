package load

import (
	"strconv"
	"strings"
)

// GrowPath returns the target and copies of it whose paths are longer and
// longer, up to so many segments below its own: for /api and 3 these are /api,
// /api/0, /api/0/1 and /api/0/1/2. What follows the path stays. It is a
// router's stress. A URL that is none stays as it is in each copy, and a run
// refuses it. A body is shared: a text without templates becomes a File.
func GrowPath(t Target, most int) []Target {
	if text := t.Body.Text; most > 0 && text != "" && t.Body.File == nil && !strings.Contains(text, "{{") {
		t.Body = Body{File: strings.NewReader(text), Size: int64(len(text))}
	}
	targets := []Target{t}
	end := pathEnd(t.URL)
	path, rest := strings.TrimSuffix(t.URL[:end], "/"), t.URL[end:]
	for i := range max(0, most) {
		path += "/" + strconv.Itoa(i)
		grown := t
		grown.URL = path + rest
		targets = append(targets, grown)
	}
	return targets
}

// pathEnd is where the query or the fragment of a URL begins. There may be
// either in a template of its path.
func pathEnd(url string) int {
	t, err := parseTemplate(url)
	if err != nil {
		return len(url)
	}
	for _, p := range t {
		if i := strings.IndexAny(string(p.text), "?#"); i >= 0 {
			return p.column(url, i)
		}
	}
	return len(url)
}
