//go:build linux

package sink_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/waittest"
	"github.com/weirhq/weir/log/sink"
)

func init() {
	processes["append"] = appendProcess
	processes["until SIGTERM"] = untilTermProcess
	processes["until SIGKILL"] = untilKillProcess
}

// appendEvent appends a line of at least so many bytes. It names its producer
// and its number, and a reader can see whether it is whole.
func appendEvent(b []byte, producer, i, atLeast int) []byte {
	begin := len(b)
	b = strconv.AppendInt(append(b, "[event "...), int64(i), 10)
	b = strconv.AppendInt(append(b, " of producer "...), int64(producer), 10)
	b = append(b, "] "...)
	b = append(b, padding[:max(atLeast-2-(len(b)-begin), 0)]...)
	return append(b, ";\n"...)
}

var padding = strings.Repeat("x", 4096)

// A reading is the state of a check of the lines of several producers.
type reading struct {
	next map[int]int // the next event of each producer
	own  int         // lines of the queue itself
}

// line checks one line, and that no event before it is missing.
func (r *reading) line(line string) error {
	if strings.HasPrefix(line, "{") && strings.HasSuffix(line, "}\n") {
		r.own++
		return nil
	}
	producer, i, err := parseEvent(line)
	if err != nil {
		return err
	}
	if want := r.next[producer]; i != want {
		return fmt.Errorf("event %d of producer %d where %d has to be", i, producer, want)
	}
	r.next[producer]++
	return nil
}

func parseEvent(line string) (producer, i int, err error) {
	head, rest, _ := strings.Cut(line, "] ")
	if strings.Trim(rest, "x") != ";\n" || strings.Count(line, "[") != 1 {
		return 0, 0, fmt.Errorf("not a whole line: %.80q (%d bytes)", line, len(line))
	}
	number, of, _ := strings.Cut(strings.TrimPrefix(head, "[event "), " of producer ")
	i, err = strconv.Atoi(number)
	if err == nil {
		producer, err = strconv.Atoi(of)
	}
	return producer, i, err
}

// readAll checks the lines of several producers.
func readAll(t *testing.T, from io.Reader) *reading {
	t.Helper()
	r := &reading{next: make(map[int]int)}
	for lines := bufio.NewReaderSize(from, 1<<20); ; {
		line, err := lines.ReadString('\n')
		if err == io.EOF && line == "" {
			return r
		}
		if err := r.line(line); err != nil {
			t.Fatalf("after %v: %v", r.next, err)
		}
	}
}

// appendProcess appends events to a file, or to stdout.
func appendProcess(args []string) error {
	path := args[0]
	producer, err1 := strconv.Atoi(args[1])
	events, err2 := strconv.Atoi(args[2])
	var to io.Writer = sink.Std(os.Stdout)
	var err3 error
	if path != "-" {
		to, err3 = sink.OpenFile(path, sink.FileOptions{})
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	q := sink.NewQueue(to, sink.QueueOptions{Bytes: 1 << 20, WhenFull: sink.Block})
	random := rand.New(rand.NewPCG(uint64(producer), 0))
	var line []byte
	for i := range events {
		atLeast := random.IntN(300)
		if i%50 == 0 {
			atLeast = 4096 // a pipe keeps as many bytes in one piece
		}
		line = appendEvent(line[:0], producer, i, atLeast)
		if _, err := q.Write(line); err != nil {
			return err
		}
	}
	return q.Close(context.Background())
}

// TestProcessesAppendWholeLines lets four processes append to one file and to one pipe:
// every line of each process is there, whole and in order.
func TestProcessesAppendWholeLines(t *testing.T) {
	events := 12_500 // 10^5 lines in file and pipe together
	if soak {
		events = 250_000
	}
	const producers = 4
	run := func(t *testing.T, path string, stdout *os.File) (wait func()) {
		var all sync.WaitGroup
		for p := range producers {
			cmd := process(t, "append", path, strconv.Itoa(p), strconv.Itoa(events))
			cmd.Stdout = stdout
			do(t, cmd.Start())
			all.Go(func() {
				if err := cmd.Wait(); err != nil {
					t.Errorf("producer %d: %v", p, err)
				}
			})
		}
		return all.Wait
	}
	check := func(t *testing.T, r *reading) {
		for p := range producers {
			if got := r.next[p]; got != events {
				t.Errorf("%d events of producer %d, want %d", got, p, events)
			}
		}
	}
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "weir.log")
		run(t, path, nil)()
		f, err := os.Open(path)
		do(t, err)
		defer f.Close()
		check(t, readAll(t, f))
	})
	t.Run("pipe", func(t *testing.T) {
		r, w, err := os.Pipe()
		do(t, err)
		defer r.Close()
		wait := run(t, "-", w)
		w.Close()
		check(t, readAll(t, r))
		wait()
	})
}

