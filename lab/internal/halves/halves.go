// Package halves divides the processors of this machine into two halves that share no core, and starts programs on
// them.
package halves

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// A Half has the numbers of the processors of a half, sorted.
type Half []int

// String returns the numbers as in taskset(1): "0,2".
func (h Half) String() string {
	var numbers []string
	for _, cpu := range h {
		numbers = append(numbers, strconv.Itoa(cpu))
	}
	return strings.Join(numbers, ",")
}

// divide divides cores, each a list of processors, among two halves. They take turns, because machines with cores of
// several kinds number those of a kind in a row. A half has one core or more, and further ones up to most processors.
func divide(cores [][]int, most int) (halves [2]Half, err error) {
	if len(cores) < 2 || most < 1 {
		return halves, errors.New("two halves need a core each, and this process may use one only")
	}
	slices.SortFunc(cores, func(a, b []int) int { return slices.Min(a) - slices.Min(b) })
	for i := 0; i+1 < len(cores); i += 2 {
		if i > 0 && max(len(halves[0])+len(cores[i]), len(halves[1])+len(cores[i+1])) > most {
			break
		}
		for k := range halves {
			halves[k] = append(halves[k], cores[i+k]...)
		}
	}
	for _, h := range halves {
		slices.Sort(h)
	}
	return halves, nil
}
