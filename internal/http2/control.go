package http2

import (
	"time"

	"golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/floodbudget"
)

// parse handles a frame without data and without a header block.
func (c *Conn) parse(frame []byte) *Error {
	f := framers.Get().(*framer)
	defer framers.Put(f)
	f.in = frame
	parsed, err := f.ReadFrame()
	f.in = nil
	c.mu.Lock()
	defer c.unlock()
	if err != nil {
		e, id := frameError(err)
		switch s := c.streams[id]; {
		case s != nil:
			return c.streamFailed(s, e)
		case id != 0 && !c.isIdle(id):
			return c.spendReset() // the stream has ended
		}
		return e
	}
	return c.apply(parsed)
}

// apply handles a frame. mu is held, here and below.
func (c *Conn) apply(f http2.Frame) *Error {
	switch f := f.(type) {
	case *http2.SettingsFrame:
		return c.settings(f)
	case *http2.PingFrame:
		return c.ping(f)
	case *http2.WindowUpdateFrame:
		return c.windowUpdate(f)
	case *http2.RSTStreamFrame:
		return c.reset(f)
	case *http2.PushPromiseFrame:
		return protocolError("a push is not allowed")
	case *http2.GoAwayFrame:
		if c.client != nil {
			c.receiveGoAway(f)
		} // a client closes the connection when its streams have ended
	case *http2.PriorityFrame:
		if f.StreamDep == f.StreamID {
			return c.dependsOnItself(f.StreamID)
		}
	}
	if !c.budgets.others.Spend(floodbudget.Others, time.Now()) {
		return flood(OtherFrames)
	}
	return nil
}

// dependsOnItself handles a PRIORITY frame. Priorities have no other effect.
func (c *Conn) dependsOnItself(id uint32) *Error {
	e := protocolError("a stream depends on itself")
	if s := c.streams[id]; s != nil {
		return c.streamFailed(s, e)
	}
	return c.refuseStream(id, e)
}

func (c *Conn) settings(f *http2.SettingsFrame) *Error {
	switch {
	case !c.budgets.settings.Spend(settingsQuota, time.Now()):
		return flood(SettingsFlood)
	case f.IsAck():
		return nil
	}
	if !c.seen {
		c.seen, c.due = true, time.Time{}
		if c.state == unused {
			c.due = time.Now().Add(firstStreamWait)
		}
	}
	for i := range f.NumSettings() {
		setting := f.Setting(i)
		if err := setting.Valid(); err != nil {
			e, _ := frameError(err)
			return e
		}
		switch {
		case setting.ID == http2.SettingMaxConcurrentStreams && c.client != nil:
			c.client.maxStreams = setting.Val
		case setting.ID == http2.SettingInitialWindowSize:
			if e := c.setInitialWindow(int(setting.Val)); e != nil {
				return e
			}
		}
	}
	return c.respond(func(f *http2.Framer) { f.WriteSettingsAck() })
}

// setInitialWindow changes the windows of all streams by the difference.
func (c *Conn) setInitialWindow(n int) *Error {
	change := n - c.initialWindow
	c.initialWindow = n
	for _, s := range c.streams {
		if s.sendWindow += change; s.sendWindow > maxWindow {
			return &Error{http2.ErrCodeFlowControl, FlowControl, "a window is too large"}
		}
		s.writer.wake()
	}
	return nil
}

func (c *Conn) ping(f *http2.PingFrame) *Error {
	switch {
	case !c.budgets.spendAfterData(&c.budgets.pings, pingQuota):
		return flood(Pings)
	case !f.IsAck():
		data := f.Data
		return c.respond(func(f *http2.Framer) { f.WritePing(true, data) })
	case f.Data == drainPayload && c.state == draining:
		c.stopAccepting()
	}
	return nil
}

func (c *Conn) windowUpdate(f *http2.WindowUpdateFrame) *Error {
	if !c.budgets.spendAfterData(&c.budgets.windowUpdates, windowUpdateQuota) {
		return flood(WindowUpdates)
	}
	n := int(f.Increment)
	if f.StreamID == 0 {
		if c.sendWindow += n; c.sendWindow > maxWindow {
			return &Error{http2.ErrCodeFlowControl, FlowControl, "the window of the connection is too large"}
		}
		c.nextTurn()
		return nil
	}
	s := c.streams[f.StreamID]
	switch {
	case s == nil && c.isIdle(f.StreamID):
		return protocolError("WINDOW_UPDATE on a stream that is not open")
	case s == nil:
		return nil
	case s.sendWindow+n > maxWindow:
		return c.streamFailed(s, &Error{http2.ErrCodeFlowControl, FlowControl, "the window of a stream is too large"})
	}
	s.sendWindow += n
	s.writer.wake()
	return nil
}

func (c *Conn) reset(f *http2.RSTStreamFrame) *Error {
	s := c.streams[f.StreamID]
	switch {
	case s == nil && c.isIdle(f.StreamID):
		return protocolError("RST_STREAM on a stream that is not open")
	case s == nil:
	case c.client != nil && s.recvEnded:
		c.stopRequest(s)
		return nil // possible once for each stream that this side has opened
	case c.client != nil:
		c.resetResponse(s, f.ErrCode)
	default:
		c.abort(s, ErrReset, endedByPeer)
		if s.user != nil {
			s.user.Cancel()
		}
	}
	return c.spendReset()
}
