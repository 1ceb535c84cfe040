//go:build !linux

package line

import "net"

// hungUp is always false. The next use of a connection shows that the server has
// closed it.
func hungUp(net.Conn) bool { return false }
