package log

import (
	"io"
	"os"
	"testing"
)

func TestFilesHoldEveryLine(t *testing.T) {
	files, err := OpenFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const times = 3
	for i, r := range files.Case.Rows {
		for range 2 { // the second time with the emptied file
			r.Run(times)
			read, err := io.ReadAll(io.NewSectionReader(files.logs[i], 0, 1<<20))
			if err != nil {
				t.Fatal(err)
			}
			lines := 0
			for _, b := range read {
				if b == '\n' {
					lines++
				}
			}
			if lines != 3*times || read[0] != '{' {
				t.Errorf("%s (%s) wrote %d lines, want %d:\n%s", r.Name, r.Note, lines, 3*times, read)
			}
			r.After()
		}
	}
	if err := files.Close(); err != nil {
		t.Error(err)
	}
}

func TestFilesLeaveNothingBehind(t *testing.T) {
	dir := t.TempDir()
	files, err := OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
	if err := files.Close(); err != nil {
		t.Error(err)
	}
}

func TestFilesReportLostLines(t *testing.T) {
	files, err := OpenFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range files.Case.Rows {
		files.logs[i].File.Close()
		r.Run(1)
		if files.logs[i].err == nil {
			t.Errorf("%s (%s) wrote to a closed file without an error", r.Name, r.Note)
		}
	}
	if files.Close() == nil {
		t.Error("Close returns no error")
	}
}
