package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/load"
)

// A job is the work of an agent for one run. Its folder has the files of the plan.
type job struct {
	link
	log    func(format string, args ...any)
	run    string
	folder string
	alive  *nats.Subscription
	heard  atomic.Int64 // when the coordinator was heard last, in nanoseconds since 1970

	ctx   context.Context // is done when the job ends
	end   context.CancelCauseFunc
	ended chan struct{} // closed when nothing of the job is left

	// The fields below belong to handle.
	files    []*arrival
	text     bytes.Buffer // the plan
	arriving receiver     // writes text
	plan     *load.Plan   // nil until the text is complete
	stop     context.CancelFunc

	mu      sync.Mutex
	running chan struct{} // closed when the run has ended; nil before the start; guarded by mu
}

// errDone ends a job after its result has arrived.
var errDone = errors.New("done")

func newJob(l link, run string, log func(format string, args ...any)) (*job, error) {
	j := &job{link: l, log: log, run: run, ended: make(chan struct{})}
	j.arriving.out = &j.text
	var err error
	if j.folder, err = os.MkdirTemp("", "weir-agent-"); err != nil {
		return nil, err
	}
	j.heard.Store(time.Now().UnixNano())
	j.alive, err = j.conn.Subscribe(j.subject+".run."+run+".alive", func(*nats.Msg) {
		j.heard.Store(time.Now().UnixNano())
	})
	if err != nil {
		os.RemoveAll(j.folder)
		return nil, err
	}
	j.ctx, j.end = context.WithCancelCause(context.Background())
	return j, nil
}

// attend waits until the job ends, and cleans up. It ends the job if the coordinator is
// silent. It returns the reason of an early end.
func (j *job) attend() error {
	defer os.RemoveAll(j.folder)
	defer j.alive.Unsubscribe()
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for j.ctx.Err() == nil {
		select {
		case <-j.ctx.Done():
		case <-tick.C:
			if time.Since(time.Unix(0, j.heard.Load())) > silence {
				j.end(fmt.Errorf("the coordinator was silent for %v", silence))
			}
		}
	}
	if running := j.started(); running != nil {
		<-running
	}
	if why := context.Cause(j.ctx); why != errDone {
		return why
	}
	return nil
}

// handle executes an operation. The coordinator repeats it if the response is lost. It must then
// have the same result.
func (j *job) handle(op string, msg *nats.Msg) error {
	j.heard.Store(time.Now().UnixNano())
	switch op {
	case opClaim:
		return nil
	case opFile:
		return j.receiveFile(msg)
	case opPlan:
		return j.receivePlan(msg)
	case opStart:
		return j.start(string(msg.Data))
	case opStop:
		if j.started() == nil {
			j.end(errors.New("the coordinator has stopped the run"))
		} else {
			j.stop()
		}
		return nil
	case opLeave:
		j.end(errDone)
		return nil
	}
	return fmt.Errorf("there is no operation %q", op)
}

// receiveFile writes a chunk of a file. The header has its number and, in the first chunk,
// creates it.
func (j *job) receiveFile(msg *nats.Msg) error {
	i, err := strconv.Atoi(msg.Header.Get(headerPart))
	if err != nil || i < 0 || i > len(j.files) {
		return fmt.Errorf("file %q follows %d files", msg.Header.Get(headerPart), len(j.files))
	}
	if i == len(j.files) {
		name, err := strconv.Unquote(msg.Header.Get(headerName))
		if err != nil {
			return fmt.Errorf("the name of file %d: %w", i, err)
		}
		f, err := newArrival(j.folder, i, name)
		if err != nil {
			return err
		}
		j.files = append(j.files, f)
	}
	f := j.files[i]
	last, err := f.receive(msg)
	if err == nil && last {
		err = f.close()
	}
	return err
}

// receivePlan adds a chunk of the plan. With the last one, it compiles the plan, so that the
// coordinator learns about a mistake before the start.
func (j *job) receivePlan(msg *nats.Msg) error {
	last, err := j.arriving.receive(msg)
	if err != nil || !last || j.plan != nil {
		return err
	}
	var w work
	if err := json.Unmarshal(j.text.Bytes(), &w); err != nil {
		return err
	}
	var paths []string
	for _, f := range j.files {
		paths = append(paths, f.path)
	}
	p, err := w.plan(paths)
	if err != nil {
		return err
	}
	p.StartAt = time.Now().Add(time.Hour) // set by start
	if err := p.Check(); err != nil {
		return err
	}
	j.plan = &p
	return nil
}

// start runs the plan. The text is the time of the start by the clock of this machine, in
// nanoseconds since 1970.
func (j *job) start(text string) error {
	at, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a time", text)
	case j.plan == nil:
		return errors.New("it has no plan")
	case j.started() != nil:
		return nil
	}
	j.plan.StartAt = time.Unix(0, at)
	var ctx context.Context
	ctx, j.stop = context.WithCancel(j.ctx)
	running := make(chan struct{})
	j.mu.Lock()
	j.running = running
	j.mu.Unlock()
	j.log("share %v of %s starts at %s", j.plan.Share, j.plan.Targets[0].URL,
		j.plan.StartAt.Format("15:04:05.000"))
	go func() { // attend awaits running
		defer close(running)
		j.execute(ctx)
	}()
	return nil
}

// started returns a channel that is closed when the run has ended; nil before its start.
func (j *job) started() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.running
}

// execute runs the plan and reports to the coordinator.
func (j *job) execute(ctx context.Context) {
	r := newReporter(j.ctx, j.link, j.run)
	p := *j.plan
	p.Progress, p.Snapshot = r.progress, r.snapshot
	result, err := load.Run(ctx, p)
	r.close()
	if err != nil {
		j.log("the share did not run: %v", err)
		err = r.send(opFail, []byte(err.Error()))
	} else {
		j.log("the share has ended: %d requests answered in %.1f s", result.Requests, result.DurationSeconds)
		var text []byte
		if text, err = json.Marshal(result); err == nil {
			err = r.send(opResult, text)
		}
	}
	if err == nil {
		err = errDone
	}
	j.end(err)
}
