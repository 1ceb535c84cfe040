package flame

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A Row is a function in a table. The values are in the graph's unit, and the
// shares are of its total.
type Row struct {
	Function   string
	Flat       float64 // its own
	Cumulative float64 // with the functions that it called
	FlatShare  float64 // 0.25 is a quarter
	CumShare   float64
}

// Top returns the n functions with the largest values of their own, or all if n
// is 0.
func (g *Graph) Top(n int) []Row {
	all := g.rows()
	rows := make([]Row, 0, len(all))
	for _, r := range all {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Flat, a.Flat), cmp.Compare(b.Cumulative, a.Cumulative),
			strings.Compare(a.Function, b.Function))
	})
	return first(rows, n)
}

func first[T any](rows []T, n int) []T {
	if n > 0 && n < len(rows) {
		return rows[:n]
	}
	return rows
}

// rows returns the values of each function, by name. Recursive calls are not
// counted twice.
func (g *Graph) rows() map[string]*Row {
	rows := make(map[string]*Row)
	calling := make(map[string]bool)
	var visit func(*frame)
	visit = func(f *frame) {
		r := rows[f.name]
		if r == nil {
			r = &Row{Function: f.name}
			rows[f.name] = r
		}
		r.Flat += f.self
		again := calling[f.name]
		if !again {
			r.Cumulative += f.value
			calling[f.name] = true
		}
		for _, c := range f.sorted() { // in a fixed order, because floating-point sums depend on it
			visit(c)
		}
		if !again {
			delete(calling, f.name)
		}
	}
	for _, f := range g.root.sorted() {
		visit(f)
	}
	for _, r := range rows {
		r.FlatShare, r.CumShare = r.Flat/g.Total(), r.Cumulative/g.Total()
	}
	return rows
}

// A Change is a function in two graphs.
type Change struct {
	Function  string
	Base, New Row // zero if the function is missing

	// Chance is set if the profiles have too few samples to say that the
	// function's own values differ.
	Chance bool
}

// Diff returns the n functions with the largest differences of their own values,
// or all if n is 0.
func Diff(base, new *Graph, n int) []Change {
	changes := make(map[string]*Change)
	of := func(name string) *Change {
		if changes[name] == nil {
			changes[name] = &Change{Function: name}
		}
		return changes[name]
	}
	for name, r := range base.rows() {
		of(name).Base = *r
	}
	for name, r := range new.rows() {
		of(name).New = *r
	}
	rows := make([]Change, 0, len(changes))
	for _, c := range changes {
		c.Chance = chance(base, new, c.Base.Flat, c.New.Flat)
		rows = append(rows, *c)
	}
	slices.SortFunc(rows, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.size(), a.size()), strings.Compare(a.Function, b.Function))
	})
	return first(rows, n)
}

func (c Change) size() float64 { return math.Abs(c.New.Flat - c.Base.Flat) }
