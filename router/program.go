package router

import "strings"

// A program is a tree compiled for lookups: what the patterns pass through
// byte by byte, with every run of literal bytes in one piece, slashes included.
//
//	/users          "users" -> /users
//	/users/{id}       "/" {} -> /users/{id}
//	/users/me           "me" -> /users/me
//	/upload/log     "upload/log" -> /upload/log        (both behind a common "u")
//
// Paths are read as keys (see key.go), and a program is never written to.
type program struct {
	hosts   map[string]*root // by canonical host
	anyHost *root            // nil: no pattern is without a host
	direct  *root            // anyHost, if there is no other and a path is its own key
	names   [][]string       // of each entry's parameters
	methods methodNames
	allows  map[methodSet]string // Allow headers made beforehand

	captures  int  // the most values that a pattern takes from a path
	visitBits int  // how many states have a guard
	memos     int  // how many edges have a constraint to run once
	special   bool // a literal holds what a key writes in another way
}

// A root is where the patterns of one host begin.
type root struct {
	static statics // the patterns without any parameter, by their whole path
	start  *state  // behind the first slash, which its text begins with
	next   *root   // where to search next: the root of every host behind that of one
}

// A state is a place in a program, behind its text.
type state struct {
	text string // what has to stand in the key to get here from the state before
	head uint64 // its first eight bytes, the first one in the lowest bits
	mask uint64 // all ones for the bytes of head

	// The states that a literal byte leads to: the one for byte b is
	// table[b-low], if there is one.
	low   byte
	table []*state

	end   *ending      // of the patterns that end here
	more  *branches    // nil: only literal bytes lead on
	param *paramBranch // the only one of more, if there is only one and nothing else
}

// branches are what leads on from the start of a segment beside literals, in
// the order in which it is tried.
type branches struct {
	params  []paramBranch
	middle  *middleBranch
	rest    *restBranch
	choices int // what frame.next stays below while there is something to try
}

// A paramBranch leads on by one segment, or a part of it, that becomes a value.
type paramBranch struct {
	end                  ending // of the patterns that end behind it; in here, a lookup among thousands waits once less
	slash                *state // of those that go on
	check                *check // nil: every value will do, and nothing stands around it
	prefixLen, suffixLen int32  // how many bytes of a key stand around the value
	capture              int32  // which of the pattern's values it is
}

// A stretchBranch leads on by one or more segments that become a value.
type middleBranch struct {
	slash    *state
	capture  int
	visitBit int // see node
}

// A restBranch is the patterns that take all that is left of a path.
type restBranch struct {
	end     ending
	capture int
}

// allow returns methods as the value of an Allow header.
func (g *program) allow(s methodSet) string {
	if s == 0 {
		return ""
	}
	if header, ok := g.allows[s]; ok {
		return header
	}
	return g.methods.allow(s)
}

// next returns the state that a byte leads to, nil for none.
func (s *state) next(b byte) *state {
	if i := int(b) - int(s.low); uint(i) < uint(len(s.table)) {
		return s.table[i]
	}
	return nil
}

// starts reports whether the head of s, its first eight bytes or all, are the
// first in a word of the key. No text has a zero byte, which load finds behind
// the key's end.
func (s *state) starts(word uint64) bool { return (word^s.head)&s.mask == 0 }

// goesOn reports whether what is behind the head of s follows in the key.
func (s *state) goesOn(key string, at int) bool {
	return len(s.text) <= 8 || strings.HasPrefix(key[at+8:], s.text[8:])
}

// A check is what the segment of a param has to satisfy.
type check struct {
	form
	memo int // the number of a constraint that is to run once for a segment, from 1; else 0
}
