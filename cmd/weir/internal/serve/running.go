package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/internal/abandon"
)

// running is a door that serves. The goroutine of operate uses the fields from watch on.
type running struct {
	*Command
	config atomic.Pointer[config.Config] // in use
	door   *front.Door
	out    *logto.Log
	stderr io.Writer
	life   *lifetime

	watch     sourceWatch
	upgrading chan error // receives the end of an upgrade in progress; nil if there is none
	next      int        // process id of the next process
	asked     func(controlResponse)
}

// serve runs the door until it has drained, or until the second signal. If a drain takes
// longer than its limits and afterDrain, serve abandons the log, and then the door. before is the
// process that this one replaces, or nil.
func (r *running) serve(before *front.Predecessor) error {
	done := make(chan error, 1)
	go func() { done <- r.door.Serve(r.life.draining) }()
	select {
	case <-r.door.Ready():
	case err := <-done:
		return err
	}
	if err := r.announce(before); err != nil {
		cli.PrintError(r.stderr, err)
	}
	control, err := r.openControl()
	if err != nil {
		return err
	}
	defer control.close()
	if r.Config != "" {
		r.watch.use(r.config.Load())
	}
	defer r.startOperating(control)()
	var overdue, over <-chan time.Time
	for draining := r.life.draining.Done(); ; {
		select {
		case err := <-done:
			return err
		case <-r.life.cutting.Done():
			return r.life.cause()
		case <-draining:
			draining = nil
			control.close() // the next process responds to weir reload and weir upgrade
			limits := r.config.Load().Drain
			overdue = time.After(limits.Delay + limits.Timeout + afterDrain)
		case <-overdue:
			go abandonLog(r.out)
			over = time.After(2 * afterDrain)
		case <-over:
			return errors.New("the front door has not ended after the drain; a disk may hang")
		}
	}
}

// openControl opens the socket for weir reload and weir upgrade. Without a file and an admin listener, there is none.
func (r *running) openControl() (*controlSocket, error) {
	s := served{config: r.Config}
	if admin := r.door.AdminAddr(); admin != nil {
		s.admin = admin.String()
	}
	if s == (served{}) {
		return &controlSocket{close: func() {}}, nil
	}
	return openControl(s)
}

// startOperating starts operate. stop ends it; an operation that a disk holds up goes on.
func (r *running) startOperating(control *controlSocket) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.operate(ctx, control)
	}()
	return func() {
		cancel()
		waiting, done := context.WithTimeout(r.life.cutting, logWait)
		defer done()
		select {
		case <-ended:
		case <-waiting.Done():
		}
	}
}

// operate reloads at SIGHUP, at a request of weir reload and, with watch, when a file has
// changed, and upgrades. SIGHUP and SIGUSR1 open the log's files again. Each operation uses disks, and may
// take for ever.
func (r *running) operate(ctx context.Context, control *controlSocket) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	losses, lists := newLossWatch(r.stderr), newListWatch(r.stderr)
	for {
		select {
		case <-ctx.Done():
			if r.upgrading != nil {
				r.endUpgrade(<-r.upgrading)
			}
			return
		case <-tick.C:
			losses.check(r.out.Destinations())
			lists.check(r.door.ServerLists())
			if r.config.Load().Watch && r.life.draining.Err() == nil && r.upgrading == nil && r.changed() {
				r.reload()
			}
		case sig := <-r.life.reload:
			reopenLog(r.out, r.stderr)
			if sig == syscall.SIGHUP {
				r.reload()
			}
		case q := <-control.requests:
			r.respond(q)
		case err := <-r.upgrading:
			if r.endUpgrade(err) {
				control.close()
				fmt.Fprintf(r.stderr, "weir: the process %d serves now: draining\n", r.next)
				r.life.drain()
			}
			r.asked(r.upgradeResponse(err))
		}
	}
}

// announce reports to the process that this one replaces, and to systemd, that this one
// serves.
func (r *running) announce(before *front.Predecessor) error {
	if before != nil {
		if err := before.Ready(); err != nil {
			return fmt.Errorf("upgrade: %w", err)
		}
	}
	if err := notify(daemon.SdNotifyReady); err != nil {
		return fmt.Errorf("notifying systemd: %w", err)
	}
	return nil
}

// respond responds to a request of weir reload or weir upgrade.
func (r *running) respond(q controlRequest) {
	switch {
	case q.what == controlReload:
		q.respond(r.reload())
	case q.what == controlUpgrade && r.upgrading == nil:
		r.asked = q.respond
		r.upgrade()
	case q.what == controlUpgrade:
		q.respond(r.refusal("an upgrade is in progress", ""))
	default:
		q.respond(controlResponse{OK: true, PID: os.Getpid()})
	}
}

func (r *running) refusal(text, hint string) controlResponse {
	return controlResponse{Text: text, Hint: hint, PID: os.Getpid()}
}

// slowReload is how long a reload takes until it is reported.
const slowReload = 10 * time.Second

