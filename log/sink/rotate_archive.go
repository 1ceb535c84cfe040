package sink

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// An archive is the set of rotated files of one path. Its only state is the
// folder, so the next process completes the work of one that was killed. A
// goroutine removes the oldest files and compresses the others.
type archive struct {
	path   string
	keep   int
	gzip   bool
	report func(error) // accepts nil

	last time.Time // stamp of the newest file; only newName uses it after openArchive

	wake chan struct{} // has one element if there may be work
	stop chan struct{}
	done chan struct{}

	mu     sync.Mutex
	spared string // guarded by mu: a file that is still written to
}

// checkEvery is the interval at which a File checks that its path leads to the file
// that is open. It is also the minimum time before a failed operation is retried.
const checkEvery = time.Second

const (
	stampForm  = "20060102T150405.000Z"
	packedEnd  = ".gz"
	packingEnd = ".gz.tmp"

	// packAfter is the age at which a rotated file is compressed. Other
	// processes that write to it notice the rotation within checkEvery.
	packAfter = 2 * checkEvery
)

func openArchive(path string, keep int, gzip bool, report func(error)) *archive {
	a := &archive{
		path: path, keep: keep, gzip: gzip, report: report,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	stamps, err := a.stamps()
	if len(stamps) > 0 {
		a.last = stamps[len(stamps)-1]
	}
	report(err)
	go a.run()
	return a
}

// close ends the goroutine, and stops a compression.
func (a *archive) close() {
	close(a.stop)
	<-a.done
}

// spare sets the file that the archive must not touch; "" means none.
func (a *archive) spare(name string) {
	a.mu.Lock()
	a.spared = name
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *archive) isSpared(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return name == a.spared
}

// newName returns the name for a file that is rotated now. It sorts after all
// others, even if the clock was set back. It is for one goroutine at a time.
func (a *archive) newName(now time.Time) string {
	now = now.UTC().Truncate(time.Millisecond)
	if !now.After(a.last) {
		now = a.last.Add(time.Millisecond)
	}
	for exists(a.name(now)) || exists(a.name(now)+packedEnd) { // the name may belong to another process
		now = now.Add(time.Millisecond)
	}
	a.last = now
	return a.name(now)
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func (a *archive) name(stamp time.Time) string {
	return a.path + "." + stamp.Format(stampForm)
}

// stamps returns the rotation times of the files in the archive, oldest first.
func (a *archive) stamps() ([]time.Time, error) {
	entries, err := os.ReadDir(filepath.Dir(a.path))
	if err != nil {
		return nil, err
	}
	var stamps []time.Time
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), filepath.Base(a.path)+".")
		if !ok {
			continue
		}
		text = strings.TrimSuffix(strings.TrimSuffix(text, packingEnd), packedEnd)
		if stamp, err := time.Parse(stampForm, text); err == nil && stamp.Format(stampForm) == text {
			stamps = append(stamps, stamp)
		}
	}
	slices.SortFunc(stamps, time.Time.Compare)
	return slices.CompactFunc(stamps, time.Time.Equal), nil
}

// run removes and compresses files until the archive is closed.
func (a *archive) run() {
	defer close(a.done)
	for {
		stamps := a.prune()
		next := a.pack(stamps)
		select {
		case <-a.wake:
		case <-next:
		case <-a.stop:
			a.prune()
			return
		}
	}
}

// prune removes the oldest files if there are too many, and returns the
// rotation times of the others.
func (a *archive) prune() []time.Time {
	stamps, err := a.stamps()
	if err != nil {
		a.report(err)
		return nil
	}
	for a.keep > 0 && len(stamps) > a.keep {
		for _, end := range []string{"", packedEnd, packingEnd} {
			if err := os.Remove(a.name(stamps[0]) + end); !errors.Is(err, os.ErrNotExist) {
				a.report(err)
			}
		}
		stamps = stamps[1:]
	}
	return stamps
}

// pack compresses the files that are old enough. It returns a channel that
// receives when the next one will be, or nil.
func (a *archive) pack(stamps []time.Time) <-chan time.Time {
	if !a.gzip {
		return nil
	}
	for _, stamp := range stamps {
		name := a.name(stamp)
		if !exists(name) || a.isSpared(name) {
			continue
		}
		// A stamp in the far future is from before the clock was set back.
		if left := packAfter - time.Since(stamp); left > 0 && left < time.Hour {
			return time.After(left)
		}
		switch err := a.packFile(name); {
		case errors.Is(err, errStopped):
			return nil
		case err != nil:
			a.report(fmt.Errorf("%s stays as it is: %w", name, err))
		}
	}
	return nil
}

// packFile replaces a file by a compressed one. It removes the original when
// the compressed file is complete and on disk.
func (a *archive) packFile(name string) error {
	plain, err := os.Open(name)
	if err != nil {
		return err
	}
	defer plain.Close()
	info, err := plain.Stat()
	if err != nil {
		return err
	}
	packing := name + packingEnd
	if err := a.packTo(packing, plain, info); err != nil {
		return errors.Join(err, os.Remove(packing))
	}
	if err := os.Rename(packing, name+packedEnd); err != nil {
		return err
	}
	return os.Remove(name)
}

// packTo compresses plain into a file with its mode and time.
func (a *archive) packTo(packing string, plain *os.File, info os.FileInfo) (err error) {
	packed, err := os.OpenFile(packing, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, packed.Close()) }()
	z, err := gzip.NewWriterLevel(packed, gzip.BestSpeed)
	if err != nil {
		return err
	}
	z.Name, z.ModTime = filepath.Base(a.path), info.ModTime()
	if _, err := io.Copy(z, untilStopped{plain, a.stop}); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := packed.Sync(); err != nil {
		return err
	}
	if now, err := plain.Stat(); err != nil || now.Size() != info.Size() {
		return errors.Join(errors.New("it is still written to"), err)
	}
	return os.Chtimes(packing, time.Time{}, info.ModTime())
}

var errStopped = errors.New("stopped")

// An untilStopped is a reader that fails when stop is closed.
type untilStopped struct {
	io.Reader
	stop <-chan struct{}
}

func (u untilStopped) Read(p []byte) (int, error) {
	select {
	case <-u.stop:
		return 0, errStopped
	default:
		return u.Reader.Read(p)
	}
}
