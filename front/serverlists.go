package front

// A ServerListState is the state of a list of servers outside of the configuration.
type ServerListState struct {
	Upstream, Place string
	Servers         int
	Err             error // why the servers are those of an earlier list; nil if they are not
}

// ServerLists returns the states of all lists of servers, in the order of their upstreams.
func (d *Door) ServerLists() (all []ServerListState) {
	t := d.tables.Load()
	for _, up := range t.upstreams {
		if k := t.upkeeps[up.Name()].list; k != nil {
			servers, err := k.Servers()
			all = append(all, ServerListState{up.Name(), k.place.String(), len(servers), err})
		}
	}
	return all
}
