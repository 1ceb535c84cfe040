package flow

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/internal/request"
	"github.com/weirhq/weir/load/target"
)

// mostSteps limits the steps of all flows, since the latencies of each need 0.3 MB per thread.
const mostSteps = 100

// Parse reads a page of YAML. Its error has all mistakes, each with its line and column.
func Parse(name string, src []byte) (*Page, error) {
	f, root := yamlfile.Read(name, "a page of flows", src)
	to := place{page: &Page{}, links: new([]link)}
	if root == nil && f.Err() == nil {
		f.Mistakef(yamlfile.Pos{Line: 1, Col: 1}, writeFlows, "the page is empty")
	}
	if f.Err() == nil {
		r := &reader{File: f, Schema: keys(), Positions: map[string][]yamlfile.Pos{}}
		r.Fields(yamlfile.Place[place]{To: to}, root)
		checkLinks(r, to)
		if n := len(to.page.Steps()); n > mostSteps {
			r.Mistakef(root.Pos, "measure fewer at a time", "%d steps are more than %d", n, mostSteps)
		}
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return to.page, nil
}

// writeFlows is the hint for a page without flows.
const writeFlows = "write what users do, as in: flows: [{name: browse, steps: [{name: home, request: GET /}]}]"

type reader = yamlfile.Reader[place]

// A place is the part of the page that is being read.
type place struct {
	page  *Page
	steps *[]Step // of the flow or of the setup
	flow  *Flow   // nil in the setup
	step  *Step
	links *[]link
}

// A link is a {{from}} of a step.
type link struct {
	to      request.From
	text    yamlfile.Scalar
	offset  int // in text
	before  []string
	inSetup bool
}

// keys are the keys of a page.
var keys = sync.OnceValue(func() []yamlfile.Key[place] {
	all := []yamlfile.Key[place]{
		{Path: "setup", Read: readSteps(func(to place) *[]Step { return &to.page.Setup }), Doc: "requests that are sent once, before the load"},
		{Path: "flows", Read: (*reader).Entries, Required: writeFlows,
			Doc: "what users do"},
		{Path: "flows.*", Read: readFlow, Called: "a flow"},
		{Path: "flows.*.name", Read: yamlfile.One(parseName, func(to place) *string { return &to.flow.Name }),
			Required: "name it, as in: name: buy", Doc: "its name in the result"},
		{Path: "flows.*.weight", Read: yamlfile.One(parseWeight, func(to place) *int { return &to.flow.Weight }),
			Doc: "how often it is done, compared with the others"},
		{Path: "flows.*.steps", Read: readSteps(func(to place) *[]Step { return &to.flow.Steps }),
			Required: "write its requests, as in: steps: [{name: home, request: GET /}]", Doc: "its requests, in order"},
	}
	return append(append(all, stepKeys("setup.*")...), stepKeys("flows.*.steps.*")...)
})

// stepKeys are the keys of a step.
func stepKeys(path string) []yamlfile.Key[place] {
	return []yamlfile.Key[place]{
		{Path: path, Read: readStep, Called: "a step"},
		{Path: path + ".name", Read: yamlfile.One(parseName, func(to place) *string { return &to.step.Name }),
			Required: "name it, as in: name: login", Doc: "its name in the result"},
		{Path: path + ".request", Read: readRequest, Required: "write the method and the path, as in: request: GET /", Doc: "the method and the path"},
		{Path: path + ".headers", Read: readHeaders, Doc: "fields of the header, each as Name: value"},
		{Path: path + ".body", Read: readBody, Doc: "the body"},
		{Path: path + ".think", Read: yamlfile.One(parseThink, func(to place) *Think { return &to.step.Think }),
			Doc: "the time before the request"},
		{Path: path + ".expect", Read: readExpect, Doc: "what a right response is"},
	}
}

func readFlow(r *reader, p yamlfile.Place[place], n *yamlfile.Node) {
	flow := Flow{Weight: 1}
	p.To.flow = &flow
	r.Fields(p, n)
	for _, other := range p.To.page.Flows {
		if other.Name == flow.Name && flow.Name != "" {
			r.Mistakef(n.Pos, "give each a name of its own", "two flows have the name %s", yamlfile.Quote(flow.Name))
		}
	}
	p.To.page.Flows = append(p.To.page.Flows, flow)
}

// readSteps reads a list of steps.
func readSteps(at func(place) *[]Step) yamlfile.ReadFunc[place] {
	return func(r *reader, p yamlfile.Place[place], n *yamlfile.Node) {
		p.To.steps = at(p.To)
		r.Entries(p, n)
	}
}

func readStep(r *reader, p yamlfile.Place[place], n *yamlfile.Node) {
	var step Step
	p.To.step = &step
	r.Fields(p, n)
	for _, other := range *p.To.steps {
		if other.Name == step.Name && step.Name != "" {
			r.Mistakef(n.Pos, "give each a name of its own", "two steps have the name %s", yamlfile.Quote(step.Name))
		}
	}
	*p.To.steps = append(*p.To.steps, step)
}

func parseName(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	name, refused := yamlfile.Text(s)
	if refused == nil && strings.Contains(name, "/") {
		return "", yamlfile.Refuse("leave it out", "a name has no slash: it is between a flow and its step in the result")
	}
	return name, refused
}

func parseWeight(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	n, refused := yamlfile.Count(s)
	if refused == nil && (n < 1 || n > 1000) {
		return 0, yamlfile.Refuse("write 1 to 1000, or leave the flow out", "%d is no weight", n)
	}
	return n, refused
}

// parseThink parses a time such as 2s, or two with a dash between them.
func parseThink(s yamlfile.Scalar) (t Think, refused *yamlfile.Refusal) {
	least, most, two := strings.Cut(s.Text, "-")
	if !two {
		most = least
	}
	var errs [2]error
	t.Least, errs[0] = time.ParseDuration(strings.TrimSpace(least))
	t.Most, errs[1] = time.ParseDuration(strings.TrimSpace(most))
	if errors.Join(errs[:]...) != nil || t.Least < 0 || t.Most < t.Least {
		return Think{}, yamlfile.Refuse("write 2s, or 1s-3s for a random time between both", "%s is no time to think", yamlfile.Quote(s.Text))
	}
	return t, nil
}

// template checks a text with templates, and notes its links. offset is where it begins in the scalar.
func template(r *reader, to place, s yamlfile.Scalar, offset int) bool {
	t, err := request.ParseTemplate(s.Text[offset:])
	if err != nil {
		refuse(r, s, offset, err)
		return false
	}
	fine := true
	for at, from := range t.Froms() {
		if _, err := expect.ParseValue(from.Value); err != nil {
			refuse(r, s, offset+at, err)
			fine = false
		}
		l := link{to: from, text: s, offset: offset + at, inSetup: to.flow == nil}
		for _, step := range *to.steps {
			l.before = append(l.before, step.Name)
		}
		*to.links = append(*to.links, l)
	}
	return fine
}

// refuse reports an error at an offset in a scalar.
func refuse(r *reader, s yamlfile.Scalar, offset int, err error) {
	if e, ok := errors.AsType[*request.ColumnError](err); ok {
		offset, err = offset+e.Column-1, e.Why
	}
	what, hint, _ := strings.Cut(err.Error(), "; ")
	r.Refuse(s, yamlfile.Refuse(hint, "%s", what).At(offset))
}

// checkLinks checks that each {{from}} names a step before.
func checkLinks(r *reader, to place) {
	var setup []string
	for _, s := range to.page.Setup {
		setup = append(setup, s.Name)
	}
	for _, l := range *to.links {
		names := l.before
		if !l.inSetup {
			names = append(names, setup...)
		}
		known := false
		for _, name := range names {
			known = known || name == l.to.Step
		}
		if known {
			continue
		}
		hint := "it names a step of the same flow before this one, or of the setup"
		if len(names) > 0 {
			hint = yamlfile.RightWord(l.to.Step, names)
		}
		r.Refuse(l.text, yamlfile.Refuse(hint, "there is no step %s before this one", yamlfile.Quote(l.to.Step)).At(l.offset))
	}
}

// readRequest reads a method and a path.
func readRequest(r *reader, p yamlfile.Place[place], n *yamlfile.Node) {
	s, ok := r.Single(p, n)
	if !ok {
		return
	}
	method, path, two := strings.Cut(s.Text, " ")
	path = strings.TrimSpace(path)
	switch {
	case !two || !httpsyntax.IsToken(method):
		r.Refuse(s, yamlfile.Refuse("write GET /path", "%s is not a method and a path", yamlfile.Quote(s.Text)))
	case !strings.HasPrefix(path, "/"):
		r.Refuse(s, yamlfile.Refuse("write /path; the command line has the server", "the path %s does not begin with a slash",
			yamlfile.Quote(path)).At(len(s.Text)-len(path)))
	case template(r, p.To, s, len(s.Text)-len(path)):
		if err := new(request.Parsed).SetURL("http://a" + path); err != nil {
			refuse(r, s, len(s.Text)-len(path)-len("http://a"), err)
		}
		p.To.step.Target.Method, p.To.step.Target.URL = method, path
	}
}

func readHeaders(r *reader, p yamlfile.Place[place], n *yamlfile.Node) {
	for _, element := range r.Elements(p, n) {
		s, ok := r.Single(p, element)
		if !ok {
			continue
		}
		name, value, colon := strings.Cut(s.Text, ":")
		value = strings.TrimSpace(value)
		if !colon {
			r.Refuse(s, yamlfile.Refuse("write Name: value, in quotes", "%s is not a field of a header", yamlfile.Quote(s.Text)))
			continue
		}
		if !template(r, p.To, s, len(s.Text)-len(value)) {
			continue
		}
		if err := new(request.Parsed).AddField(name, value); err != nil {
			r.Refuse(s, yamlfile.Refuse("", "header %s: %v", yamlfile.Quote(name), err))
			continue
		}
		p.To.step.Target.Header = append(p.To.step.Target.Header, target.Header{Name: name, Value: value})
	}
}

func readBody(r *reader, p yamlfile.Place[place], n *yamlfile.Node) {
	if s, ok := r.Single(p, n); ok && template(r, p.To, s, 0) {
		p.To.step.Target.Body.Text = s.Text
	}
}

func readExpect(r *reader, p yamlfile.Place[place], n *yamlfile.Node) {
	for _, element := range r.Elements(p, n) {
		s, ok := r.Single(p, element)
		if !ok {
			continue
		}
		e, err := expect.Parse(s.Text)
		if err != nil {
			refuse(r, s, 0, err)
			continue
		}
		p.To.step.Expect = append(p.To.step.Expect, e)
	}
}
