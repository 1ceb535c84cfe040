package http2

import "sync"

// ForgetStreams empties the pool of streams. Their signals have channels, and a channel that was made in a bubble of
// testing/synctest cannot be used outside of it.
func ForgetStreams() { streams = sync.Pool{New: streams.New} }
