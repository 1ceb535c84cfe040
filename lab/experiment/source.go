package experiment

import (
	"github.com/weirhq/weir/internal/yamlfile"
)

// Source returns the experiment in YAML, as [Parse] reads it: the contents of
// its file with later changes. Comments and Folder are lost.
func (e *Experiment) Source() []byte {
	root := &yamlfile.Node{Kind: yamlfile.Mapping}
	t := target{experiment: e, service: &e.Service, load: &e.Load}
	parents := map[string]*yamlfile.Node{"": root}
	for _, s := range schema() {
		if s.show == nil {
			continue
		}
		value := s.show(t)
		if value == nil {
			continue
		}
		parent, name := s.Parent()
		parentNode(parents, parent).Add(name, value)
	}
	return root.Format()
}

// parentNode returns the mapping at a path, and creates it if it is missing.
func parentNode(parents map[string]*yamlfile.Node, path string) *yamlfile.Node {
	if n, ok := parents[path]; ok {
		return n
	}
	k := yamlfile.Key[target]{Path: path}
	above, name := k.Parent()
	n := &yamlfile.Node{Kind: yamlfile.Mapping}
	parents[path] = n
	parentNode(parents, above).Add(name, n)
	return n
}
