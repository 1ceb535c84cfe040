// Package expect describes the responses that a load test counts as right: their status, a field of their header, a text
// in their body, a value in their JSON, or their size.
//
// An [Expectation] is parsed from a text such as "status 200" or "$.state == up". An [Examiner] sees the parts of each
// response of a connection, and finds the first expectation that it does not meet. It keeps no body, except of JSON.
package expect

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load/internal/grpcstatus"
)

// An Expectation is a property of right responses. [Parse] makes one.
type Expectation struct {
	text string
	what subject
	how  relation

	statuses    []statusRange
	grpc        []string // statuses, as numbers
	name        string   // of the header's field
	path        path
	value       []byte // of the field or the body; or the value in JSON, as it is written
	least, most int64  // bytes
}

type subject uint8

const (
	ofStatus subject = iota
	ofGRPC
	ofHeader
	ofBody
	ofJSON
	ofSize
)

type relation uint8

const (
	exists relation = iota
	equals
	contains
	lacks
)

// A statusRange is the statuses from first to last.
type statusRange struct{ first, last int }

func (r statusRange) contains(status int) bool { return r.first <= status && status <= r.last }

// examples are of each subject, for error messages.
const examples = `status 200, header Content-Type: text/html, body contains ok, $.state == up, size 100-2kB, grpc OK`

// Parse reads an expectation:
//
//	status 200,204,3xx          one of these statuses, ranges or classes
//	header ETag                 the header has the field
//	header Content-Type: a/b    the field has this value
//	header Server contains x    the value of the field contains this text
//	body contains ok            the body contains this text
//	body lacks error            the body does not contain it
//	$.items[0].id               the body is JSON with this value, which may be null
//	$.state == up               the value is this text, or this number, true, false or null
//	size 512                    the body has so many bytes
//	size 1kB-2MB                or from the first number to the second; one of them may be missing
//	grpc OK,NOT_FOUND           the call of gRPC has one of these statuses, over HTTP/2
//
// An error has the column of the mistake.
func Parse(text string) (Expectation, error) {
	trimmed := strings.TrimSpace(text)
	e := Expectation{text: trimmed}
	word, rest, _ := strings.Cut(trimmed, " ")
	rest = strings.TrimSpace(rest)
	var err error
	switch {
	case strings.HasPrefix(trimmed, "$"):
		err = e.parseJSON(trimmed)
	case word == "status":
		err = e.parseStatus(rest)
	case word == "header":
		err = e.parseHeader(rest)
	case word == "body":
		err = e.parseBody(rest)
	case word == "size":
		err = e.parseSize(rest)
	case word == "grpc":
		err = e.parseGRPC(rest)
	case word == "":
		err = fmt.Errorf("it is empty; write one such as %s", examples)
	default:
		err = unknown(word)
	}
	if err != nil {
		return Expectation{}, fmt.Errorf("expectation %q: %w", text, err)
	}
	return e, nil
}

func unknown(word string) error {
	if near := nearest.Word(word, []string{"status", "header", "body", "size", "grpc"}); near != "" {
		return fmt.Errorf("there is no %q, did you mean %s? Such as %s", word, near, examples)
	}
	return fmt.Errorf("there is no %q; write one such as %s", word, examples)
}

// String returns the text of the expectation.
func (e Expectation) String() string { return e.text }

func (e *Expectation) parseStatus(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		r, err := parseStatuses(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		e.statuses = append(e.statuses, r)
	}
	e.what = ofStatus
	return nil
}

func (e *Expectation) parseGRPC(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		number, err := grpcstatus.Parse(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		e.grpc = append(e.grpc, number)
	}
	e.what = ofGRPC
	return nil
}

func parseStatuses(text string) (statusRange, error) {
	bad := fmt.Errorf("%q is not a status; write 200, 2xx or 301-303, with a comma between several", text)
	if class, ok := strings.CutSuffix(strings.ToLower(text), "xx"); ok {
		if len(class) != 1 || class[0] < '2' || class[0] > '9' {
			return statusRange{}, bad
		}
		first := 100 * int(class[0]-'0')
		return statusRange{first, first + 99}, nil
	}
	from, to, several := strings.Cut(text, "-")
	if !several {
		to = from
	}
	first, errFirst := strconv.Atoi(from)
	last, errLast := strconv.Atoi(to)
	if errFirst != nil || errLast != nil || first < 200 || last > 999 || first > last {
		return statusRange{}, bad
	}
	return statusRange{first, last}, nil
}

func (e *Expectation) parseHeader(text string) error {
	name, value, equal := strings.Cut(text, ":")
	if before, after, ok := strings.Cut(text, " contains "); ok && (!equal || len(before) < len(name)) {
		name, value, e.how = before, after, contains
	} else if equal {
		e.how = equals
	}
	e.what, e.name, e.value = ofHeader, strings.TrimSpace(name), []byte(strings.TrimSpace(value))
	switch {
	case !httpsyntax.IsToken(e.name):
		return fmt.Errorf("%q is not the name of a field; write header Content-Type, header Content-Type: text/html, or "+
			"header Content-Type contains html", e.name)
	case e.how != exists && len(e.value) == 0:
		return fmt.Errorf("there is no value for %s; write header %[1]s: VALUE", e.name)
	}
	return nil
}

