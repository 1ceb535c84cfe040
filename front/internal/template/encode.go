package template

// A byteSet is a set of bytes that are percent-encoded.
type byteSet [256]bool

// setOf returns the set of controls, blanks, non-ASCII bytes and others.
func setOf(others string) (s byteSet) {
	for c := range s {
		s[c] = c <= ' ' || c >= 0x7f
	}
	for i := range len(others) {
		s[others[i]] = true
	}
	return s
}

// notInURL are the printable characters that a URL cannot contain.
const notInURL = "\"<>\\^`{|}"

// The bytes that are encoded in a value, by its place. Text of a URL keeps its "%".
var (
	none         byteSet
	inHeader     = setOf("")
	inURL        = setOf(notInURL)                 // text of a path in a path, or of a query in a query
	inSegment    = setOf(notInURL + "%/?#")        // other text in a path
	inQuery      = setOf(notInURL + "&+=;#")       // text of a path in a query
	inQueryValue = setOf(notInURL + "&+=;#" + "%") // other text in a query
)

// AppendURL appends a part of a URL and encodes the bytes that a URL cannot contain. It keeps
// "%", because s is already escaped.
func AppendURL(dst []byte, s string) []byte { return appendEncoded(dst, s, &inURL) }

// appendEncoded appends s with the bytes of a set percent-encoded.
func appendEncoded(dst []byte, s string, set *byteSet) []byte {
	const upper = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; set[c] {
			dst = append(dst, '%', upper[c>>4], upper[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
