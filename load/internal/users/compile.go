package users

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/flow"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/request"
	"github.com/weirhq/weir/load/target"
)

// Flows are the compiled flows of a plan. Threads share them.
type Flows struct {
	Program *program.Program // its targets are those of the page's Steps
	Reasons []string         // why a response counts as failed; see User.End

	flows  [][]step
	setup  []step
	order  []int // of flows
	values int   // of responses
	steps  int
	shared []string // the values of the setup, by number; the others are ""

	seed     uint64
	begun    atomic.Uint64 // flows that users have begun
	part, of uint64        // of the plan
}

// A step is a request of a flow.
type step struct {
	name    string // in the result
	number  int    // of the page's Steps, and of the program's targets
	think   flow.Think
	expect  []expect.Expectation // of the plan and of the step
	values  []taken
	reasons int // the number of the first reason of the step: those of expect, and then those of values
}

// A taken value is a text of a response that a later step needs.
type taken struct {
	expect.Value
	number   int
	inHeader bool // of a later request
}

// Options are the options of Compile.
type Options struct {
	Base        target.Target // the server, and the header of all requests
	NoKeepAlive bool
	Find        request.Find
	Expect      []expect.Expectation // of all responses
	Seed        uint64
	Part, Of    int // the share of the plan, from 0; Of is 0 for a whole plan
}

// Compile compiles the flows of a page.
func Compile(page *flow.Page, o Options) (*Flows, error) {
	f := &Flows{order: page.Order(), seed: o.Seed, part: uint64(o.Part), of: uint64(max(o.Of, 1))}
	steps := f.lay(page, o.Expect)
	f.steps = len(steps)
	var names []string
	for _, s := range steps[:f.steps-len(f.setup)] {
		names = append(names, s.name)
	}
	var err error
	f.Program, err = program.CompileSteps(page.Targets(o.Base), program.StepOptions{
		NoKeepAlive: o.NoKeepAlive, Find: o.Find, Names: names, Page: page.Describe(),
		From: func(i int, from request.From, inHeader bool) (int, error) { return f.link(steps, i, from, inHeader) },
	})
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		s.reasons = len(f.Reasons)
		for _, e := range s.expect {
			f.Reasons = append(f.Reasons, s.name+": "+e.Failure())
		}
		for _, v := range s.values {
			f.Reasons = append(f.Reasons, s.name+": no value "+v.String())
		}
	}
	f.shared = make([]string, f.values)
	return f, nil
}

// lay makes the steps without their values. It returns all in the order of the page's Steps.
func (f *Flows) lay(page *flow.Page, common []expect.Expectation) (all []*step) {
	add := func(prefix string, from []flow.Step) []step {
		own := make([]step, 0, len(from)) // all points to its elements
		for _, s := range from {
			own = append(own, step{name: prefix + s.Name, number: len(all), think: s.Think,
				expect: expect.Sort(slices.Concat(common, s.Expect))})
			all = append(all, &own[len(own)-1])
		}
		return own
	}
	for _, one := range page.Flows {
		f.flows = append(f.flows, add(one.Name+"/", one.Steps))
	}
	common = nil // of the load
	f.setup = add("", page.Setup)
	return all
}

// link returns the number of a value that step i needs from a step before it.
func (f *Flows) link(steps []*step, i int, from request.From, inHeader bool) (int, error) {
	source := f.source(i, from.Step)
	if source == nil {
		return 0, fmt.Errorf("there is no step %q before this one, in its flow or in the setup", from.Step)
	}
	v, err := expect.ParseValue(from.Value)
	if err != nil {
		return 0, err
	}
	for j := range source.values {
		if known := &source.values[j]; known.String() == v.String() {
			known.inHeader = known.inHeader || inHeader
			return known.number, nil
		}
	}
	source.values = append(source.values, taken{v, f.values, inHeader})
	f.values++
	return f.values - 1, nil
}

// source returns the step with a name before step i, in its flow or in the setup; nil without one.
func (f *Flows) source(i int, name string) *step {
	for _, own := range f.flows {
		if len(own) == 0 || i < own[0].number || i > own[len(own)-1].number {
			continue
		}
		for j := range own {
			if own[j].number < i && strings.HasSuffix(own[j].name, "/"+name) {
				return &own[j]
			}
		}
	}
	for j := range f.setup {
		if f.setup[j].name == name && (f.setup[j].number < i || i < f.setup[0].number) {
			return &f.setup[j]
		}
	}
	return nil
}