// untilTermProcess logs as fast as it can until SIGTERM, and then ends as a
// service does. It reports the first accepted event, and at the end their
// number.
func untilTermProcess(args []string) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	f, err := sink.OpenFile(args[0], sink.FileOptions{MaxBytes: 4 << 20, Gzip: true})
	if err != nil {
		return err
	}
	q := sink.NewQueue(f, sink.QueueOptions{})
	var stop atomic.Bool
	var producers sync.WaitGroup
	var accepted atomic.Int64
	for p := range 2 {
		producers.Go(func() {
			var line []byte
			for i := 0; !stop.Load(); {
				line = appendEvent(line[:0], p, i, 300)
				if _, err := q.WriteEvent(log.LevelInfo, line); err == nil {
					i++
					accepted.Add(1)
				}
			}
		})
	}
	if err := waittest.Poll("an event", func() bool { return accepted.Load() > 0 }); err != nil {
		return err
	}
	fmt.Println("started")
	<-signals
	stop.Store(true)
	producers.Wait()
	if err := errors.Join(q.Close(context.Background()), f.Close()); err != nil {
		return err
	}
	fmt.Println(accepted.Load())
	return nil
}

// TestSIGTERMLosesNoAcceptedEvent ends a process under load, while it rotates and compresses:
// exactly the accepted events are in its files.
func TestSIGTERMLosesNoAcceptedEvent(t *testing.T) {
	rounds := 2
	if soak {
		rounds = 30
	}
	for range rounds {
		folder := t.TempDir()
		cmd := process(t, "until SIGTERM", filepath.Join(folder, "weir.log"))
		stdout, err := cmd.StdoutPipe()
		do(t, err)
		do(t, cmd.Start())
		said := bufio.NewScanner(stdout)
		said.Scan()
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond) // a random moment, not a synchronisation
		do(t, cmd.Process.Signal(syscall.SIGTERM))
		said.Scan()
		accepted, err := strconv.Atoi(said.Text())
		do(t, err)
		do(t, cmd.Wait())
		r := readAll(t, logOf(t, folder))
		if got := r.next[0] + r.next[1]; got != accepted || got == 0 {
			t.Errorf("%d events in the files, %d were accepted", got, accepted)
		}
	}
}

// logOf returns the text of the log in a folder: the rotated files and then the
// current file.
func logOf(t *testing.T, folder string) io.Reader {
	t.Helper()
	paths := filesIn(t, folder)
	var text []io.Reader
	for _, path := range append(paths[1:], paths[0]) {
		text = append(text, strings.NewReader(readPlain(t, path)))
	}
	return io.MultiReader(text...)
}

// A ledger is memory that a process shares with its test, and that outlives the
// process.
type ledger struct {
	accepted atomic.Int64 // number of accepted events
	at       atomic.Int64 // time of the last one, in nanoseconds since 1970
}

func openLedger(path string) (*ledger, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int(unsafe.Sizeof(ledger{}))
	if err := f.Truncate(int64(size)); err != nil {
		return nil, err
	}
	shared, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return (*ledger)(unsafe.Pointer(&shared[0])), nil
}

