// Package report shows a load.Result: as text at the end of a run ([Text]), as
// a page that opens from disk ([HTML]), as rows for a spreadsheet ([CSV]) and
// as the percentiles that HdrHistogram's tools read ([HDR]). During the run,
// [Live] redraws a block in a terminal and [Plain] writes a line every ten
// seconds.
//
// Results contain texts from servers and command lines. None of them can
// control a terminal or a browser. Text escapes everything but printable ASCII.
//
// No number is rounded in favour of the server: a share is only 0% or 100% if
// it is exact. Each latency is named by the moment from which it counts.
package report
