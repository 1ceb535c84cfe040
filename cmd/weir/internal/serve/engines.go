package serve

import (
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/natskv"
)

// engines are the clients of other servers that the command has.
var engines = front.Engines{Servers: natskv.Follow}
