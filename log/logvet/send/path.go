package send

import (
	"fmt"
	"go/constant"
	"go/token"
	"maps"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// maxSteps limits the blocks visited for one event, because the number of paths
// may be exponential. An event that needs more is not reported.
const maxSteps = 5000

// A follower follows one event through its function.
type follower struct {
	begin *ssa.Call
	end   string // name of the method that ends the event
	steps int

	ended   bool // ended on at least one path
	escaped bool // on at least one path, other code got the event and may end it
	lost    bool // at least one path ends before the event does
	reused  map[token.Pos]string
	wrong   []token.Pos // calls that end the event without an effect
}

// A path is the state of the walk along one path.
type path struct {
	aliases map[ssa.Value]bool // the values that are this event
	ended   bool
	visits  map[*ssa.BasicBlock]int
	facts   map[string]bool // conditions decided on this path
}

func (p path) clone() path {
	return path{maps.Clone(p.aliases), p.ended, maps.Clone(p.visits), maps.Clone(p.facts)}
}

// follow reports the mistakes with the event that the call begin starts.
// Instruction i of block is the one after the call.
func follow(pass *analysis.Pass, begin *ssa.Call, end string, block *ssa.BasicBlock, i int) {
	f := &follower{begin: begin, end: end, reused: make(map[token.Pos]string)}
	p := path{
		aliases: map[ssa.Value]bool{begin: true},
		visits:  map[*ssa.BasicBlock]int{block: 1},
		facts:   make(map[string]bool),
	}
	p.decideAbove(block)
	f.walk(block, i, p)
	if f.steps > maxSteps {
		return
	}
	slices.Sort(f.wrong)
	for _, pos := range slices.Compact(f.wrong) {
		if end == "Logger" {
			pass.Reportf(pos, "fields are lost: Send writes nothing after With, which needs Logger")
		} else {
			pass.Reportf(pos, "event is lost: Logger does not write it")
		}
	}
	for _, pos := range slices.Sorted(maps.Keys(f.reused)) {
		pass.Reportf(pos, "call of %s on an event after its %s: it is ignored", f.reused[pos], end)
	}
	switch {
	case !f.lost || f.escaped:
	case f.ended:
		pass.Reportf(begin.Pos(), "event is lost on a path without %s", end)
	case end == "Logger":
		pass.Reportf(begin.Pos(), "fields are lost: With without Logger")
	default:
		pass.Reportf(begin.Pos(), "event is lost: it has no Send")
	}
}

// walk follows block from instruction i on, and all its successors.
func (f *follower) walk(block *ssa.BasicBlock, i int, p path) {
	if f.steps++; f.steps > maxSteps {
		return
	}
	for _, instruction := range block.Instrs[i:] {
		if !f.step(instruction, p.aliases, &p.ended) {
			return
		}
	}
	for n, next := range block.Succs {
		q := p.clone()
		if q.visits[next]++; q.visits[next] <= 2 && q.decide(block, n) && q.enter(block, next) {
			f.walk(next, 0, q)
		}
	}
}

// step follows the event through one instruction, and reports whether the path
// continues.
func (f *follower) step(instruction ssa.Instruction, aliases map[ssa.Value]bool, ended *bool) bool {
	switch in := instruction.(type) {
	case *ssa.Phi:
		return true // enter has added its aliases
	case *ssa.Call:
		if in == f.begin { // a loop has returned to it
			f.lost = f.lost || !*ended
			return false
		}
		delete(aliases, in)
		return f.call(in, &in.Call, aliases, ended)
	case *ssa.Defer:
		return f.deferred(&in.Call, aliases, ended)
	case *ssa.Return:
		if uses(in, aliases) {
			f.escaped = true
		}
		f.lost = f.lost || !*ended
		return false
	case *ssa.Panic:
		return false
	case *ssa.DebugRef:
		return true
	}
	if value, ok := instruction.(ssa.Value); ok {
		delete(aliases, value)
	}
	if uses(instruction, aliases) {
		f.escaped = true
		return false
	}
	return true
}

// call follows the event through a call.
func (f *follower) call(value ssa.Value, call *ssa.CallCommon, aliases map[ssa.Value]bool, ended *bool) bool {
	method := methodOf(call, "Event")
	switch {
	case method != "" && aliases[call.Args[0]]:
		ends := method == "Send" || method == "Logger"
		switch {
		case *ended:
			f.reused[call.Pos()] = method
		case ends && method != f.end:
			f.wrong = append(f.wrong, call.Pos())
		}
		if ends {
			*ended, f.ended = true, true
		} else {
			aliases[value] = true
		}
		return true
	case exits(call):
		return false
	case !slices.ContainsFunc(call.Args, func(v ssa.Value) bool { return aliases[v] }):
		return true
	case !call.IsInvoke() && isLogType(value.Type(), "Event"):
		aliases[value] = true
		return true
	}
	f.escaped = true
	return false
}

// deferred follows the event through a defer statement. A deferred Send ends
// the event at the return, so calls before the return are correct.
func (f *follower) deferred(call *ssa.CallCommon, aliases map[ssa.Value]bool, ended *bool) bool {
	if !slices.ContainsFunc(call.Args, func(v ssa.Value) bool { return aliases[v] }) {
		return true
	}
	switch methodOf(call, "Event") {
	case "":
		f.escaped = true
		return false
	case "Send":
		switch {
		case *ended:
			f.reused[call.Pos()] = "Send"
		case f.end != "Send":
			f.wrong = append(f.wrong, call.Pos())
		}
		f.ended = true
		return false
	}
	return true // its result is unused
}

// uses reports whether the event is an operand of the instruction.
func uses(instruction ssa.Instruction, aliases map[ssa.Value]bool) bool {
	for _, operand := range instruction.Operands(nil) {
		if *operand != nil && aliases[*operand] {
			return true
		}
	}
	return false
}

// exits reports whether the call does not return.
func exits(call *ssa.CallCommon) bool {
	callee := call.StaticCallee()
	if callee == nil || callee.Pkg == nil {
		return false
	}
	switch callee.Pkg.Pkg.Path() + "." + callee.Name() {
	case "os.Exit", "runtime.Goexit", "log.Fatal", "log.Fatalf", "log.Fatalln",
		"testing.Fatal", "testing.Fatalf", "testing.FailNow", "testing.Skip", "testing.Skipf", "testing.SkipNow":
		return true
	}
	return false
}

// decideAbove records the decisions that lead to block.
func (p path) decideAbove(block *ssa.BasicBlock) {
	for ; block != nil; block = block.Idom() {
		if len(block.Preds) == 1 {
			above := block.Preds[0]
			p.decide(above, slices.Index(above.Succs, block))
		}
	}
}

// decide records the decision to leave block by its nth successor. It reports
// false if this contradicts an earlier decision.
func (p path) decide(block *ssa.BasicBlock, n int) bool {
	branch, ok := block.Instrs[len(block.Instrs)-1].(*ssa.If)
	if !ok {
		return true
	}
	key, negated := condition(branch.Cond)
	taken := (n == 0) != negated
	if before, ok := p.facts[key]; ok {
		return before == taken
	}
	p.facts[key] = taken
	return true
}

// condition returns a name for the condition and whether it is negated. Two
// comparisons of the same values have the same name.
func condition(v ssa.Value) (key string, negated bool) {
	switch v := v.(type) {
	case *ssa.UnOp:
		if v.Op == token.NOT {
			key, negated = condition(v.X)
			return key, !negated
		}
	case *ssa.BinOp:
		if v.Op == token.EQL || v.Op == token.NEQ {
			return fmt.Sprintf("%s == %s", v.X.Name(), v.Y.Name()), v.Op == token.NEQ
		}
	}
	return v.Name(), false
}

// enter moves the path from one block to the next and evaluates its phis. It
// reports false if the variable of the event gets another event on this edge,
// because such code replaces the event on purpose.
func (p path) enter(from, to *ssa.BasicBlock) bool {
	edge := slices.Index(to.Preds, from)
	isEvent, facts := make(map[ssa.Value]bool), make(map[string]bool)
	for _, instruction := range to.Instrs {
		phi, ok := instruction.(*ssa.Phi)
		if !ok {
			break
		}
		isEvent[phi] = p.aliases[phi.Edges[edge]]
		if !isEvent[phi] && slices.ContainsFunc(phi.Edges, func(v ssa.Value) bool { return p.aliases[v] }) {
			return false
		}
		if known, value := p.known(phi.Edges[edge]); known {
			facts[phi.Name()] = value
		}
	}
	for phi, is := range isEvent {
		delete(p.aliases, phi)
		if is {
			p.aliases[phi] = true
		}
	}
	if p.visits[to] > 1 { // a loop: its conditions are evaluated again
		clear(p.facts)
	}
	maps.Copy(p.facts, facts)
	return true
}

// known returns the value of a condition that the path has decided, and whether
// it has.
func (p path) known(v ssa.Value) (known, value bool) {
	if c, ok := v.(*ssa.Const); ok {
		if c.Value == nil || c.Value.Kind() != constant.Bool {
			return false, false
		}
		return true, constant.BoolVal(c.Value)
	}
	key, negated := condition(v)
	decided, known := p.facts[key]
	return known, decided != negated
}
