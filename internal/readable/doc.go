// Package readable writes numbers, times and strange texts as people read them.
//
// Three digits are enough, and a number never looks better than it is: a share
// is 0% or 100% when it is exactly that.
package readable
