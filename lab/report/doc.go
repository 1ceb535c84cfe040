// Package report shows the results of an experiment: as a folder with a page
// that opens from disk, Markdown, CSV, JSON and plots ([Write]), and as text
// for a terminal ([Text], [Comparison]).
//
// Every form has the same sentences, which come from the analysis, and the same
// numbers. A chart of a configuration shows its runs, each as a dot. A
// difference that is not significant is written as ~. If the page shows fewer samples
// than there are, it says so; samples.csv has all of them.
//
// Results contain texts from services and files. None of them can control a
// browser, a terminal or a spreadsheet.
package report
