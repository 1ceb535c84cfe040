package yamlfile

import (
	"slices"
	"strings"
)

// Inherited returns the values of the mapping n at a path that the mappings in it inherit: all keys except local
// ones. Those that n has itself are marked as values of a place.
func (r *Reader[T]) Inherited(path string, n *Node, from Outer) *Node {
	return r.inheritable(path, n).moved(func(p Pos) Pos {
		if p.outer == nil {
			p.outer = &from
		}
		return p
	})
}

// inheritable returns n without the local keys, and without the mappings that have only those.
func (r *Reader[T]) inheritable(path string, n *Node) *Node {
	if n.Kind != Mapping {
		return n
	}
	kept := *n
	kept.Pairs = nil
	for _, pair := range n.Pairs {
		key, known := r.KeyOf(path, pair.Key.Text)
		if key.Local || !known {
			continue
		}
		value := r.inheritable(key.Path, pair.Value)
		if value.Kind != Mapping || len(value.Pairs) > 0 || len(pair.Value.Pairs) == 0 {
			kept.Pairs = append(kept.Pairs, Pair{pair.Key, value})
		}
	}
	return &kept
}

// For returns inherited values for the mapping that inherits them, which mistakes name.
func (n *Node) For(by *Node) *Node {
	return n.moved(func(p Pos) Pos {
		if p.outer == nil { // of the empty mapping of no place
			return p
		}
		outer := *p.outer
		outer.by = by.Pos
		p.outer = &outer
		return p
	})
}

// moved returns a copy of n with other positions.
func (n *Node) moved(to func(Pos) Pos) *Node {
	m := *n
	m.Pos, m.Items, m.Pairs = to(n.Pos), nil, nil
	for _, item := range n.Items {
		m.Items = append(m.Items, item.moved(to))
	}
	for _, pair := range n.Pairs {
		pair.Key.Pos = to(pair.Key.Pos)
		m.Pairs = append(m.Pairs, Pair{pair.Key, pair.Value.moved(to)})
	}
	return &m
}

// Merge returns the value of the key at a path that a mapping has, and also a place around it. Mappings are
// merged key by key, and short forms as the mappings for which they stand; an outer off may be such a form, too. Any
// other value replaces the outer one. Off removes the outer value of a key that cannot be off itself. Local keys of the
// outer value are left out.
func (r *Reader[T]) Merge(path string, outer, inner *Node) *Node {
	outer, inner = r.Normalise(path, outer), r.Normalise(path, inner)
	if inner.Kind == Mapping {
		outer = r.offAsMapping(path, outer)
	}
	if outer.Kind != Mapping || inner.Kind != Mapping {
		return inner
	}
	merged := &Node{Kind: Mapping, Pos: inner.Pos, about: inner.about, reduced: outer.reduced,
		partial: outer.partial || inner.partial}
	own := slices.Clone(inner.Pairs)
	for _, pair := range outer.Pairs {
		key, known := r.KeyOf(path, pair.Key.Text)
		i := indexOfKey(own, pair.Key.Text, key.AnyCase)
		switch {
		case key.Local:
		case i < 0:
			merged.Pairs = append(merged.Pairs, pair)
		case known && key.Off == nil && r.IsOff(own[i].Value):
			own, merged.reduced = slices.Delete(own, i, i+1), true
		default:
			merged.Pairs = append(merged.Pairs, Pair{own[i].Key, r.Merge(key.Path, pair.Value, own[i].Value)})
			own = slices.Delete(own, i, i+1)
		}
	}
	merged.Pairs = append(merged.Pairs, own...)
	return merged
}

// offAsMapping returns the mapping for which off stands if the key at a path has a short form that can be off. Other
// values are returned as they are.
func (r *Reader[T]) offAsMapping(path string, n *Node) *Node {
	own, _ := r.lookup(path)
	short, _ := r.lookup(child(path, own.Short))
	if own.Short == "" || own.Off == nil || short.Off == nil || !r.IsOff(n) {
		return n
	}
	return spelledOut(own.Short, n)
}

// KeyOf returns the key with a name in the mapping at a path.
func (r *Reader[T]) KeyOf(path, name string) (key Key[T], known bool) {
	if !strings.ContainsAny(name, ".*") {
		if key, known = r.lookup(child(path, name)); known {
			return key, true
		}
	}
	return r.lookup(child(path, "*"))
}

// indexOfKey returns the index of the pair with a key, or -1.
func indexOfKey(pairs []Pair, name string, anyCase bool) int {
	for i := range pairs {
		if other := pairs[i].Key.Text; other == name || anyCase && strings.EqualFold(other, name) {
			return i
		}
	}
	return -1
}

// Find returns the pair of a mapping with a key, or nil.
func (n *Node) Find(name string) *Pair {
	if i := indexOfKey(n.Pairs, name, false); i >= 0 {
		return &n.Pairs[i]
	}
	return nil
}
