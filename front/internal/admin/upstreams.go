package admin

import (
	"net/http"
	"time"

	"github.com/weirhq/weir/front/internal/upstream"
	"github.com/weirhq/weir/internal/proxying"
)

// The events of a drain.
const (
	eventServerDrains = "server drains"
	eventServerBack   = "server no longer drains"
)

// addUpstreams adds the pages that show the upstreams, and drain their servers.
func (p *Pages) addUpstreams(mux *http.ServeMux) {
	mux.HandleFunc("GET /upstreams", func(w http.ResponseWriter, r *http.Request) {
		page := upstreamsPage{Upstreams: []upstreamPage{}}
		for _, up := range p.Upstreams() {
			page.Upstreams = append(page.Upstreams, newUpstreamPage(up, time.Now()))
		}
		writeJSON(w, page)
	})
	g := newTokenGuard(p.Token, p.Logger)
	mux.HandleFunc("POST /upstreams/{upstream}/drain", g.guard(p.setDraining(true)))
	mux.HandleFunc("POST /upstreams/{upstream}/undrain", g.guard(p.setDraining(false)))
}

// setDraining returns the handler that begins or ends the drain of the servers with the URL or
// the address in the parameter server.
func (p *Pages) setDraining(drain bool) http.HandlerFunc {
	event := eventServerBack
	if drain {
		event = eventServerDrains
	}
	return func(w http.ResponseWriter, r *http.Request) {
		up := p.Upstreams().Named(r.PathValue("upstream"))
		if up == nil {
			http.Error(w, "no such upstream; GET /upstreams lists them", http.StatusNotFound)
			return
		}
		wanted, found := r.URL.Query().Get("server"), false
		for _, s := range up.Servers() {
			if s.URL() != wanted && s.Addr() != wanted {
				continue
			}
			found = true
			if s.SetDraining(drain) {
				p.Logger().Info(event).Str("upstream", up.Name()).Str("server", s.URL()).Str("address", s.Addr()).Send()
			}
		}
		if !found {
			http.Error(w, "no such server; GET /upstreams lists them, as in ?server=http://10.0.0.5:8080",
				http.StatusNotFound)
			return
		}
		writeJSON(w, newUpstreamPage(up, time.Now()))
	}
}

// upstreamsPage is the page /upstreams of the admin listener.
type upstreamsPage struct {
	Upstreams []upstreamPage `json:"upstreams"`
}

type upstreamPage struct {
	Name    string       `json:"name"`
	Waiting int          `json:"waiting"`        // no server accepts a connection
	Queued  int          `json:"queued"`         // no server has a free place
	List    *listPage    `json:"list,omitempty"` // nil if the servers are in the configuration
	Servers []serverPage `json:"servers"`
}

// listPage is the state of a list of servers outside of the configuration.
type listPage struct {
	Place   string    `json:"place"`            // without a password
	Changed time.Time `json:"changed,omitzero"` // since the last reload
	Failed  time.Time `json:"failed,omitzero"`  // since the last reload
	Error   string    `json:"error,omitempty"`  // why the servers are from an earlier list
}

type serverPage struct {
	Server      string         `json:"server"`
	Address     string         `json:"address"`
	State       proxying.State `json:"state"`
	Weight      int            `json:"weight"`
	Backup      bool           `json:"backup"`
	InFlight    int            `json:"in_flight"`
	LastFailure *failurePage   `json:"last_failure,omitempty"`
}

type failurePage struct {
	At    time.Time     `json:"at"`
	Kind  proxying.Kind `json:"kind"`
	Error string        `json:"error"`
}

func newUpstreamPage(up *upstream.Upstream, now time.Time) upstreamPage {
	page := upstreamPage{Name: up.Name(), Servers: []serverPage{}}
	if l := up.List(); l != nil {
		page.List = newListPage(l)
	}
	page.Waiting, _ = up.Waiting()
	page.Queued, _ = up.Queued()
	for _, s := range up.Status(now) {
		server := serverPage{
			Server: s.Server.URL(), Address: s.Server.Addr(), State: s.State, Weight: s.Weight, Backup: s.Backup,
			InFlight: s.Server.InFlight(),
		}
		if f := s.LastFailure; f != nil {
			server.LastFailure = &failurePage{At: f.At, Kind: f.Err.Kind, Error: f.Err.Error()}
		}
		page.Servers = append(page.Servers, server)
	}
	return page
}

func newListPage(l *upstream.ListState) *listPage {
	page := &listPage{Place: l.Place, Changed: l.Changed, Failed: l.Failed}
	if l.Err != nil {
		page.Error = l.Err.Error()
	}
	return page
}