// reload reads the configuration again. A bad one changes nothing.
func (r *running) reload() controlResponse {
	switch {
	case r.Config == "":
		fmt.Fprintln(r.stderr, "weir: reload: there is no configuration to read; start with --config")
		return r.refusal("there is no configuration to read", "start with --config")
	case r.upgrading != nil:
		fmt.Fprintln(r.stderr, "weir: reload: an upgrade is in progress, which reads the configuration, too")
		return r.refusal("an upgrade is in progress", "")
	}
	notify(reloading())
	defer notify(daemon.SdNotifyReady)
	defer time.AfterFunc(slowReload, func() {
		fmt.Fprintf(r.stderr, "weir: reload: reading %s and its files has taken %v so far; a disk may hang\n",
			r.Config, slowReload)
	}).Stop()
	hint, err := r.apply()
	if err == nil {
		fmt.Fprintf(r.stderr, "weir: reloaded %s\n", r.Config)
		if hint != "" {
			fmt.Fprintf(r.stderr, "weir: hint: %s\n", hint)
		}
		return controlResponse{OK: true, Text: "reloaded " + r.Config, Hint: hint, PID: os.Getpid()}
	}
	if errors.Is(err, front.ErrDraining) { // nothing is wrong with the file
		fmt.Fprintln(r.stderr, "weir: reload: the previous configuration stays, because this process drains")
		return r.refusal("the process drains", "")
	}
	err = fmt.Errorf("reload: the previous configuration stays: %w", err)
	cli.PrintError(r.stderr, err)
	waitForLog(func() error {
		r.door.ReloadFailed(err)
		return nil
	})
	var hinted *cli.Error
	if errors.As(err, &hinted) {
		hint = hinted.Hint
	}
	return r.refusal(err.Error(), hint)
}

// changed reports whether the files of the configuration have changed, or its mistakes.
func (r *running) changed() bool {
	return r.watch.check() || r.watch.corrected(func() error {
		_, err := readConfig(r.Config)
		return err
	})
}

// apply reads and applies the configuration. The hint names keys that it cannot apply.
func (r *running) apply() (hint string, err error) {
	r.watch.read()
	cfg, err := readConfig(r.Config)
	if err != nil {
		r.watch.failed(err.Error())
		return "", err
	}
	r.override(cfg)
	fixed, err := r.door.Reload(cfg)
	if err != nil {
		return "", cli.WithHint(err, listenHint(err))
	}
	r.config.Store(cfg)
	r.watch.use(cfg)
	warn(r.stderr, r.Config, cfg.Warnings)
	if len(fixed) > 0 {
		hint = fmt.Sprintf("only a new process changes %v: weir upgrade --config %s", fixed, r.Config)
	}
	return hint, nil
}

// upgradeTimeout is the time limit for the start of the next process.
const upgradeTimeout = 30 * time.Second

// upgrade starts the next process and hands the listeners over to it. r.upgrading receives
// the result.
func (r *running) upgrade() {
	r.upgrading = make(chan error, 1)
	ctx, cancel := context.WithTimeout(r.life.draining, upgradeTimeout)
	result := r.upgrading
	go func() {
		defer cancel()
		result <- r.door.Upgrade(ctx, func(name string) (int, <-chan error, error) { return r.startNext(ctx, name) })
	}()
}

// startNext starts the program at the path of this one, with the same arguments. If ctx ends before the
// program is read, the next process finds no offer, and ends.
func (r *running) startNext(ctx context.Context, name string) (pid int, exited <-chan error, err error) {
	cmd := exec.Command(programPath, os.Args[1:]...)
	cmd.Env = ownEnviron(upgradeVariable + "=" + name)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := abandon.Call(ctx, cmd.Start); err != nil {
		return 0, nil, fmt.Errorf("starting the next process: %w", err)
	}
	r.next = cmd.Process.Pid
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if err == nil {
			err = errors.New("exit status 0")
		}
		ended <- err
	}()
	return r.next, ended, nil
}

// programPath is the path at which the next process is started. It is not that of the file
// that runs, which a new binary may have replaced.
var programPath = func() string {
	path, err := exec.LookPath(os.Args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return os.Args[0]
	}
	return path
}()

// endUpgrade reports whether the next process serves. If not, it kills it.
func (r *running) endUpgrade(err error) bool {
	r.upgrading = nil
	if err == nil {
		notify(fmt.Sprintf("MAINPID=%d", r.next))
		return true
	}
	if r.next > 0 {
		if p, failed := os.FindProcess(r.next); failed == nil {
			p.Kill()
		}
		r.next = 0
	}
	cli.PrintError(r.stderr, fmt.Errorf("upgrade: this process goes on: %w", err))
	return false
}

func (r *running) upgradeResponse(err error) controlResponse {
	if err != nil {
		return r.refusal("upgrade: the process goes on as before: "+err.Error(), "its stderr has the reason")
	}
	return controlResponse{
		OK: true, PID: r.next,
		Text: fmt.Sprintf("the process %d serves now; the process %d drains", r.next, os.Getpid()),
	}
}
