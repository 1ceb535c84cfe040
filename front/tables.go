package front

import (
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/httpsredirect"
	"github.com/weirhq/weir/front/internal/upstream"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/filebudget"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/router"
)

// tables hold all state that a reload replaces.
type tables struct {
	config        *config.Config // must not be modified
	files         filebudget.Budget
	fitting       int // connections and requests that the memory allows; 0 for no limit
	events        requestEvents
	tracer        *tracer  // nil for none
	defaultEvents eventSet // of requests that have no route
	routes        *router.Table[*route]
	upstreams     upstream.Set
	trust         proxying.Trust
	subjectField  string                // for upstreams, the subject of the client's certificate; "" for none
	access        *access.Rule          // of all requests; nil admits them
	httpsRedirect *httpsredirect.Policy // of all requests; nil for none
	cors          bool                  // a route has CORS
	conditions    bool                  // a route has conditions
	restricted    bool                  // a route restricts clients
	gate          *gate                 // of all requests
	gates         map[string]*gate      // by route or group; includes the gate of all requests
	limits        config.RequestLimits  // of requests that have no route
	pages         *errorpages.Pages     // of requests that have no route
	responses     stage.Stage           // the same; nil if it changes nothing
}
