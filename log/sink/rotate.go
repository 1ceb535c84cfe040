package sink

import (
	"os"
	"time"
)

// fitting returns the beginning of p that belongs into the open file, and
// rotates the file first if it is due. The file changes only between lines.
// f.mu is held here and below.
func (f *File) fitting(p []byte, now time.Time) []byte {
	switch {
	case f.archive == nil || !f.regular:
		return p
	case len(f.partial) > 0:
		return firstLine(p)
	case f.ends(p, now) && !f.rotate(p, now):
		return p // the file must grow beyond its limit
	case f.options.MaxBytes <= 0:
		return p
	}
	return linesWithin(p, f.options.MaxBytes-f.size)
}

// ends reports whether the first line of p belongs into a new file.
func (f *File) ends(p []byte, now time.Time) bool {
	if f.size == 0 {
		f.day = dayOf(now)
		return false
	}
	if f.options.Daily && dayOf(now) > f.day {
		return true
	}
	return f.options.MaxBytes > 0 && f.size+int64(len(firstLine(p))) > f.options.MaxBytes
}

// rotate renames the file and opens a new one, unless another process did so or
// truncated the file. It reports whether p can be written to the file that is
// open then. After a failure it waits for a second before it tries again.
func (f *File) rotate(p []byte, now time.Time) bool {
	if now.Before(f.blocked) {
		return false
	}
	err := f.checkPath(now)
	if err == nil && !f.ends(p, now) {
		return true
	}
	if err == nil {
		err = f.putAside(now)
	}
	if err != nil {
		f.blocked = now.Add(checkEvery)
		f.report(err)
	}
	return err == nil
}

// putAside renames the file and opens a new one. If opening fails, the File
// keeps writing to the renamed one, and the archive does not touch it.
func (f *File) putAside(now time.Time) error {
	name := f.archive.newName(now)
	f.archive.spare(name)
	if err := os.Rename(f.path, name); err != nil {
		f.archive.spare("")
		return err
	}
	return f.reopen(now)
}

// dayOf returns the local date of t as a number that grows every day. It does
// not compare with midnight, because in some places a day does not begin at
// midnight.
func dayOf(t time.Time) int {
	year, month, day := t.Local().Date()
	return (year*100+int(month))*100 + day
}
