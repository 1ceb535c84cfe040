package where

import "github.com/weirhq/weir/log/record"

// A Condition decides which events are chosen. It is for one goroutine at a time.
type Condition struct {
	source  string
	test    eval
	members []string
	env     env
}

// Compile returns the condition that source is, or an *[Error].
func Compile(source string) (*Condition, error) {
	e, err := parse(source, takesPredicate)
	c := compiler{}
	var test eval
	if err == nil {
		test = c.truth(e)
		err = c.err
	}
	if err != nil {
		err.Source = source
		return nil, err
	}
	return &Condition{source: source, test: test, members: c.members, env: env{vars: make([]value, c.slots)}}, nil
}

// Members returns the members of an event that the condition uses, as
// [record.NewReader] takes them.
func (c *Condition) Members() []string { return c.members }

// Holds reports whether an event meets the condition. An *[Error] says that an
// operation failed for the values of the event.
func (c *Condition) Holds(r *record.Record) (bool, error) {
	c.env.record, c.env.err = r, nil
	holds := c.test(&c.env).isTrue()
	if err := c.env.err; err != nil {
		err.Source = c.source
		return false, err
	}
	return holds, nil
}
