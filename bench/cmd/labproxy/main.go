// Labproxy is the service of the built-in experiment about front doors: it starts one of the doors that bench/proxy
// compares in front of a backend, and is itself idle. All doors have the same route and the same fields for the
// upstream, and log to a file.
//
// The lab watches all of these processes. So labproxy leaves two measures of its own: the CPU time of the door alone,
// per request, and the lines that its log lacks.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/bench/labservice"
	"github.com/weirhq/weir/bench/proxy"
)

func main() {
	port := flag.Int("port", 8080, "the `port` of 127.0.0.1 to serve on")
	weir := flag.String("weir", "weir", "the `program` of Weir")
	caddy := flag.String("caddy", "caddy", "the `program` of Caddy")
	name := flag.String("door", proxy.Weir, "door, one of "+strings.Join(names(), "; "))
	flag.Parse()
	if err := run(*port, *weir, *caddy, *name); err != nil {
		log.Fatalf("labproxy: error: %v", err)
	}
}

// doors are the doors that an experiment can compare. The others need a build of their own.
func doors() []proxy.Door {
	return slices.DeleteFunc(slices.Clone(proxy.Doors), func(d proxy.Door) bool {
		return !slices.Contains([]string{proxy.Nginx, proxy.HAProxy, proxy.Caddy, proxy.Weir, proxy.WeirOne}, d.Name)
	})
}

func names() []string {
	var all []string
	for _, d := range doors() {
		all = append(all, d.Name)
	}
	return all
}

func run(port int, weir, caddy, name string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	i := slices.Index(names(), name)
	if i < 0 {
		return fmt.Errorf("--door %s: there are %s", name, strings.Join(names(), "; "))
	}
	tools, err := find(weir, caddy)
	if err != nil {
		return err
	}
	door := doors()[i]
	if why := door.Missing(tools); why != "" {
		return fmt.Errorf("%s is missing; %s; or leave it out, as in --set 'matrix.service.args=[nginx, weir]'", name, why)
	}
	bench := &proxy.Bench{Tools: tools}
	if err := bench.Open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bench.Close()) }()
	s, err := bench.Stand(ctx, door, port)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	select {
	case <-ctx.Done():
	case <-s.Ended():
	}
	return leave(s)
}

// find returns the programs that are installed.
func find(weir, caddy string) (t proxy.Tools, err error) {
	if t.Nginx, err = exec.LookPath("nginx"); err != nil {
		return t, errors.New("nginx is the backend and is missing; install it with: apt-get install nginx-light")
	}
	if t.Weir, err = exec.LookPath(weir); err != nil {
		return t, fmt.Errorf("--weir: %w", err)
	}
	t.HAProxy, _ = exec.LookPath("haproxy") // "" if it is missing
	t.Caddy, _ = exec.LookPath(caddy)
	return t, nil
}

// leave ends the door and writes its measures.
func leave(s *proxy.Stand) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	bill, err := s.End(ctx)
	if err != nil || bill == nil {
		return err
	}
	return labservice.Leave([]labservice.Measure{
		{Name: "CPU per request of the door", Unit: "us", Value: labservice.Microseconds(bill.CPU)},
		{Name: "lines that the log lacks", Value: float64(bill.Lost)},
	})
}
