package log

import "github.com/weirhq/weir/log/onslog/internal/wire"

// The severities, each an option of [Event].
const (
	FATAL severity = 0
	ERROR severity = 1
	WARN  severity = 2
	INFO  severity = 3
)

type severity = wire.Severity
