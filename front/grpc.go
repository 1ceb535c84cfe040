package front

import (
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/proxy"
)

// isGRPC reports whether the fields are those of a call of gRPC.
func isGRPC(fields []proxy.Field) bool {
	const prefix = "application/grpc"
	for i := range fields {
		if f := &fields[i]; httpsyntax.EqualFold(f.Name, "content-type") {
			return len(f.Value) >= len(prefix) && httpsyntax.EqualFold(f.Value[:len(prefix)], prefix)
		}
	}
	return false
}
