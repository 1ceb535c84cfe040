package log

import "github.com/weirhq/weir/log/onslog/internal/wire"

type classification = wire.Classification

// ProtectiveMonitoring is the classification of events for those who watch
// over a service's security.
const ProtectiveMonitoring classification = "PROTECTIVE_MONITORING"

// Classification returns an option that says whom the event is for.
func Classification(c classification) option { return c }
