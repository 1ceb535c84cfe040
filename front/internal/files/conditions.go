package files

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// Conditions are the values of the request's fields that determine the response to a GET or
// HEAD. The values of a field that occurs several times are joined by ", ".
type Conditions struct {
	IfMatch, IfUnmodifiedSince   string
	IfNoneMatch, IfModifiedSince string
	IfRange, Range               string
	AcceptEncoding               string
}

// A Version identifies the content of a file.
type Version struct {
	ETag     string    // strong, with its quotes; "" if Modified is zero
	Modified time.Time // as the client sees it, in whole seconds; zero if it is unknown
}

// Version returns the version of a file. Its ETag is made of the time of the last change in
// nanoseconds, the size and the coding. It is strong: a program that changes a file and
// keeps both is not detected. The inode is not part of it, so that several servers with
// copies of the file agree.
func (f *Found) Version() Version {
	if f.Modified.IsZero() {
		return Version{}
	}
	b := append(make([]byte, 0, 40), '"')
	b = strconv.AppendInt(b, f.Modified.UnixNano(), 36)
	b = strconv.AppendInt(append(b, '-'), f.Size, 36)
	if f.Coding != "" {
		b = append(append(b, '-'), f.Coding...)
	}
	return Version{ETag: string(append(b, '"')), Modified: f.Modified.Truncate(time.Second)}
}

// Check evaluates the preconditions in the order of RFC 9110, section 13.2.2. It returns
// 412, 304, or 0 if the request is performed.
func (c *Conditions) Check(v Version) int {
	switch {
	case c.IfMatch != "":
		if !matches(c.IfMatch, v.ETag, strongly) {
			return http.StatusPreconditionFailed
		}
	case c.IfUnmodifiedSince != "":
		if since, ok := v.since(c.IfUnmodifiedSince); ok && v.Modified.After(since) {
			return http.StatusPreconditionFailed
		}
	}
	switch {
	case c.IfNoneMatch != "":
		if matches(c.IfNoneMatch, v.ETag, weakly) {
			return http.StatusNotModified
		}
	case c.IfModifiedSince != "":
		if since, ok := v.since(c.IfModifiedSince); ok && !v.Modified.After(since) {
			return http.StatusNotModified
		}
	}
	return 0
}

// mayRange reports whether If-Range allows a part of the file (RFC 9110, section 13.1.5).
func (c *Conditions) mayRange(v Version) bool {
	switch {
	case c.IfRange == "":
		return true
	case strings.HasPrefix(c.IfRange, `"`):
		return c.IfRange == v.ETag
	}
	since, ok := v.since(c.IfRange)
	return ok && v.Modified.Equal(since)
}

// since parses a date to compare with the version. ok is false if it is invalid, or if the
// version has no date.
func (v Version) since(date string) (t time.Time, ok bool) {
	t, err := http.ParseTime(date)
	return t, err == nil && !v.Modified.IsZero()
}

// The comparisons of entity tags (RFC 9110, section 8.8.3.2).
const (
	strongly = false
	weakly   = true
)

// matches reports whether a list of entity tags contains the strong tag etag, or is "*". The
// list ends at its first malformed element.
func matches(list, etag string, weak bool) bool {
	if httpsyntax.TrimSpace(list) == "*" {
		return true
	}
	for {
		list = strings.TrimLeft(list, " \t,")
		opaque, isWeak := strings.CutPrefix(list, "W/")
		end := tagEnd(opaque)
		if end == 0 {
			return false
		}
		if opaque[:end] == etag && (weak || !isWeak) {
			return true
		}
		list = strings.TrimLeft(opaque[end:], " \t")
		if list != "" && list[0] != ',' {
			return false
		}
	}
}

// tagEnd returns the length of the quoted tag at the beginning of s, or 0.
func tagEnd(s string) int {
	if s == "" || s[0] != '"' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1
		case c < 0x21 || c == 0x7f:
			return 0
		}
	}
	return 0
}
