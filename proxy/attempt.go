package proxy

import "time"

// An Attempt is the outcome of one attempt to send a request to a server.
type Attempt struct {
	Status  int           // of the final response; 0 without one
	Waited  time.Duration // for the head of the final response, or until the wait for it ended; 0 if it did not begin
	Failure Kind          // of the server; "" if it did not fail
}
