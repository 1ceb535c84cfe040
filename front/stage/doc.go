// Package stage is the contract between a front door and the features of its routes.
//
// A request of a route passes the stages of the route in order, and then its action responds. An
// [Exchange] is the request and its response, as both see it. A [Stage] may change the request,
// respond to it, or put a [Filter] between the action and the client. The features are the folders of
// front/feature, and package front lists them. A program that uses it adds its own stages to a route,
// by the field Stages of config.Route.
package stage

// A Stage handles a request before the action of its route. Requests apply the same stage
// concurrently, in goroutines and in coroutines of event loops: code that waits for anything but the
// exchange runs in [Exchange.Block].
type Stage interface {
	Explainer

	// Apply may change the request, or add a filter. It reports whether it has responded, which
	// ends the request.
	Apply(x *Exchange) (responded bool)
}

// An Action responds to the requests of a route. The rules of [Stage] about waiting apply.
type Action interface {
	Explainer
	Respond(x *Exchange)
}

// An Explainer describes what it does with a request, for weir check --explain. Each step is a
// sentence without a subject, such as "forwards to the upstream site". ends reports whether the
// request ends there. Explain neither responds nor waits for other machines.
type Explainer interface {
	Explain(x *Exchange) (steps []string, ends bool)
}

// A Filter changes the response of one request. It is the exchange's Client and passes the
// response on to the Client that it replaces.
type Filter interface {
	Client

	// End passes on the rest of the response. It is called once, after the action. complete
	// is false if the response was cut, so that the rest must not make it look complete.
	End(complete bool) error
}

// Pages respond to errors with pages. Goroutines may share them.
type Pages interface {
	// Respond responds with the page of a status, and fields. It reports whether there is one.
	Respond(x *Exchange, status int, fields []Field) (found bool, err error)
}
