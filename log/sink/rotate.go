package sink

import (
	"os"
	"time"
)

// fitting returns as much of p as belongs into the file that is open, which it
// rotates first when its time has come. Only a line that is whole, or none at
// all, is followed by another file. f.mu is held here and below.
func (f *File) fitting(p []byte, now time.Time) []byte {
	switch {
	case f.archive == nil || !f.regular:
		return p
	case len(f.partial) > 0:
		return firstLine(p)
	case f.ends(p, now) && !f.rotate(p, now):
		return p // it has to go on, however long it becomes
	case f.options.MaxBytes <= 0:
		return p
	}
	return linesWithin(p, f.options.MaxBytes-f.size)
}

// ends reports whether the file ends before the first line of p.
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

// rotate puts the file aside and opens a new one, unless someone else did, or
// has truncated it. It reports whether p can be written to what is open now;
// when it fails, it does not try again before a second has passed.
func (f *File) rotate(p []byte, now time.Time) bool {
	if now.Before(f.blocked) {
		return false
	}
	err := f.look(now)
	if err == nil && !f.ends(p, now) {
		return true
	}
	if err == nil {
		err = f.putAside(now)
	}
	if err != nil {
		f.blocked = now.Add(lookEvery)
		f.report(err)
	}
	return err == nil
}

// putAside renames the file and opens a new one. Should that fail, the renamed
// one goes on, and is spared until path can be opened.
func (f *File) putAside(now time.Time) error {
	name := f.archive.newName(now)
	f.archive.spare(name)
	if err := os.Rename(f.path, name); err != nil {
		f.archive.spare("")
		return err
	}
	return f.reopen(now)
}

// dayOf returns the local day of t as a number that grows by the day. There are
// places where a day does not begin at midnight, so that is not asked for.
func dayOf(t time.Time) int {
	year, month, day := t.Local().Date()
	return (year*100+int(month))*100 + day
}
