package router

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// draw returns the tree as text:
//
//	(any host)
//	  datasets
//	    {...} -> /datasets/{uri...}
//	  report-{:int}.pdf -> /report-{id:int}.pdf
//	  {:int} -> GET /{id:int}
//	  {...}/
//	    datalist -> /{uri...}/datalist
func (t *tree) draw() string {
	var b strings.Builder
	for _, host := range slices.Sorted(maps.Keys(t.hosts)) {
		drawNode(&b, 0, host, t.hosts[host])
	}
	for _, suffix := range slices.SortedFunc(maps.Keys(t.suffixes), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b)) // the longest is searched first
	}) {
		n := t.suffixes[suffix]
		for i := range n.params {
			drawNode(&b, 0, n.params[i].String()+"."+suffix, n.params[i].to)
		}
		if n.middle != nil {
			drawNode(&b, 0, "{...}."+suffix, n.middle.to)
		}
	}
	if t.anyHost != nil {
		drawNode(&b, 0, "(any host)", t.anyHost)
	}
	return b.String()
}

func drawNode(b *strings.Builder, depth int, label string, n *node) {
	drawLine(b, depth, label, n.leaf)
	depth++
	for _, c := range n.literals.sorted() {
		drawNode(b, depth, url.PathEscape(c.text), c.to)
	}
	if n.slash != nil {
		drawLine(b, depth, "{$}", n.slash)
	}
	for i := range n.params {
		drawNode(b, depth, n.params[i].String(), n.params[i].to)
	}
	if n.middle != nil {
		drawNode(b, depth, "{...}/", n.middle.to)
	}
	if n.rest != nil {
		drawLine(b, depth, "{...}", &n.rest.leaf)
	}
}

func drawLine(b *strings.Builder, depth int, label string, l *leaf) {
	b.WriteString(strings.Repeat("  ", depth) + label)
	patterns := l.patterns()
	slices.SortFunc(patterns, func(p, q *pattern) int {
		if len(p.methods) == 0 || len(q.methods) == 0 { // all methods come last, as in a lookup
			return cmp.Compare(len(q.methods), len(p.methods))
		}
		return cmp.Compare(p.text, q.text)
	})
	for i, p := range patterns {
		separator := ", "
		if i == 0 {
			separator = " -> "
		}
		b.WriteString(separator + p.text)
	}
	b.WriteByte('\n')
}
