package front

import (
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/httpsredirect"
	"github.com/weirhq/weir/internal/filebudget"
	"github.com/weirhq/weir/proxy"
	"github.com/weirhq/weir/router"
)

// tables hold all state that a reload replaces.
type tables struct {
	config        *config.Config // must not be modified
	files         filebudget.Budget
	fitting       int // connections and requests that the memory allows; 0 for no limit
	events        requestEvents
	defaultEvents eventSet // of requests that have no route
	routes        *router.Table[*route]
	upstreams     []*proxy.Upstream
	upkeeps       map[string]*upkeep // by the name of the upstream
	trust         proxy.Trust
	subjectField  string                // for upstreams, the subject of the client's certificate; "" for none
	access        *access.Rule          // of all requests; nil admits them
	secure        *httpsredirect.Policy // of all requests; nil for none
	cors          bool                  // a route has CORS
	conditions    bool                  // a route has conditions
	restricted    bool                  // a route restricts clients
	gate          *gate                 // of all requests
	gates         map[string]*gate      // by route; includes the gate of all requests
	limits        config.RequestLimits  // of requests that have no route
	pages         *errorpages.Pages     // of requests that have no route
}

// adopt takes over the servers of the tables before, with their connections and their state.
func (t *tables) adopt(before *tables) {
	for _, up := range t.upstreams {
		for _, other := range before.upstreams {
			if other.Name() == up.Name() {
				up.Adopt(other)
			}
		}
	}
}

// startUpkeep starts to keep the upstreams up to date.
func (t *tables) startUpkeep() {
	for _, k := range t.upkeeps {
		k.start()
	}
}

// stopUpkeep ends that. It waits for the goroutines.
func (t *tables) stopUpkeep() {
	for _, k := range t.upkeeps {
		k.cancel() // all, before waiting for one
	}
	for _, k := range t.upkeeps {
		k.stop()
	}
}

// close closes the idle connections to the upstreams. Connections in use are
// closed when their exchange ends.
func (t *tables) close() {
	for _, up := range t.upstreams {
		up.Close()
	}
}
