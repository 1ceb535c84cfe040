// Package record parses events: the lines that package log writes, as JSON of
// either shape or as LTSV, and lines of other programs in these forms. [Parse]
// returns a [Record], which can be written as JSON, as LTSV or in human form.
// [Reader] parses many lines with little memory, and returns the members of
// lines that are JSON but no events.
//
// From JSON to JSON nothing is lost. Unknown keys, repeated keys and values of
// the wrong type are kept in the fields named Extra. data keeps its order, and
// numbers keep their notation. One distinction disappears: the JSON escape for
// a byte that is not UTF-8 is read as U+FFFD, and written as that character.
//
// LTSV holds less than JSON. Parse has to guess whether a value was a text or a
// number, and whether a dot in a label means an object; see [Parse].
package record
