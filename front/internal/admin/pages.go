package admin

import (
	stdlog "log"
	"net/http"

	"github.com/weirhq/weir/front/internal/dashboard"
	"github.com/weirhq/weir/front/internal/logcost"
	"github.com/weirhq/weir/front/internal/upstream"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/log"
)

// Pages are the parts of a front door that the pages show.
type Pages struct {
	Draining  func() bool
	Metrics   http.Handler
	Log       logto.Output
	Cost      *logcost.Cost       // of the log
	Upstreams func() upstream.Set // in use
	Token     func() string       // of operators; "" if there is none
	Logger    func() *log.Logger
	ErrorLog  *stdlog.Logger // of net/http
	Dashboard *dashboard.Dashboard
}
