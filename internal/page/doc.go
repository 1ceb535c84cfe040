// Package page holds the parts that reports consist of: tables and charts on a
// page that opens from disk ([Sheet], [Table], [Figure]), the charts as files
// ([Figure.Picture]), and text for a terminal ([Text]).
//
// A [Figure] has charts of values. Its axes ([Linear], [Latencies], [Time] and
// others) place them, so who draws deals with no coordinates.
//
// Texts in these parts may come from outside: the templates make them visible
// and harmless to a browser, [Pen.Clean] to a terminal.
package page
