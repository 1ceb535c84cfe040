package load

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// A host is a server in its own process.
type host struct {
	address string
	cmd     *exec.Cmd
	ask     io.WriteCloser
	tell    *bufio.Reader
}

// startHost starts the program bench/cmd/loadrow as a server.
func startHost(program string, cpu int, m Manner) (*host, error) {
	h := &host{cmd: exec.Command(program, "serve", "-delay", m.Delay.String(), "-stall", m.Stall.String(), "-every",
		m.Every.String(),
		"-arrivals="+strconv.FormatBool(m.Arrivals), "-rate", fmt.Sprint(m.Rate))}
	h.cmd.Stderr = os.Stderr
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if h.ask, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := startOn(h.cmd, cpu); err != nil {
		return nil, err
	}
	h.tell = bufio.NewReader(out)
	line, err := h.tell.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), ServerSign)
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("the server said %q instead of its address", line), err, h.stop())
	}
	h.address = address
	return h, nil
}

// reset returns the server's counts and resets them.
func (h *host) reset() (t Tally, err error) {
	if _, err := h.ask.Write([]byte("r")); err != nil {
		return t, err
	}
	line, err := h.tell.ReadBytes('\n')
	if err != nil {
		return t, fmt.Errorf("the server does not respond: %w", err)
	}
	return t, json.Unmarshal(line, &t)
}

func (h *host) stop() error {
	return errors.Join(h.ask.Close(), h.cmd.Wait())
}
