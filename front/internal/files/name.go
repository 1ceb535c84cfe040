package files

import "strings"

// A Name is the path of a file below a [Folder].
type Name struct {
	Path   string // without slashes at its ends; "" is the folder itself
	Folder bool   // the request is for a folder: its path is empty or ends in a slash
}

// maxSegment is the longest name of a file that the usual file systems allow, in bytes.
const maxSegment = 255

// wellKnown is the only folder with a dot that is served (RFC 8615).
const wellKnown = ".well-known"

// ParseName reads an unescaped path without the slash at its start. If no file may have that
// name, it returns why. These names are refused:
//
//   - segments that begin with a dot, which are hidden files, "." and "..". A path may begin
//     with .well-known;
//   - empty segments, because the same file would have many paths;
//   - backslashes and control bytes, which are separators or ends of names in some systems;
//   - segments that end in a dot or a blank, which some systems remove;
//   - segments that are longer than 255 bytes.
func ParseName(path string) (n Name, refused string) {
	if path == "" {
		return Name{Folder: true}, ""
	}
	n.Path, n.Folder = strings.CutSuffix(path, "/")
	for i, rest, more := 0, n.Path, true; more; i++ {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if i == 0 && segment == wellKnown {
			continue
		}
		if refused = refuseSegment(segment); refused != "" {
			return Name{}, refused
		}
	}
	return n, ""
}

func refuseSegment(segment string) string {
	switch {
	case segment == "":
		return "the path has an empty segment"
	case segment[0] == '.':
		return "the name begins with a dot"
	case len(segment) > maxSegment:
		return "the name is too long"
	case segment[len(segment)-1] == '.' || segment[len(segment)-1] == ' ':
		return "the name ends in a dot or a blank"
	}
	for i := range len(segment) {
		if c := segment[i]; c < ' ' || c == 0x7f || c == '\\' {
			return "the name has a backslash or a control byte"
		}
	}
	return ""
}

// below returns the path of a file in the folder n.
func (n Name) below(file string) string {
	if n.Path == "" {
		return file
	}
	return n.Path + "/" + file
}