// untilKillProcess logs events with their times and counts them in a ledger. It
// logs 20,000 per second, or as many as the queue takes.
func untilKillProcess(args []string) error {
	f, err := sink.OpenFile(args[0], sink.FileOptions{})
	if err != nil {
		return err
	}
	book, err := openLedger(args[1])
	if err != nil {
		return err
	}
	q := sink.NewQueue(f, sink.QueueOptions{Bytes: killedQueue, WhenFull: sink.Block})
	var line []byte
	for began := time.Now(); ; {
		for i := book.accepted.Load(); args[2] == "paced" && time.Since(began) < time.Duration(i)*50*time.Microsecond; {
			time.Sleep(50 * time.Microsecond) // sets the rate
		}
		now := time.Now().UnixNano()
		line = appendEvent(line[:0], int(now), int(book.accepted.Load()), killedLine)
		if _, err := q.WriteEvent(log.LevelInfo, line); err != nil {
			return err
		}
		book.accepted.Add(1)
		book.at.Store(now)
	}
}

const (
	killedLine  = 300
	killedQueue = 1 << 20
	beingTaken  = 128 << 10 // bytes that a queue takes out at once to write them
)

// TestSIGKILLTearsOnlyTheLastLine kills a process under load, again and again, with the same file.
// Each process adds whole lines, except that the last one may be torn. Fewer
// events are missing than the queue holds and, at 20,000 per second, fewer than
// those of 50 ms.
func TestSIGKILLTearsOnlyTheLastLine(t *testing.T) {
	kills := 20
	if soak {
		kills = 100
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "weir.log")
	var torn, most, late int
	var worst time.Duration
	var begin int64 // offset at which the next process appends
	wasTorn := false
	for kill := range kills {
		pace := []string{"paced", "flood"}[kill%2]
		ledgerPath := filepath.Join(folder, fmt.Sprintf("ledger-%d", kill))
		book, err := openLedger(ledgerPath)
		do(t, err)
		cmd := process(t, "until SIGKILL", path, ledgerPath, pace)
		do(t, cmd.Start())
		waittest.Await(t, "the first event", func() bool { return book.accepted.Load() > 0 })
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond) // a random moment, not a synchronisation
		do(t, cmd.Process.Kill())
		cmd.Wait()

		added := readFrom(t, path, begin)
		begin += int64(len(added))
		if wasTorn && added != "" {
			if added[0] != '\n' {
				t.Fatalf("kill %d: the torn line was not closed: %.80q", kill, added)
			}
			added = added[1:]
		}
		if added != "" {
			if wasTorn = !strings.HasSuffix(added, "\n"); wasTorn {
				torn++
			}
		}
		events, last := checkKilled(t, added)
		missing := int(book.accepted.Load()) - events
		if most = max(most, missing); missing < -1 || missing*killedLine > killedQueue+beingTaken {
			t.Errorf("kill %d: %d events in the file, %d in the ledger", kill, events, book.accepted.Load())
		}
		if pace == "paced" && events > 0 {
			lost := time.Duration(book.at.Load() - last)
			if worst = max(worst, lost); lost > 50*time.Millisecond {
				late++
			}
		}
	}
	t.Logf("%d kills, %d torn last lines, at most %d events and, at 20,000 per second, %v lost", kills, torn, most, worst)
	// The scheduler may delay one. Beside other tests it may delay all.
	if soak && late > 1 {
		t.Errorf("%d kills cost more than 50 ms of events", late)
	}
}

func readFrom(t *testing.T, path string, offset int64) string {
	t.Helper()
	f, err := os.Open(path)
	do(t, err)
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, offset, 1<<40))
	do(t, err)
	return string(text)
}

