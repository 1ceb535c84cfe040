// Package record reads events back: each line that package log writes, as JSON
// of either shape or as LTSV, and what other programs wrote in these forms.
// [Parse] makes a [Record] of a line, and its methods write it as JSON, as LTSV
// or for people.
//
// Nothing that a line holds is lost on the way from JSON to JSON: keys that the
// format does not know, keys that are there twice and values of another type
// than the format says are kept in the fields named Extra, data keeps its
// order, and numbers stay as they were written.
//
// What cannot be told any more is that a byte was no UTF-8: the escape that JSON
// has for one reads as U+FFFD, and is written as that character.
//
// LTSV says less than JSON: whether a value was a text or a number, and whether
// a dot in a label stands for an object, has to be guessed; see [Parse].
package record