func (e *Expectation) parseBody(text string) error {
	word, value, _ := strings.Cut(text, " ")
	switch word {
	case "contains":
		e.how = contains
	case "lacks":
		e.how = lacks
	default:
		return fmt.Errorf("after body comes contains or lacks, not %q; write body contains ok", word)
	}
	if value == "" {
		return fmt.Errorf("there is no text after %s; write body %[1]s TEXT", word)
	}
	e.what, e.value = ofBody, []byte(value)
	return nil
}

func (e *Expectation) parseJSON(text string) error {
	e.what = ofJSON
	before, value, equal := strings.Cut(text, "==")
	var err error
	if e.path, err = parsePath(strings.TrimSpace(before)); err != nil {
		return err
	}
	if !equal {
		return nil
	}
	e.how, e.value = equals, []byte(strings.TrimSpace(value))
	if len(e.value) == 0 {
		return fmt.Errorf("there is no value after ==; write %s== VALUE, or %[1]s for any value", before)
	}
	e.value = literal(e.value)
	return nil
}

func (e *Expectation) parseSize(text string) error {
	from, to, several := strings.Cut(text, "-")
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if !several {
		to = from
	}
	if from == "" && to == "" {
		return fmt.Errorf("there is no size; write size 512, size 1kB-2MB, size 1- or size -2MB")
	}
	e.what, e.most = ofSize, 1<<62
	for _, bound := range []struct {
		text string
		to   *int64
	}{{from, &e.least}, {to, &e.most}} {
		if bound.text == "" {
			continue
		}
		var err error
		if *bound.to, err = readable.ParseSize(bound.text); err != nil {
			return err
		}
	}
	if e.least > e.most {
		return fmt.Errorf("%s is more than %s", from, to)
	}
	return nil
}

// mostQuoted limits a text in a reason, in bytes.
const mostQuoted = 60

func quoted(text []byte) string {
	if len(text) > mostQuoted {
		return strconv.Quote(string(text[:mostQuoted])) + "..."
	}
	return strconv.Quote(string(text))
}

// Failure names the responses that do not meet the expectation. It is the kind of their failure in a result. The kind
// of a wrong status has the status, and comes from [StatusFailure].
func (e Expectation) Failure() string {
	switch e.what {
	case ofStatus:
		return "unexpected status"
	case ofHeader:
		return "header " + e.name + [...]string{
			exists: " is missing", equals: " is not " + quoted(e.value), contains: " lacks " + quoted(e.value)}[e.how]
	case ofJSON:
		if e.how == exists {
			return e.path.text + " is missing"
		}
		return e.path.text + " is not " + clip(string(e.value))
	case ofGRPC:
		return "unexpected status of gRPC"
	case ofSize:
		return "size is not " + strings.TrimSpace(strings.TrimPrefix(e.text, "size"))
	}
	if e.how == lacks {
		return "body contains " + quoted(e.value)
	}
	return "body lacks " + quoted(e.value)
}

func clip(text string) string {
	if len(text) > mostQuoted {
		return text[:mostQuoted] + "..."
	}
	return text
}

// StatusFailure returns the kind of failure of a response with an unexpected status.
func StatusFailure(status int) string { return "unexpected status " + strconv.Itoa(status) }

// OfStatus reports whether the expectation is about the status.
func (e Expectation) OfStatus() bool { return e.what == ofStatus }

// meetsStatus reports whether a status is expected.
func (e *Expectation) meetsStatus(status int) bool {
	return slices.ContainsFunc(e.statuses, func(r statusRange) bool { return r.contains(status) })
}

// MeetsStatus reports whether none of the expectations excludes a status.
func MeetsStatus(expectations []Expectation, status int) bool {
	return !slices.ContainsFunc(expectations, func(e Expectation) bool { return e.OfStatus() && !e.meetsStatus(status) })
}

// Sort returns the expectations in the order in which they are examined: the statuses first, and the body last. A response
// counts for the first one that it does not meet.
func Sort(expectations []Expectation) []Expectation {
	return slices.SortedStableFunc(slices.Values(expectations), func(a, b Expectation) int { return cmp.Compare(a.what, b.what) })
}

// judgeHeader returns the mistake of a header, "" without one. Of several fields with the name, one has to be right.
func (e *Expectation) judgeHeader(h Header) string {
	n := 0
	var first []byte
	for value := range h.Values(e.name) {
		switch {
		case e.how == exists, e.how == equals && bytes.Equal(value, e.value), e.how == contains && bytes.Contains(value, e.value):
			return ""
		case n == 0:
			first = bytes.Clone(value)
		}
		n++
	}
	if n == 0 {
		return "there is no header " + e.name
	}
	return "header " + e.name + " is " + quoted(first)
}
