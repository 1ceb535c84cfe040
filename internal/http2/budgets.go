package http2

import "github.com/weirhq/weir/internal/floodbudget"

// The quotas of HTTP/2 alone. gRPC measures round trips with one PING for each.
var (
	pingQuota         = floodbudget.Quota{Burst: 2000, PerSecond: 1000}
	settingsQuota     = floodbudget.Quota{Burst: 100, PerSecond: 10}
	windowUpdateQuota = floodbudget.Quota{Burst: 10000, PerSecond: 10000}
)

// budgets are the budgets of a connection.
type budgets struct {
	resets, pings, settings, empty, windowUpdates, others floodbudget.Budget
}
