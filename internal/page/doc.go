// Package page holds the parts that reports consist of: tables, charts and
// sentences on a page that opens from disk ([Sheet], [Table], [Figure],
// [Strips], [Panels]), the same charts as pictures for papers (the Plot
// methods), and text for a terminal ([Text]).
//
// Texts in these parts may come from outside: the templates make them visible
// and harmless to a browser, [Pen.Clean] to a terminal.
package page
