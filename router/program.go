package router

import "strings"

// A program is a tree compiled for lookups: a radix tree over bytes. Every run of
// literal bytes, including slashes, is one text.
//
//	/users          "users" -> /users
//	/users/{id}       "/" {} -> /users/{id}
//	/users/me           "me" -> /users/me
//	/upload/log     "upload/log" -> /upload/log        (both after a common "u")
//
// Paths are read as keys (see key.go). A program is immutable.
type program struct {
	hosts   map[string]*root // by canonical host
	anyHost *root            // nil: all patterns have a host
	direct  *root            // anyHost, if it is the only root and no literal needs a key
	names   [][]string       // names of the parameters in the path, by entry
	methods methodNames
	allows  map[methodSet]string // precomputed Allow fields

	named     bool           // a pattern has a host
	wildcards *wildcardHosts // nil: no host begins with a wildcard

	captures  int  // the most values of any pattern
	visitBits int  // number of visit bits
	memos     int  // number of memos
	special   bool // a literal contains bytes that a key escapes
}

// A root is the start of the patterns of one host.
type root struct {
	static statics // the patterns without parameters, by path
	start  *state  // the state after the first slash, with which its text begins
	next   *root   // the root to search next: the one for all hosts, after that of one host
}

// A state is a position in a program, after its text.
type state struct {
	text string // the bytes of the key from the previous state to this one
	head uint64 // its first eight bytes, the first one in the lowest bits
	mask uint64 // all ones for the bytes of head

	// The successors for literal bytes: the one for byte b is table[b-low].
	low   byte
	table []*state

	end   *ending      // the patterns that end here
	more  *branches    // nil: only literal bytes follow
	param *paramBranch // the only alternative in more, nil if there are others
}

// branches are the alternatives to literals at the start of a segment, in the order in
// which they are tried.
type branches struct {
	params  []paramBranch
	middle  *middleBranch
	rest    *restBranch
	choices int // frame.next is below choices while an alternative is left
}

// A paramBranch matches one segment, or a part of it, as a value.
type paramBranch struct {
	end                  ending // of the patterns that end after it; not a pointer, which saves a cache miss
	slash                *state // the state of the patterns that continue
	check                *check // nil: no constraint and no text around the value
	prefixLen, suffixLen int32  // number of bytes in a key around the value
	capture              int32  // index of the value
}

// A middleBranch matches one or more segments as a value.
type middleBranch struct {
	slash    *state
	capture  int
	visitBit int // see node
}

// A restBranch has the patterns that match the rest of a path.
type restBranch struct {
	end     ending
	capture int
}

// allow returns methods as the value of an Allow field.
func (g *program) allow(s methodSet) string {
	if s == 0 {
		return ""
	}
	if header, ok := g.allows[s]; ok {
		return header
	}
	return g.methods.allow(s)
}

// next returns the successor for a byte, nil if there is none.
func (s *state) next(b byte) *state {
	if i := int(b) - int(s.low); uint(i) < uint(len(s.table)) {
		return s.table[i]
	}
	return nil
}

// starts reports whether a word of the key begins with the head of s. Texts have no
// zero bytes, and load returns zeros after the end of the key.
func (s *state) starts(word uint64) bool { return (word^s.head)&s.mask == 0 }

// goesOn reports whether the text of s after its head follows in the key.
func (s *state) goesOn(key string, at int) bool {
	return len(s.text) <= 8 || strings.HasPrefix(key[at+8:], s.text[8:])
}

// A check is the condition for the segment of a param.
type check struct {
	form
	memo int // number of the memo of a costly constraint, from 1; 0 for others
}
