// Package flow describes what the users of a load test do: their requests in order, the time that they think between
// them, and the values of responses that later requests need. [Parse] reads the description, a page of YAML, and reports
// all of its mistakes with their places.
package flow

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/target"
)

// A Page is a description of users.
type Page struct {
	// Setup is sent once, in order, before the load. Its requests are in no result, and later ones may use the values of
	// its responses.
	Setup []Step

	// Flows are what users do, one after the other. Each has at least one step.
	Flows []Flow
}

// A Flow is a sequence of requests. The user is a new one each time: without cookies, and without values of responses.
type Flow struct {
	Name   string
	Weight int // how often it is done, compared with the others; at least 1
	Steps  []Step
}

// A Step is a request of a flow. Values of the responses of the steps before are {{from "step" "value"}} in its URL, the
// values of its header and its body; [expect.ParseValue] describes the values.
type Step struct {
	Name   string
	Target target.Target // without the origin
	Think  Think         // before the request
	Expect []expect.Expectation
}

// A Think is the time that a user thinks. Each time is as probable between both.
type Think struct{ Least, Most time.Duration }

// String returns a text such as "1s" or "1s-3s".
func (t Think) String() string {
	if t.Least == t.Most {
		return t.Least.String()
	}
	return fmt.Sprintf("%v-%v", t.Least, t.Most)
}

// Steps returns all steps: those of the flows in order, and then those of the setup.
func (p *Page) Steps() []Step {
	var all []Step
	for _, f := range p.Flows {
		all = append(all, f.Steps...)
	}
	return append(all, p.Setup...)
}

// Order returns the indexes of the flows in the order in which users do them, again and again. A flow with the weight 3
// is in it three times as often as one with the weight 1, and evenly: it is the smooth weighted round robin of nginx.
func (p *Page) Order() []int {
	total, common := 0, 0
	for _, f := range p.Flows {
		total, common = total+f.Weight, divisor(common, f.Weight)
	}
	current := make([]int, len(p.Flows))
	var order []int
	for range total / common {
		best := 0
		for i, f := range p.Flows {
			if current[i] += f.Weight; current[i] > current[best] {
				best = i
			}
		}
		current[best] -= total
		order = append(order, best)
	}
	return order
}

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// on returns the target at an origin, with more fields.
func (s *Step) on(base target.Target) target.Target {
	t := s.Target
	t.URL = strings.TrimSuffix(base.URL, "/") + t.URL
	for _, h := range base.Header {
		t.Header = append(t.Header[:len(t.Header):len(t.Header)], h)
	}
	return t
}

// Targets returns the requests of all Steps at the URL of base, which is an origin with a prefix of their paths, and with
// its header.
func (p *Page) Targets(base target.Target) []target.Target {
	var all []target.Target
	for _, s := range p.Steps() {
		all = append(all, s.on(base))
	}
	return all
}

// Describe returns a line for each part of the page that is not in its requests, for the comparison of plans.
func (p *Page) Describe() string {
	var b strings.Builder
	for _, f := range p.Flows {
		fmt.Fprintf(&b, "%q %d\n", f.Name, cmp.Or(f.Weight, 1))
		for _, s := range f.Steps {
			fmt.Fprintf(&b, "%q %v %v\n", s.Name, s.Think, s.Expect)
		}
	}
	return b.String()
}
