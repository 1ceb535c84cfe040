//go:build !linux

package front

import "math"

const sendBlock = 32 << 10

type socketSpace struct{}

// sendSpace returns no limit: only Linux reports the free space of a socket.
func (c *patientConn) sendSpace() (int, error) { return math.MaxInt, nil }
