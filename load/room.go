package load

import (
	"fmt"
	"os"
	"strings"

	"github.com/weirhq/weir/internal/machine"
)

// filesBeside is the number of files that a run needs besides its connections.
const filesBeside = 64

// A RoomError reports that the machine has not enough files or ports for the
// connections of a plan.
type RoomError struct {
	Connections int    // of the plan
	Fit         int    // the most that are possible
	Of          string // "open files" or "local ports"
	Limit, Need int    // how many of them there are, and have to be
}

func (e *RoomError) Error() string {
	return fmt.Sprintf("load: %d connections do not fit: the limit is %d %s, enough for %d",
		e.Connections, e.Limit, e.Of, e.Fit)
}

// fit raises the limit of open files as far as possible, and returns a RoomError if the
// connections exceed it or the machine's ports. A MaxConnections that was not set is
// reduced.
func (p *Plan) fit() error {
	room := possibleConnections(p.Unix == "")
	if room.Fit >= p.MaxConnections {
		return nil
	}
	if p.fitted && room.Fit >= p.Connections {
		p.MaxConnections = room.Fit
		return nil
	}
	room.Connections = p.MaxConnections
	if p.fitted {
		room.Connections = p.Connections
	}
	room.Need += room.Connections
	return &room
}

// possibleConnections returns how many connections to one server fit, and the resource that
// limits them. Need is without the connections. needPorts reports whether each has a port.
func possibleConnections(needPorts bool) RoomError {
	room := RoomError{Fit: 1<<31 - 1, Of: "open files"}
	if files, err := machine.RaiseOpenFiles(); err == nil {
		room.Limit = int(min(files, 1<<31-1))
		room.Need = machine.OpenFilesNow() + filesBeside
		room.Fit = max(0, room.Limit-room.Need)
	}
	if ports, ok := localPorts(); ok && needPorts && ports < room.Fit {
		return RoomError{Fit: ports, Of: "local ports", Limit: ports}
	}
	return room
}

// localPorts returns the number of ports for outgoing connections.
func localPorts() (int, bool) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, false
	}
	var low, high int
	if _, err := fmt.Sscan(strings.TrimSpace(string(text)), &low, &high); err != nil || high < low {
		return 0, false
	}
	return high - low + 1, true
}
