package program

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/load/internal/request"
	"github.com/weirhq/weir/load/target"
)

// An Endpoint is a method and a path pattern. Targets that differ only in the
// query, the header or the body have the same endpoint.
type Endpoint struct {
	Step         string // "" for a target that is of no flow
	Method, Path string // both "" for all targets without an endpoint of their own
	Targets      int    // number of targets
	BodyBytes    int64  // of the first target
}

// maxEndpoints limits the number of endpoints, since the latencies of each need
// 0.3 MB per thread. Beyond the limit, targets share the last one.
const maxEndpoints = 20

// endpointsOf returns the endpoints of the targets, in the order of the targets, and the index of each target's
// endpoint. If there are too many, those with most targets are kept.
func endpointsOf(targets []target.Target, parsed []*request.Parsed) (kept []Endpoint, indexes []int32) {
	var all []Endpoint
	index := make(map[[2]string]int)
	of := make([]int, len(targets)) // the endpoint of each target
	for i, t := range parsed {
		key := [2]string{t.Method, pathPattern(targets[i].URL[t.Location.Path:])}
		n, ok := index[key]
		if !ok {
			n = len(all)
			index[key] = n
			all = append(all, Endpoint{Method: key[0], Path: key[1], BodyBytes: t.BodyBytes()})
		}
		all[n].Targets++
		of[i] = n
	}
	kept, own := keepEndpoints(all)
	for _, n := range of {
		indexes = append(indexes, int32(own[n]))
	}
	return kept, indexes
}

// keepEndpoints chooses a program's endpoints from all. indexes[i] is the index of
// all[i] among those that are kept.
func keepEndpoints(all []Endpoint) (chosen []Endpoint, indexes []int) {
	byTargets := make([]int, len(all))
	for i := range all {
		byTargets[i] = i
	}
	slices.SortStableFunc(byTargets, func(i, j int) int { return cmp.Compare(all[j].Targets, all[i].Targets) })
	own := len(all)
	if own > maxEndpoints {
		own = maxEndpoints - 1
	}
	kept := make([]bool, len(all))
	for _, i := range byTargets[:own] {
		kept[i] = true
	}
	var others Endpoint
	indexes = make([]int, len(all))
	for i, e := range all {
		if !kept[i] {
			indexes[i] = own
			others.Targets += e.Targets
			continue
		}
		indexes[i] = len(chosen)
		chosen = append(chosen, e)
	}
	if others.Targets > 0 {
		chosen = append(chosen, others)
	}
	return chosen, indexes
}

// pathPattern returns the path of a target with its templates, without its query.
func pathPattern(path string) string {
	template := false
	for i, c := range path {
		switch {
		case strings.HasPrefix(path[i:], "{{"):
			template = true
		case strings.HasPrefix(path[i:], "}}"):
			template = false
		case !template && (c == '?' || c == '#'):
			return cmp.Or(path[:i], "/")
		}
	}
	return cmp.Or(path, "/")
}

// requestsHash returns the same hash for plans that send the same requests in the
// same order, to any origin. It includes only the size of a body from a file.
func requestsHash(targets []target.Target, parsed []*request.Parsed) string {
	h := sha256.New()
	for i, t := range parsed {
		in := &targets[i]
		fmt.Fprintf(h, "%q %q %q %q %d\n", t.Method, in.URL[t.Location.Path:], in.Header, in.Body.Text, in.Body.Size)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
