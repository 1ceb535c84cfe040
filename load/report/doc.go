// Package report shows a load.Result: as text at the end of a run ([Text]), as
// a page that opens from disk ([HTML]), as rows for a spreadsheet ([CSV]) and as
// the percentiles that HdrHistogram's tools read ([HDR]). While the run lasts,
// [Live] redraws a block in a terminal and [Plain] writes a line now and then.
//
// What a result holds comes from servers and command lines: nothing in it
// steers a terminal or a browser. In text, what is not printable ASCII stands as
// an escape.
//
// A number never looks better than it is: a share is 0% or 100% when it is
// exactly that, and each latency is named by what it counts from.
package report
