package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// Write writes the report of results into their folder, which it creates if
// necessary:
//
//	report.html    a page that needs no other file
//	report.md      the same in Markdown, with the plots
//	runs.csv       every run
//	samples.csv    every sample of every run
//	results.json   the results without samples and points, if the lab has not written it
//	analysis.json  the analysis
//	plots/         every chart as SVG
//
// Profiles are read from the folder. The files are made in a temporary folder
// and moved when all are complete. They replace an earlier report. If Write
// fails before that, the folder is unchanged.
func Write(dir string, r *results.Results, a *analysis.Analysis) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	stage, err := os.MkdirTemp(dir, ".report-*")
	if err != nil {
		return fmt.Errorf("report: a folder to write in: %w", err)
	}
	defer os.RemoveAll(stage)
	if err := writeAll(stage, newDocument(dir, r, a)); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, resultsFile)); err == nil {
		os.Remove(filepath.Join(stage, resultsFile)) // keep the lab's own
	}
	return moveAll(stage, dir)
}

// writeAll writes every file of a report into an empty folder.
func writeAll(dir string, d *document) error {
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"report.html", d.html},
		{"report.md", d.markdown},
		{"runs.csv", func(w io.Writer) error { return runsCSV(w, d.results) }},
		{"samples.csv", func(w io.Writer) error { return samplesCSV(w, d.results) }},
		{resultsFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(d.results.Light()) }},
		{"analysis.json", d.json},
	} {
		if err := writeFile(filepath.Join(dir, file.name), file.write); err != nil {
			return err
		}
	}
	plots := filepath.Join(dir, "plots")
	if err := os.Mkdir(plots, 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return writePlots(plots, d)
}

// writePlots writes each chart as SVG, for papers and slides.
func writePlots(dir string, d *document) error {
	for _, f := range slices.Concat(d.Charts, d.OverTime) {
		if err := writeFile(filepath.Join(dir, f.File+".svg"), f.Picture); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("report: %s: %w", filepath.Base(name), err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func (d *document) json(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(d.analysis)
}

// resultsFile is the file that lab.Read reads.
const resultsFile = "results.json"

// moveAll moves the files in stage to dir. A folder replaces one of the same
// name, which is moved into stage and removed with it.
func moveAll(stage, dir string) error {
	entries, err := os.ReadDir(stage)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for _, e := range entries {
		to := filepath.Join(dir, e.Name())
		if e.IsDir() {
			if err := os.Rename(to, filepath.Join(stage, e.Name()+".old")); err != nil && !os.IsNotExist(err) {
				return fmt.Errorf("report: %w", err)
			}
		}
		if err := os.Rename(filepath.Join(stage, e.Name()), to); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}
