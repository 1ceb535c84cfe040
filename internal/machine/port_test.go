package machine_test

import (
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/testkit"
)

func TestUseOfPortIsReadFromProc(t *testing.T) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue\n"
	root := t.TempDir()
	testkit.WriteFile(t, filepath.Join(root, "proc/net/tcp"), head+
		"   0: 0100007F:1F90 0100007F:3279 06 00000000:00000000\n"+
		"   1: 0100007F:1F91 0100007F:3279 06 00000000:00000000\n"+
		"   2: 00000000:1F91 00000000:0000 0A 00000000:00000000\n"+
		"   3: 0100007F:3279 0100007F:1F92 01 00000000:00000000\n")
	testkit.WriteFile(t, filepath.Join(root, "proc/net/tcp6"), head+
		"   0: 00000000000000000000000001000000:1F92 00000000000000000000000001000000:3279 01 0\n")
	for _, c := range []struct {
		port int
		want machine.PortUse
	}{
		{8080, machine.PortTimeWait},
		{8081, machine.PortListening},
		{8082, machine.PortConnected},
		{8083, machine.PortUnlisted},
	} {
		if got := machine.UseOfPort(root, c.port); got != c.want {
			t.Errorf("the use of port %d is %d, want %d", c.port, got, c.want)
		}
	}
	if got := machine.UseOfPort(t.TempDir(), 8080); got != machine.PortUnlisted {
		t.Errorf("without proc the use is %d", got)
	}
}