// checkKilled checks the file of a killed process, and returns the number of
// whole events and the time of the last one.
func checkKilled(t *testing.T, text string) (events int, last int64) {
	t.Helper()
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			break // the last line, which is torn
		}
		at, i, err := parseEvent(line)
		if err != nil || i != events {
			t.Fatalf("event %d where %d has to be: %v", i, events, err)
		}
		events, last = events+1, int64(at)
	}
	return events, last
}

// TestRenamingUnderFloodLosesNoLine rotates as logrotate does, 20 times, with four
// producers: no line is lost or torn.
func TestRenamingUnderFloodLosesNoLine(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "weir.log")
	f := openFile(t, path, sink.FileOptions{})
	q := sink.NewQueue(f, sink.QueueOptions{WhenFull: sink.Block})
	enough := int64(100 << 10) // about 10^5 events in total
	if soak {
		enough = 5 << 20 // 10^6
	}
	var log bytes.Buffer
	each := floodWhile(q, func() {
		for i := range 20 {
			old := fmt.Sprintf("%s.%02d", path, i)
			do(t, os.Rename(path, old))
			do(t, f.Reopen())
			waittest.Await(t, "lines in the new file", func() bool {
				info, err := os.Stat(path)
				return err == nil && info.Size() > enough
			})
			log.WriteString(read(t, old)) // no process writes there any more
		}
	})
	closeQueue(t, q)
	log.WriteString(read(t, path))
	r := readAll(t, &log)
	for p, want := range each {
		if r.next[p] != want {
			t.Errorf("%d events of producer %d, want %d", r.next[p], p, want)
		}
	}
	t.Logf("20 renames, events by producer: %v", each)
}

// TestCopytruncateLeavesNoHole rotates as logrotate does with copytruncate.
// Lines that are written between the copy and the truncation are lost, as its
// manual says. The file has no hole, and holds all later lines.
func TestCopytruncateLeavesNoHole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weir.log")
	q := sink.NewQueue(openFile(t, path, sink.FileOptions{}), sink.QueueOptions{WhenFull: sink.Block})
	each := floodWhile(q, func() {
		for range 10 {
			waittest.Await(t, "lines", func() bool {
				info, err := os.Stat(path)
				return err == nil && info.Size() > 100_000
			})
			do(t, os.WriteFile(path+".1", []byte(read(t, path)), 0o600))
			do(t, os.Truncate(path, 0))
		}
	})
	closeQueue(t, q)
	for _, p := range []string{path + ".1", path} {
		text := read(t, p)
		if at := strings.IndexByte(text, 0); at >= 0 {
			t.Fatalf("%s has a hole at %d", filepath.Base(p), at)
		}
		next := make(map[int]int)
		for line := range strings.Lines(text) {
			if p != path && !strings.HasSuffix(line, "\n") {
				break // it was copied while the line was being written
			}
			producer, i, err := parseEvent(line)
			if err != nil {
				t.Fatalf("%s: %v", filepath.Base(p), err)
			}
			if want, seen := next[producer]; seen && i != want {
				t.Fatalf("%s: event %d of producer %d where %d has to be", filepath.Base(p), i, producer, want)
			}
			next[producer] = i + 1
		}
		for producer, want := range each {
			if got, seen := next[producer]; p == path && seen && got != want {
				t.Errorf("the file ends with event %d of producer %d, want %d", got, producer, want)
			}
		}
	}
}

// floodWhile lets four producers log until meanwhile returns, and returns the
// number of events of each.
func floodWhile(q *sink.Queue, meanwhile func()) [4]int {
	var each [4]int
	var stop atomic.Bool
	var producers sync.WaitGroup
	for p := range each {
		producers.Go(func() {
			var line []byte
			for ; !stop.Load(); each[p]++ {
				line = appendEvent(line[:0], p, each[p], 100)
				q.WriteEvent(log.LevelInfo, line)
				if each[p]%100 == 0 {
					time.Sleep(time.Millisecond) // the other goroutines need the CPU too
				}
			}
		})
	}
	meanwhile()
	stop.Store(true)
	producers.Wait()
	return each
}
