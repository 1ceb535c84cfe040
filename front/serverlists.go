package front

// A ServerListState is the state of a list of servers outside of the configuration.
type ServerListState struct {
	Upstream, Place string
	Servers         int
	Err             error // why the servers are from an earlier list; nil if they are not
}

// ServerLists returns the states of all lists of servers, in the order of their upstreams.
func (d *Door) ServerLists() (all []ServerListState) {
	for _, up := range d.upstreams() {
		if l := up.List(); l != nil {
			all = append(all, ServerListState{up.Name(), l.Place, l.Servers, l.Err})
		}
	}
	return all
}
