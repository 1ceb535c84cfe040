// Package where is the language of weir tail --where: conditions on an event,
// such as
//
//	http.status_code >= 500 && http.duration > 1s
//
// [Compile] parses a condition and checks the kinds of its values, so that a
// condition that could never hold is an error with its column. [Condition.Holds]
// evaluates it for one event.
//
// A comparison with a field that the event does not have is false, and so is one
// of values that cannot be compared. An operation that is not defined for the
// values of an event, such as a text minus a number, is an error for that event.
//
// Texts are in double or single quotes with the escapes of Go, or in backquotes
// without escapes. Numbers may have a unit: 250ms and 1m30s are durations, 64KiB
// and 8MiB are numbers of bytes.
package where

import "github.com/weirhq/weir/log/record"

// A Condition decides which events are chosen. It is for one goroutine at a time.
type Condition struct {
	test    *node
	members []string
	env     *env
}

// Compile returns the condition that source is, or an *[Error].
func Compile(source string) (*Condition, error) {
	e := &env{source: source}
	p := parser{env: e, vars: map[string]*node{
		"true":  e.literal(0, truthValue(true), kindTruth),
		"false": e.literal(0, truthValue(false), kindTruth),
		"nil":   e.literal(0, value{}, kindUnknown),
	}}
	p.advance()
	test := p.expr(lowest)
	if p.now.text != "" {
		p.unexpected()
	}
	truths(&node{args: []*node{test}})
	if e.err != nil {
		return nil, e.err
	}
	return &Condition{test, p.members, e}, nil
}

// Members returns the members of an event that the condition uses, as
// [record.NewReader] takes them.
func (c *Condition) Members() []string { return c.members }

// Holds reports whether an event meets the condition. An *[Error] says that an
// operation failed for the values of the event.
func (c *Condition) Holds(r *record.Record) (bool, error) {
	c.env.record, c.env.err = r, nil
	holds := c.test.eval().isTrue()
	if c.env.err != nil {
		return false, c.env.err
	}
	return holds, nil
}
