package stream_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/processtest"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// phase is the duration of each fault.
func phase() time.Duration {
	if os.Getenv("WEIR_SOAK") != "" {
		return 10 * time.Second
	}
	return 150 * time.Millisecond
}

// TestCountsAddUpDespiteFaults logs without a pause while the collector fails in each way. At any time, emitted =
// written + dropped + waiting. In the end the collector has exactly the lines that count as
// written, in memory and with a Spill.
func TestCountsAddUpDespiteFaults(t *testing.T) {
	for _, spill := range []bool{false, true} {
		t.Run(fmt.Sprintf("spill %v", spill), func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			var o stream.Options
			o.Queue = sink.QueueOptions{Bytes: 256 << 10, Linger: time.Millisecond, Heartbeat: 100 * time.Millisecond}
			if spill {
				o.Spill = stream.Spill{Folder: t.TempDir(), Bytes: 1 << 20}
			}
			out, err := stream.New(newHTTPDestination(c.addr), o)
			if err != nil {
				t.Fatal(err)
			}
			var stop atomic.Bool
			ended := make(chan int)
			go func() {
				n := 0
				for tick := time.NewTicker(time.Millisecond); !stop.Load(); <-tick.C {
					for range 10 {
						out.WriteEvent(log.LevelInfo, fmt.Appendf(nil, "{\"severity\":3,\"n\":%d}\n", n))
						n++
					}
				}
				ended <- n
			}()
			for _, f := range []fault{stalls, healthy, cuts, loses, healthy, away, healthy, code429, code503, healthy, code400,
				healthy} {
				before, _, _, _ := c.counts()
				c.set(t, f)
				done := func() bool { // healthy, loses and code400 last until they have had an effect
					stored, rejected, _, _ := c.counts()
					return (f != healthy && f != loses || stored > before) && (f != code400 || rejected > 0)
				}
				for end := time.Now().Add(phase()); time.Now().Before(end) || !done(); time.Sleep(time.Millisecond) {
					if s := out.Stats(); s.Emitted != s.Written+s.Lost()+s.Waiting || s.Waiting > s.Emitted {
						t.Fatalf("%s: %+v", f, s)
					}
				}
			}
			stop.Store(true)
			emitted := <-ended
			if err := out.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			s := out.Stats()
			stored, rejected, repeated, err := c.counts()
			var lost uint64
			for _, l := range s.Dropped {
				if l.Reason == sink.Rejected {
					lost += l.Events
				}
			}
			if err != nil || uint64(stored) != s.Written || uint64(rejected) != lost || s.Waiting != 0 ||
				s.Emitted < uint64(emitted) || repeated == 0 || rejected == 0 {
				t.Errorf("the collector has %d lines, rejected %d, got %d again: %v; %+v", stored, rejected, repeated, err, s)
			}
			t.Logf("%d emitted, %d stored, %d stored again, %d rejected", s.Emitted, stored, repeated, rejected)
		})
	}
}

func init() { processes["logs until it is killed"] = logProcess }

// logProcess logs lines with numbers to a collector, and prints the number of each line that
// the Spill has taken. With "drain", it only delivers the lines of other processes.
func logProcess(args []string) error {
	addr, folder, name := args[0], args[1], args[2]
	out, err := stream.New(newHTTPDestination(addr), stream.Options{Spill: stream.Spill{Folder: folder}})
	if err != nil {
		return err
	}
	for n := 0; name != "drain"; n++ {
		out.WriteEvent(log.LevelInfo, fmt.Appendf(nil, "%s %d\n", name, n))
		if n%10 == 0 {
			if err := out.Flush(context.Background()); err != nil {
				return err
			}
			fmt.Println(n)
		}
	}
	if err := out.Close(context.Background()); err != nil {
		return err
	}
	s := out.Stats()
	fmt.Println(s.Recovered, s.Written, s.Lost(), s.Waiting)
	return nil
}

// TestKilledProcessesLoseNoSpilledLine kills processes that log, while the collector fails from time to time. In the
// end the collector has all lines that the Spills had taken, and after de-duplication by id
// each of them once.
func TestKilledProcessesLoseNoSpilledLine(t *testing.T) {
	c := newCollector(t)
	folder := t.TempDir()
	kills := 6
	if os.Getenv("WEIR_SOAK") != "" {
		kills = 100
	}
	taken := map[string]int{} // by process
	for i := range kills {
		c.set(t, []fault{healthy, code503, loses, away, cuts, healthy}[i%6])
		name := fmt.Sprintf("process%d", i)
		cmd := processtest.Command(t.Context(), "logs until it is killed", c.addr, folder, name)
		cmd.Stderr = os.Stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(50*time.Millisecond+rand.N(150*time.Millisecond), func() { cmd.Process.Kill() })
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var n int
			if _, err := fmt.Sscan(lines.Text(), &n); err == nil {
				taken[name] = n
			}
		}
		cmd.Wait()
	}
	c.set(t, healthy)
	text, err := processtest.Command(t.Context(), "logs until it is killed", c.addr, folder, "drain").Output()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var recovered, written, lost, waiting int
	_, err = fmt.Sscan(string(text), &recovered, &written, &lost, &waiting)
	if err != nil || lost+waiting != 0 || recovered != written {
		t.Errorf("%d recovered, %d written, %d lost, %d waiting, %v", recovered, written, lost, waiting, err)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	seen := map[string]int{}
	for _, line := range c.lines {
		seen[strings.TrimSuffix(line, "\n")]++
	}
	total := 0
	for name, last := range taken {
		total += last + 1
		for n := range last + 1 {
			if times := seen[fmt.Sprintf("%s %d", name, n)]; times != 1 {
				t.Fatalf("line %d of %s was delivered %d times; %d lines were taken", n, name, times, last+1)
			}
		}
	}
	if c.differs != nil || len(seen) != len(c.lines) {
		t.Errorf("%d different lines have %d ids: %v", len(seen), len(c.lines), c.differs)
	}
	t.Logf("%d processes; %d lines taken, %d stored, %d of them again", kills, total, len(c.lines), c.repeated)
}
