package load

import "io"

// A Target is a request to be sent, once in each turn of a Plan's Targets.
//
// URL, the values of Header and Body may hold templates, made anew for each
// request: {{seq}}, {{uuid}}, {{rand 1 100}}, {{line "users.txt"}}.
type Target struct {
	Method string // "" is GET, or POST with a body
	URL    string // absolute, http or https
	Header []Header
	Body   Body
}

// A Header is a line of a request's head. Host is one of them. Names are sent as
// they are written.
type Header struct{ Name, Value string }

// A Body is what a request carries: Text, or the first Size bytes of File when
// that is not nil. The zero Body is none.
type Body struct {
	Text string

	// File is read anew for each request, from offset 0, by several goroutines
	// at once. It has no templates. It is not closed.
	File io.ReaderAt
	Size int64
}
