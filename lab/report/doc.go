// Package report shows what an experiment has found: as a folder of a page that
// opens from disk, Markdown, tables for other programs and plots ([Write]), and
// as text for a terminal ([Text], [Comparison]).
//
// Every form has the same sentences, which are the analysis', and the same
// numbers. A run is one dot: what is drawn of a configuration is its runs, and a
// difference within the noise is written ~ wherever it stands. What was thinned
// for the page says so, and stands whole in samples.csv.
//
// What results hold comes from services and files: nothing in it steers a
// browser, a terminal or a spreadsheet.
package report
