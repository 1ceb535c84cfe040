// Package jsonscan walks through JSON text without building anything: what it
// returns are pieces of the text. Readers of events use it, since encoding/json
// keeps neither the order of keys nor the notation of numbers, and takes a
// multiple of the time.
//
// [Check] tells whether a text is JSON. Everything else expects text that is,
// and on other text returns nonsense, but neither panics nor loops.
package jsonscan

// Text is JSON text: a document, a value or a piece of one.
type Text interface{ ~string | ~[]byte }
