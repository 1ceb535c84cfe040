package peer

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/testkit"
)

// GRPC is the command line of a program with the commands of peers/grpc-go: [GRPCGo],
// [GRPCPython] and [GRPCNode] return it.
type GRPC []string

// grpcTime is how long all checks may take.
const grpcTime = 5 * time.Minute

// GRPCGo returns the program that uses grpc-go.
func GRPCGo(t testing.TB) GRPC {
	t.Helper()
	return GRPC{Program(t, "./grpc-go")}
}

// Serve starts a server, which the end of the test ends. It has TLS if pair is not nil. The
// certificate must be for localhost.
func (g GRPC) Serve(t testing.TB, address string, pair *certtest.Pair) (stop func()) {
	t.Helper()
	args := append(g[1:len(g):len(g)], "serve", address)
	if pair != nil {
		cert, key := pair.Write(t, t.TempDir(), "grpc")
		args = append(args, cert, key)
	}
	server := start(t, nil, g[0], args...)
	testkit.AwaitListener(t, address)
	return server.stop
}

// Check makes all kinds of calls to an address. The calls that fail fail the test. Roots is
// nil or the root of the server's certificate.
func (g GRPC) Check(t testing.TB, address string, roots *certtest.Pair) {
	t.Helper()
	runCalls(t, g.command(t, "check", address, roots), grpcTime)
}

// Quiet makes calls in which one side, or both, is silent so many seconds. A call that fails fails the test.
// [GRPCNode] has no such calls.
func (g GRPC) Quiet(t testing.TB, address string, seconds int) {
	t.Helper()
	runCalls(t, exec.Command(g[0], append(g[1:len(g):len(g)], "quiet", address, strconv.Itoa(seconds))...),
		time.Duration(seconds)*time.Second+grpcTime)
}

func runCalls(t testing.TB, cmd *exec.Cmd, limit time.Duration) {
	t.Helper()
	timer := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// A GRPCCaller is a client that calls methods over one connection.
type GRPCCaller struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Scanner
}

// Caller starts a client, which the end of the test ends.
func (g GRPC) Caller(t testing.TB, address string, roots *certtest.Pair) *GRPCCaller {
	t.Helper()
	cmd := g.command(t, "call", address, roots)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(grpcTime, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &GRPCCaller{t, in, bufio.NewScanner(out)}
}

// Call calls a method and returns the name of the status, such as "NotFound".
func (c *GRPCCaller) Call(method string) string {
	c.t.Helper()
	c.Begin(method)
	return c.End()
}

// Begin calls a method and does not wait for the end.
func (c *GRPCCaller) Begin(method string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, method+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// AwaitMessage waits for a message of the call.
func (c *GRPCCaller) AwaitMessage() {
	c.t.Helper()
	if got := c.line(); got != "message" {
		c.t.Fatalf("%s before the message", got)
	}
}

// End waits for the end of the call and returns the name of the status.
func (c *GRPCCaller) End() string {
	c.t.Helper()
	for {
		if line := c.line(); line != "message" {
			return line
		}
	}
}

func (c *GRPCCaller) line() string {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("the client has ended: %v", c.out.Err())
	}
	return c.out.Text()
}

func (g GRPC) command(t testing.TB, name, address string, roots *certtest.Pair) *exec.Cmd {
	t.Helper()
	args := append(g[1:len(g):len(g)], name, address)
	if roots != nil {
		cert, _ := roots.Write(t, t.TempDir(), "roots")
		args = append(args, cert)
	}
	return exec.Command(g[0], args...)
}
