package load

import "io"

// A Target is a request to be sent, once in each turn of a Plan's Targets.
//
// URL, the values of Header and Body.Text may hold templates, made anew for each
// request:
//
//	{{seq}}               the request's number in the run, from 0
//	{{uuid}}              a random UUID, version 4
//	{{rand 1 100}}        a random integer, both ends included
//	{{line "users.txt"}}  a line of the file, one after the other for each target
//	{{now}}               the time, in milliseconds since 1970
//	{{"{{"}}              the text between the quotes, as it is
//
// What is random depends on the Plan's Seed and on seq alone. Each target begins
// with the first line of a file, and all its templates of one file have the same
// line; with several threads each takes its share of the lines. A line that stands
// in a URL is percent-escaped, slashes too; one with control characters cannot
// stand in a header.
//
// The path is sent as it is written, without cleaning; a fragment is not sent.
// User and password in the URL become Basic Authorization. Unless Header has
// them, Host comes from the URL, User-Agent is weir-load and Accept is */*.
// Content-Length comes from the body and cannot be given.
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
	// at once; one of a few MiB at most may be read once instead, before the
	// first request. It has no templates. It is not closed.
	File io.ReaderAt
	Size int64
}
