package target

import (
	"slices"
	"strings"
)

// Readings returns the other paths that some servers read a path as. They apply one or more
// of these rules:
//
//   - %2F is a slash;
//   - the parameters of a segment, as in "/a;v=1/b", do not belong to its name;
//   - several slashes are one.
//
// Without such a part in the path, Readings returns nil and does not allocate.
func Readings(path string) (readings []string) {
	if !hasReadings(path) {
		return nil
	}
	const slashes, parameters, all = 1, 2, 7
	for rules := 1; rules <= all; rules++ {
		reading := path
		if rules&slashes != 0 {
			reading = escapedSlashes.Replace(reading)
		}
		if rules&parameters != 0 {
			reading = cutParameters(reading)
		}
		if rules&^(slashes|parameters) != 0 {
			reading = mergeSlashes(reading)
		}
		if reading != path && !slices.Contains(readings, reading) {
			readings = append(readings, reading)
		}
	}
	return readings
}

func hasReadings(path string) bool {
	for i := range len(path) {
		switch path[i] {
		case ';':
			return true
		case '/':
			if i > 0 && path[i-1] == '/' {
				return true
			}
		case '%':
			if strings.HasPrefix(path[i:], "%2F") || strings.HasPrefix(path[i:], "%2f") {
				return true
			}
		}
	}
	return false
}

var escapedSlashes = strings.NewReplacer("%2F", "/", "%2f", "/")

// cutParameters removes the parameters of all segments.
func cutParameters(path string) string {
	b := make([]byte, 0, len(path))
	cut := false
	for i := range len(path) {
		switch path[i] {
		case '/':
			cut = false
		case ';':
			cut = true
		}
		if !cut {
			b = append(b, path[i])
		}
	}
	return string(b)
}

// mergeSlashes replaces several slashes by one.
func mergeSlashes(path string) string {
	b := make([]byte, 0, len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			b = append(b, path[i])
		}
	}
	return string(b)
}
